//! Requests of a player. They have no terminator, so each is recognised by its form in the bytes received.

/// Maximum length of a request in bytes; a jump across the board takes 22.
pub const LONGEST: usize = 128;

/// A request of the protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// `connectionNum:PORT`: the player at this port, 0 or 1; `None` if it is neither's.
    ConnectionNumber(Option<usize>),
    /// `whosMove`: 0 or 1.
    WhosMove,
    /// `board`.
    Board,
    /// `remove(x,y)` or `jump(x1,y1,x2,y2,...)`, without spaces; the referee decides whether it is legal.
    Play(String),
    /// `done`: the turn is over.
    Done,
    /// `reset`: a new game.
    Reset,
    /// `properties`, `movements` and the like: a list of names that describes the world.
    Names(&'static [&'static str]),
    /// `disconnect`: the player leaves and reads no answer.
    Disconnect,
    /// `quit` and the like: the player leaves after the answer.
    Leave,
}

/// Result of parsing the start of the bytes received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A request, and its length in bytes.
    Request(Request, usize),
    /// An incomplete request.
    Partly,
    /// Not a request.
    Unknown,
}

/// Requests of a single word. None is a prefix of another.
const WORDS: [(&str, Request); 12] = [
    ("whosMove", Request::WhosMove),
    ("board", Request::Board),
    ("done", Request::Done),
    ("reset", Request::Reset),
    ("properties", Request::Names(&["world", "whosMove", "board"])),
    ("movements", Request::Names(&["remove", "jump"])),
    ("supportedFeatures", Request::Names(&[])),
    ("builtinDevices", Request::Names(&[])),
    ("quit", Request::Leave),
    ("exit", Request::Leave),
    ("end", Request::Leave),
    ("disconnect", Request::Disconnect),
];

const CONNECTION: &str = "connectionNum:";

/// Parses the start of the bytes received by a world at these ports. White space before a request counts as part of it.
#[must_use]
pub fn receive(bytes: &[u8], ports: [u16; 2]) -> Received {
    let text = bytes.trim_ascii_start();
    let skipped = bytes.len() - text.len();
    let Ok(text) = std::str::from_utf8(text) else { return Received::Unknown };
    let complete = |request, length| Received::Request(request, skipped + length);
    for (word, request) in WORDS {
        if text.starts_with(word) {
            return complete(request, word.len());
        }
    }
    if let Some(port) = text.strip_prefix(CONNECTION) {
        return match connection(port, ports) {
            Some((player, digits)) => complete(Request::ConnectionNumber(player), CONNECTION.len() + digits),
            None => Received::Partly,
        };
    }
    for name in ["remove(", "jump("] {
        let Some(numbers) = text.strip_prefix(name) else { continue };
        let length = numbers.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b',' | b' ')).count();
        return match numbers.as_bytes().get(length) {
            Some(b')') => {
                let length = name.len() + length + 1;
                complete(Request::Play(text[..length].replace(' ', "")), length)
            }
            None if text.len() < LONGEST => Received::Partly,
            _ => Received::Unknown,
        };
    }
    let mut starts = WORDS.iter().map(|(word, _)| *word).chain([CONNECTION, "remove(", "jump("]);
    if starts.any(|start| start.starts_with(text)) { Received::Partly } else { Received::Unknown }
}

/// The player at the port that a text begins with, and the number of its digits; `None` if more digits may follow.
fn connection(text: &str, ports: [u16; 2]) -> Option<(Option<usize>, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = &text[..length];
    let ports = ports.map(|port| port.to_string());
    let player = ports.iter().position(|port| port == number);
    let goes_on = player.is_none() && length == text.len() && ports.iter().any(|port| port.starts_with(number));
    if goes_on { None } else { Some((player, length)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: [u16; 2] = [60_000, 60_001];

    #[test]
    fn requests_are_known_by_their_form_however_they_are_cut() {
        let requests = [
            ("connectionNum:60001", Request::ConnectionNumber(Some(1))),
            ("whosMove", Request::WhosMove),
            ("board", Request::Board),
            ("remove(5,4)", Request::Play("remove(5,4)".to_owned())),
            ("jump(2, 4, 4, 4, 6, 4)", Request::Play("jump(2,4,4,4,6,4)".to_owned())),
            ("done", Request::Done),
            ("reset", Request::Reset),
            ("\r\n builtinDevices", Request::Names(&[])),
            ("end", Request::Leave),
            ("disconnect", Request::Disconnect),
        ];
        for (text, request) in requests {
            for cut in 0..text.len() {
                assert_eq!(receive(&text.as_bytes()[..cut], PORTS), Received::Partly, "{text} cut at {cut}");
            }
            for after in ["", "\n", "done"] {
                let received = receive(format!("{text}{after}").as_bytes(), PORTS);
                assert_eq!(received, Received::Request(request.clone(), text.len()));
            }
        }
    }

    #[test]
    fn anything_else_is_unknown() {
        let long = format!("jump({}", "1,".repeat(LONGEST));
        for text in ["GET / HTTP/1.1", "world", "radius", "boar!", "jump(a", "remove(1,2", "\u{e9}", &long] {
            let expected = if text == "remove(1,2" { Received::Partly } else { Received::Unknown };
            assert_eq!(receive(text.as_bytes(), PORTS), expected, "{text}");
        }
        assert_eq!(receive(b"\xff\xfe", PORTS), Received::Unknown);
        let other = Received::Request(Request::ConnectionNumber(None), CONNECTION.len() + 4);
        assert_eq!(receive(b"connectionNum:1234", PORTS), other);
    }
}

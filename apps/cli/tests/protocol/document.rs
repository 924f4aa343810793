//! The transcripts in docs/protocol.md.

use super::talk::Talk;

#[test]
fn the_conversations_in_the_document_are_true() {
    // Read as the test runs: the page is not in the crate's package.
    let document = std::fs::read_to_string("../../docs/protocol.md").expect("the repository has the page");
    let mut blocks = 0;
    for block in document.split("```text\n$ turnstone ").skip(1) {
        let (block, _) = block.split_once("```").expect("a block has an end");
        let (command, lines) = block.split_once('\n').expect("a command is a line");
        let args: Vec<&str> = command.split_whitespace().collect();
        converse(&mut Talk::start(&args), lines);
        blocks += 1;
    }
    assert_eq!(blocks, 4, "conversations in the document");
}

/// Sends the lines after `>` and expects the lines after `<`, in which `*` matches anything. Of consecutive lines of
/// progress only the last one is compared.
fn converse(talk: &mut Talk, lines: &str) {
    const PROGRESS: &str = "info depth";
    let mut ahead: Option<String> = None;
    for line in lines.lines() {
        if let Some(said) = line.strip_prefix("> ") {
            talk.say(said);
            continue;
        }
        let expected = line.strip_prefix("< ").unwrap_or_else(|| panic!("neither said nor heard: {line}"));
        let mut heard = ahead.take().unwrap_or_else(|| talk.hear());
        while heard.starts_with(PROGRESS) {
            let next = talk.hear();
            if expected.starts_with(PROGRESS) && !next.starts_with(PROGRESS) {
                ahead = Some(next);
                break;
            }
            heard = next;
        }
        assert!(matches(expected, &heard), "expected {expected}\nheard    {heard}");
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let (first, rest) = pattern.split_once('*').map_or((pattern, None), |(first, rest)| (first, Some(rest)));
    match (text.strip_prefix(first), rest) {
        (Some(text), None) => text.is_empty(),
        (Some(text), Some(rest)) => (0..=text.len()).any(|at| text.is_char_boundary(at) && matches(rest, &text[at..])),
        (None, _) => false,
    }
}

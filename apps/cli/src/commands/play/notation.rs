//! Moves as people type them: in any case, in short where one legal move is meant, or by number.

use turnstone_env::{Action, AnyState, DynGame};

/// Legal moves that an ambiguous entry is answered with.
const SHOWN: usize = 8;
/// Number of legal moves up to which an illegal one is answered with all of them.
const FEW: usize = 12;

/// The legal action that an entry means.
///
/// In this order: a move's whole text as it is shown, then in the notation of files, both in any case and with or without
/// spaces; either without brackets and `x` (`5,4` for `remove(5,4)`, `a1` for `xa1`); a number of the list of moves (`#2`, or
/// `2` if it can mean nothing else); the beginning of one move's text.
///
/// # Errors
/// Why the entry means no legal action, in one line for the person.
pub(super) fn find(game: &dyn DynGame, state: &AnyState, entry: &str) -> Result<Action, String> {
    let typed = plain(entry);
    if typed.is_empty() {
        return Err("type a move, `moves` for the list of them, or `help`".into());
    }
    let (legal, moves) = (game.legal_actions(state), game.legal_display(state));
    let texts: Vec<[String; 4]> =
        moves.iter().zip(game.legal_texts(state)).map(|(shown, written)| forms(shown, &written)).collect();
    if let Some(exact) = (0..4).find_map(|form| texts.iter().position(|forms| forms[form] == typed)) {
        return Ok(legal[exact]);
    }
    let begun: Vec<usize> = (0..legal.len()).filter(|&i| begins(&texts[i], &typed)).collect();
    if let Some(number) = number(&typed) {
        let listed = number.checked_sub(1).filter(|&index| index < legal.len());
        return match (listed, &begun[..]) {
            (Some(index), _) if typed.starts_with('#') => Ok(legal[index]),
            (Some(index), []) => Ok(legal[index]),
            (Some(index), &[only]) if index == only => Ok(legal[index]),
            (None, &[only]) if !typed.starts_with('#') => Ok(legal[only]),
            (Some(index), _) => {
                let (listed, begun) = (&moves[index], list(&moves, &begun));
                Err(format!(
                    "`{typed}` may be move {number} of the list, {listed}, or {begun}: type #{number} or the move"
                ))
            }
            (None, several) if !several.is_empty() && !typed.starts_with('#') => {
                Err(ambiguous(&moves, &typed, several))
            }
            (None, _) => Err(format!("there is no move {number}: `moves` lists the {}", legal.len())),
        };
    }
    match begun[..] {
        [only] => Ok(legal[only]),
        [] => Err(refusal(game, state, entry.trim(), &moves)),
        _ => Err(ambiguous(&moves, &typed, &begun)),
    }
}

/// Lower case without white space.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// A move's two texts, and what remains of each without what two conventions of notations put before the points: the word
/// before brackets (`5,4` of `remove(5,4)`) and the `x` of a capture (`a1` of `xa1`).
fn forms(shown: &str, written: &str) -> [String; 4] {
    let whole = [shown, written].map(plain);
    let bare = whole.each_ref().map(|whole| match whole.split_once('(') {
        Some((_, points)) => points.trim_end_matches(')').to_owned(),
        None => whole.strip_prefix('x').unwrap_or(whole).to_owned(),
    });
    let ([shown, written], [bare_shown, bare_written]) = (whole, bare);
    [shown, written, bare_shown, bare_written]
}

fn begins([shown, written, bare_shown, bare_written]: &[String; 4], typed: &str) -> bool {
    // A number alone is no beginning of a list of coordinates.
    let coordinates = written.contains('(');
    let whole = [shown, written, bare_shown].iter().any(|text| text.starts_with(typed));
    whole || (bare_written.starts_with(typed) && (!coordinates || typed.contains(',')))
}

/// The number in `#2` or `2`.
fn number(typed: &str) -> Option<usize> {
    typed.strip_prefix('#').unwrap_or(typed).parse().ok()
}

fn list(moves: &[String], indices: &[usize]) -> String {
    let shown: Vec<String> = indices.iter().take(SHOWN).map(|&i| moves[i].clone()).collect();
    let more = indices.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    shown.join(", ") + &more
}

fn ambiguous(moves: &[String], typed: &str, begun: &[usize]) -> String {
    format!("`{typed}` may be {}", list(moves, begun))
}

/// Tells a move that the rules forbid here from text that is no move at all.
fn refusal(game: &dyn DynGame, state: &AnyState, entry: &str, moves: &[String]) -> String {
    let cases = [entry.to_owned(), entry.to_uppercase(), entry.to_lowercase()];
    let Some(action) = cases.iter().find_map(|text| game.parse_action(state, text).ok()) else {
        let fault = game.parse_action(state, entry).err().map(|error| error.to_string()).unwrap_or_default();
        return format!("{fault}; `moves` lists the legal moves, `help` the commands");
    };
    let action = game.display_text(state, action);
    if moves.len() > FEW {
        return format!("illegal action `{action}`; `moves` lists the {} legal ones", moves.len());
    }
    format!("illegal action `{action}`; legal: {}", moves.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::{Params, games};

    fn entered(name: &str, moves: &str, entry: &str) -> Result<String, String> {
        let game = games::built_in().make(name, &Params::new()).expect("a game");
        let mut state = game.start();
        game.play_text(&mut state, moves).expect("legal moves");
        find(&*game, &state, entry).map(|action| game.action_text(&state, action))
    }

    #[test]
    fn moves_in_short() {
        for (game, moves, entry, action) in [
            ("mancala", "", "b3", "B3"),
            ("mancala", "", " B3 ", "B3"),
            ("mancala", "", "2", "B3"),
            ("mancala", "", "#6", "B7"),
            ("mu_torere", "", "0,4", "0,4"),
            ("mu_torere", "", "6", "6,4"),
            ("mu_torere", "", "1", "0,4"), // square 1 is the opponent's
            ("mu_torere", "", "2", "2,4"), // both the square and the second move
            ("mu_torere", "", "0-4", "0,4"),
            ("mu_torere", "", "6-", "6,4"),
            ("konane", "", "xd5", "remove(5,4)"),
            ("konane", "", "X D5", "remove(5,4)"),
            ("konane", "", "d5", "remove(5,4)"),
            ("konane", "xd5 xe5", "d3-d5", "jump(3,4,5,4)"),
            ("konane", "xd5 xe5", "d3", "jump(3,4,5,4)"),
            ("konane", "", "5,4", "remove(5,4)"),
            ("konane", "", "5, 4", "remove(5,4)"),
            ("konane", "", "REMOVE(5,4)", "remove(5,4)"),
            ("konane", "remove(5,4) remove(5,5)", "3,4", "jump(3,4,5,4)"),
            ("konane", "remove(5,4) remove(5,5)", "JUMP (3", "jump(3,4,5,4)"),
            ("konane", "remove(5,4) remove(5,5)", "3", "jump(7,4,5,4)"),
            ("morris", "", "A0", "a0"),
            ("morris", "a0 g0 b1 f1 c2", "F1", "xf1"),
            ("morris", "a0 g0 b1 f1 c2", "xf1", "xf1"),
            ("morabaraba", "a1 d2 a4 d6 a7", "d2", "xd2"),
        ] {
            assert_eq!(entered(game, moves, entry).as_deref(), Ok(action), "`{entry}` in {game} after `{moves}`");
        }
    }

    #[test]
    fn what_is_not_one_move_is_refused_with_a_reason() {
        for (game, moves, entry, reason) in [
            ("mancala", "", "b", "`b` may be B2, B3, B4, B5, B6, B7"),
            ("mancala", "", "a3", "illegal action `A3`; legal: B2 B3 B4 B5 B6 B7"),
            ("morris", "", "a0-g0", "illegal action `a0-g0`; `moves` lists the 18 legal ones"),
            ("mancala", "", "B9", "expected a pit B2 to B7 or A2 to A7"),
            ("mancala", "", "#7", "there is no move 7: `moves` lists the 6"),
            ("mancala", "", "0", "there is no move 0: `moves` lists the 6"),
            ("mancala", "", "", "type a move"),
            ("konane", "xd5 xe5", "d", "`d` may be d3-d5, d7-d5"),
            ("konane", "", "xd4", "illegal action `xd4`; legal: xa8 xd5 xe4 xh1"),
            ("konane", "", "remove(4,4)", "illegal action `xd4`; legal: xa8 xd5 xe4 xh1"),
            ("mu_torere", "", "0-1", "illegal action `0-1`; legal: 0-4 2-4 6-4 8-4"),
            ("morris", "", "hello", "expected a placement `a0`"),
        ] {
            let fault = entered(game, moves, entry).expect_err(entry);
            assert!(fault.contains(reason), "`{entry}` in {game}: {fault}");
        }
    }

    /// A number that is both a place in the list and the beginning of another move is not guessed at.
    #[test]
    fn numbers_with_two_meanings_are_refused() {
        let game = games::built_in().make("mu_torere", &Params::new()).expect("a game");
        let state = game.parse_position("112202112 1 0").expect("a position");
        let entered = |entry: &str| find(&*game, &state, entry).map(|action| game.action_text(&state, action));
        assert_eq!(entered("moves").map_err(|fault| fault.contains("`moves` lists")), Err(true));
        assert_eq!(entered("1"), Err("`1` may be move 1 of the list, 0-4, or 1-4: type #1 or the move".into()));
        assert_eq!(entered("#1").as_deref(), Ok("0,4"));
        assert_eq!(entered("1,4").as_deref(), Ok("1,4"));
        assert_eq!(entered("6").as_deref(), Ok("6,4"), "there are only four moves");
    }
}

//! Positions of Morabaraba as text: written, read and checked, drawn.

use super::ban::Ban;
use super::board::{BOARD, LETTERS, Mills};
use super::state::{Morabaraba, State};
use crate::mill_board::points;
use crate::mill_material::Material;
use crate::rules::Rules;
use crate::side::Side;

/// The position's text, as [`parse_position`] reads it.
pub(super) fn position_text(state: &State) -> String {
    let board = Mills::board_text(state.cows, LETTERS);
    let (mover, [dark, white]) = (LETTERS[state.mover.index()], state.hands);
    let shooting = if state.shooting { 'x' } else { '-' };
    let [banned_dark, banned_white] = state.bans.map(Ban::text);
    let State { quiet, fly, .. } = state;
    format!("{board} {mover} {dark} {white} {shooting} {quiet} {fly} {banned_dark} {banned_white}")
}

/// The state that a text describes, or what is wrong with it.
pub(super) fn parse_position(game: &Morabaraba, text: &str) -> Result<State, String> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [board, mover, dark, white, shooting, quiet, fly, banned_dark, banned_white] = fields[..] else {
        let example = position_text(&game.start());
        let form = "board, mover, hands of B and W, `x` or `-`, two counts, and the mills banned for B and W";
        return Err(format!("expected {form}, e.g. `{example}`"));
    };
    let cows = Mills::parse_board(board, LETTERS)?;
    let mover = match mover {
        "B" => Side::First,
        "W" => Side::Second,
        _ => return Err("the mover must be B or W".into()),
    };
    let hand = |field: &str| match field.parse() {
        Ok(hand) if hand <= game.cows => Ok(hand),
        _ => Err(format!("the cows in hand must be a number up to {}", game.cows)),
    };
    let hands = [hand(dark)?, hand(white)?];
    let shooting = match shooting {
        "x" => true,
        "-" => false,
        _ => return Err("the pending shot must be `x` or `-`".into()),
    };
    let count = |field: &str, limit: u8| match field.parse::<u8>() {
        Ok(_) if limit == 0 => Ok(0),
        Ok(count) if count <= limit => Ok(count),
        _ => Err(format!("a count of plies must be a number up to its limit, {limit}")),
    };
    let (quiet, fly) = (count(quiet, game.quiet_limit)?, count(fly, game.fly_limit)?);
    let material = Material { all: game.cows, board: cows, hands, mover, removing: shooting, letters: LETTERS };
    material.check()?;
    if material.placing() && (banned_dark, banned_white) != ("-", "-") {
        return Err("no mill is banned before all cows are placed".into());
    }
    let bans = [Ban::parse(banned_dark, cows[0], cows[1])?, Ban::parse(banned_white, cows[1], cows[0])?];
    let state = State { cows, hands, bans, quiet, fly, mover, shooting };
    check_counts(game, &state, &material)?;
    Ok(state)
}

/// Refuses counts and shots that certainly no game leads to.
fn check_counts(game: &Morabaraba, state: &State, material: &Material) -> Result<(), String> {
    let State { quiet, fly, mover, shooting, .. } = *state;
    if shooting && BOARD.in_mills(state.cows(mover)) == 0 {
        return Err("a shot is pending, but the mover has no mill".into());
    }
    if shooting && state.cows(mover.other()) == 0 {
        return Err("a shot is pending, but there is no cow to shoot".into());
    }
    if fly > 0 && !Side::BOTH.iter().any(|&side| state.flies(side)) {
        return Err("plies of flight are counted, but neither side flies".into());
    }
    if game.quiet_limit == 0 {
        return Ok(());
    }
    if fly > quiet {
        return Err("there are more plies of flight without a shot than plies without a shot".into());
    }
    if quiet == 0 {
        return Ok(()); // as if the position had just come up, without the plies that led to it
    }
    let placed = Side::BOTH.map(|side| material.placed(side)).iter().sum::<u32>();
    let shot = Side::BOTH.map(|side| material.lost(side)).iter().sum::<u32>();
    let quiet = u32::from(quiet);
    let fits = match (shot, material.placing()) {
        (0, true) => quiet == placed,
        (0, false) => quiet >= placed,
        (_, true) => quiet + 5 <= placed, // the first mill takes five placements
        (_, false) => true,
    };
    if !fits {
        return Err(format!("{quiet} plies without a shot do not fit {placed} cows placed and {shot} shot"));
    }
    Ok(())
}

/// What the board does not show: cows in hand and lost, banned mills, and the counts of plies.
pub(super) fn notes(game: &Morabaraba, state: &State) -> Vec<(Option<Side>, String)> {
    let of_side = |side: Side| {
        // As on the other boards with mills: what the side itself has lost.
        let (name, lost) = (game.spec().sides[side.index()], game.score(state, side.other()));
        // No mill is banned while a cow is in hand.
        let note = match ban(state, side) {
            Some(mills) => format!("{name}: {lost} lost, {mills}"),
            None => {
                let flies = if state.flies(side) { ", flies" } else { "" };
                format!("{name}: {} in hand, {lost} lost{flies}", state.in_hand(side))
            }
        };
        (Some(side), note)
    };
    let count = |plies: u8, limit: u8, what: &str| (plies > 0).then(|| (None, format!("{what}: {plies} of {limit}")));
    let quiet = count(state.quiet, game.quiet_limit, "plies without a shot");
    let fly = count(state.fly, game.fly_limit, "plies without a shot while a player flies");
    Side::BOTH.map(of_side).into_iter().chain(quiet).chain(fly).collect()
}

/// Whose turn it is for what, or how the game ended.
pub(super) fn status_of(game: &Morabaraba, state: &State) -> String {
    let spec = game.spec();
    match state.shooting {
        true => format!("{} shoots a cow", spec.sides[state.mover.index()]),
        false => spec.status(game.outcome(state), state.mover),
    }
}

/// Why the game is over, if it is.
pub(super) fn reason(game: &Morabaraba, state: &State) -> String {
    let name = game.spec().side_name(state.mover);
    if game.outcome(state).is_none() {
        String::new()
    } else if state.total(state.mover) <= 2 {
        format!("{name} has two cows left")
    } else if game.quiet_limit > 0 && state.quiet >= game.quiet_limit {
        format!("{} moves without a shot", game.quiet_limit)
    } else if game.fly_limit > 0 && state.fly >= game.fly_limit {
        format!("{} moves of flight without a shot", game.fly_limit)
    } else {
        format!("{name} cannot move")
    }
}

/// Which mills a side may not form by its next move, if there are any.
fn ban(state: &State, side: Side) -> Option<String> {
    let name = |mill: u32| points(mill).map(|point| BOARD.names[usize::from(point)]).collect::<Vec<_>>().join("-");
    let mills: Vec<String> = state.banned_mills(side).map(name).collect();
    (!mills.is_empty()).then(|| format!("may not form {}", mills.join(", ")))
}

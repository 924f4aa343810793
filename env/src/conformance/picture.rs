//! Whether the second player's positions are drawn the same way up as the first player's.
//!
//! A ply changes few shapes of a drawing, so two positions of one game differ less after one ply than after two. Where
//! the board is turned with the mover, nearly all shapes differ after one ply, and few after two.

use std::collections::HashSet;

use super::random_game::random_game;
use crate::notation::Notation;
use crate::side::Side;

/// Number and length of the games whose positions are drawn.
const GAMES: usize = 8;
const PLIES: usize = 60;

/// A position as it is shown.
struct Shown {
    mover: Side,
    contents: HashSet<String>,
    shapes: HashSet<String>,
}

/// Differences after one ply and after two, summed over many positions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Differences {
    after_one: usize,
    after_two: usize,
}

pub(super) fn check<G: Notation>(game: &G, games: usize, seed: u64) {
    let games: Vec<Vec<Shown>> =
        (0..games.min(GAMES) as u64).map(|number| shown(game, seed.wrapping_add(number))).collect();
    for (what, of) in [("what the board says of its points", contents as fn(&Shown) -> &_), ("the picture", shapes)] {
        let Differences { after_one, after_two } = differences(&games, of);
        assert!(
            after_one <= after_two,
            "{what} is turned with the player to move: {after_one} differences after one ply, {after_two} after two. \
             A game that turns the board in observe() has to implement board()"
        );
    }
}

fn contents(shown: &Shown) -> &HashSet<String> {
    &shown.contents
}

fn shapes(shown: &Shown) -> &HashSet<String> {
    &shown.shapes
}

fn shown<G: Notation>(game: &G, seed: u64) -> Vec<Shown> {
    let positions = random_game(game, seed, PLIES);
    let mut before = None;
    let mut all = Vec::new();
    for (state, last) in positions {
        let board = game.board(&state, None);
        let words = board.words(game.spec().sides).into_iter().enumerate();
        // With marks it has to be drawn too, though the comparison is of pictures without.
        let marked = game.board(&state, before.as_ref().zip(last));
        assert!(!marked.svg("").is_empty(), "the board is drawn");
        all.push(Shown {
            mover: game.mover(&state),
            contents: words.map(|(point, words)| format!("{point} {words}")).collect(),
            shapes: shapes_of(&board.svg("")),
        });
        before = Some(state);
    }
    all
}

/// The shapes of a document, without its texts.
fn shapes_of(svg: &str) -> HashSet<String> {
    let names = ["circle", "ellipse", "rect", "path", "line", "polyline", "polygon", "use", "image"];
    let is_shape =
        |tag: &&str| names.iter().any(|name| tag.split(|c: char| !c.is_ascii_alphabetic()).next() == Some(name));
    svg.split('<').filter(is_shape).map(str::to_owned).collect()
}

fn differences(games: &[Vec<Shown>], of: fn(&Shown) -> &HashSet<String>) -> Differences {
    // What is shown whenever a player is to move, such as a sign that says so, tells nothing.
    let signs: HashSet<&String> = Side::BOTH
        .into_iter()
        .flat_map(|side| {
            let mut positions = games.iter().flatten().filter(move |shown| shown.mover == side).map(of);
            let first = positions.next().cloned().unwrap_or_default();
            let always = positions.fold(first, |always, next| &always & next);
            of_all(games, of).filter(move |shape| always.contains(*shape))
        })
        .collect();
    let different =
        |a: &Shown, b: &Shown| of(a).symmetric_difference(of(b)).filter(|shape| !signs.contains(shape)).count();
    let mut sums = Differences::default();
    for positions in games.iter().flat_map(|game| game.windows(3)) {
        let [a, b, c] = positions else { unreachable!("windows of three") };
        if a.mover != b.mover && a.mover == c.mover {
            sums.after_one += different(a, b);
            sums.after_two += different(a, c);
        }
    }
    sums
}

fn of_all(games: &[Vec<Shown>], of: fn(&Shown) -> &HashSet<String>) -> impl Iterator<Item = &String> {
    games.iter().flatten().flat_map(of)
}

//! Whether both players' actions are shown at the points that they change.
//!
//! Where actions are numbered from the mover's side of the board, what is clicked, marked and named has to be turned for the
//! second player. It is enough to compare the players: if all points of the one lie where its actions change pieces, and few
//! of the other's do, the board is turned for the other.

use super::random_game::random_game;
use crate::action::Action;
use crate::notation::Notation;

/// Number and length of the games.
const GAMES: usize = 20;
const PLIES: usize = 60;
/// Fewest points of each player that a comparison needs.
const FEWEST: usize = 20;

/// The points that are shown for the actions of each side.
#[derive(Clone, Copy, Default)]
struct Hits {
    /// Number of points.
    all: [usize; 2],
    /// Number of those whose piece the action changed.
    changed: [usize; 2],
}

impl Hits {
    fn add(&mut self, side: usize, points: &[usize], changed: &[bool]) {
        self.all[side] += points.len();
        self.changed[side] += points.iter().filter(|&&point| changed.get(point) == Some(&true)).count();
    }

    /// Whether there are many points of both players, all of them changed.
    fn all_changed(&self) -> bool {
        self.all == self.changed && self.all.iter().all(|&all| all >= FEWEST)
    }

    /// Whether there are many points of both players, and a quarter or more of either's are not changed.
    fn are_elsewhere(&self) -> bool {
        self.all.iter().zip(self.changed).all(|(&all, changed)| all >= FEWEST && 4 * changed <= 3 * all)
    }

    /// The side whose points are elsewhere, if the other's never are.
    fn turned(&self) -> Option<usize> {
        let Self { all, changed } = self;
        (0..2).find(|&side| {
            let other = 1 - side;
            all[side].min(all[other]) >= FEWEST && changed[other] == all[other] && 2 * changed[side] < all[side]
        })
    }
}

pub(super) fn check<G: Notation>(game: &G, games: usize, seed: u64) {
    let mut hits = [Hits::default(); 2];
    for number in 0..games.min(GAMES) as u64 {
        play(game, seed.wrapping_add(number), &mut hits);
    }
    let [shown, named] = &hits;
    assert!(
        !(shown.all_changed() && named.are_elsewhere()),
        "the names of points in display_text() are not those of the drawing: {} of {} named points are among those that \
         the action changes. Rows may be counted from the other side",
        named.changed.iter().sum::<usize>(),
        named.all.iter().sum::<usize>()
    );
    for (hits, method) in hits.iter().zip(["points_of", "display_text"]) {
        if let Some(side) = hits.turned() {
            let (number, all, changed) = (side + 1, hits.all[side], hits.changed[side]);
            panic!(
                "{method}() is turned for player {number}: {changed} of its {all} points are among those that the action \
                 changes, and all of the other player's. Where actions are numbered from the mover's side of the board, \
                 it has to turn them"
            );
        }
    }
}

fn play<G: Notation>(game: &G, seed: u64, hits: &mut [Hits; 2]) {
    let labels: Vec<String> = game.board(&game.start(), None).points().into_iter().map(|point| point.label).collect();
    for ply in random_game(game, seed, PLIES + 1).windows(2) {
        let [(before, _), (after, Some(action))] = ply else { unreachable!("an action leads to every later position") };
        let [old, new] = [before, after].map(|state| game.board(state, None).contents);
        let changed: Vec<bool> = old.iter().zip(&new).map(|(old, new)| old != new).collect();
        let named = named(game, before, *action, &labels);
        for (hits, points) in hits.iter_mut().zip([game.points_of(before, *action), named]) {
            hits.add(game.mover(before).index(), &points, &changed);
        }
    }
}

/// The points whose labels are words of the action's text for people.
fn named<G: Notation>(game: &G, state: &G::State, action: Action, labels: &[String]) -> Vec<usize> {
    let text = game.display_text(state, action);
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter_map(|word| labels.iter().position(|label| label == word)).collect()
}

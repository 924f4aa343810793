//! Whether both players' actions are shown at the points that they change.
//!
//! Where actions are numbered from the mover's side of the board, what is clicked, marked and named has to be turned for the
//! second player. It is enough to compare the players: if all points of the one lie where its actions change pieces, and few
//! of the other's do, the board is turned for the other.

use super::random_game::random_game;
use crate::action::Action;
use crate::game::Game;

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

    /// The side whose points are elsewhere, if the other's never are.
    fn turned(&self) -> Option<usize> {
        let Self { all, changed } = self;
        (0..2).find(|&side| {
            let other = 1 - side;
            all[side].min(all[other]) >= FEWEST && changed[other] == all[other] && 2 * changed[side] < all[side]
        })
    }
}

pub(super) fn check<G: Game>(game: &G, games: usize, seed: u64) {
    let mut hits = [Hits::default(); 3];
    for number in 0..games.min(GAMES) as u64 {
        play(game, seed.wrapping_add(number), &mut hits);
    }
    for (hits, method) in hits.iter().zip(["clicks", "marked", "action_text_in"]) {
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

fn play<G: Game>(game: &G, seed: u64, hits: &mut [Hits; 3]) {
    let labels: Vec<String> = game.board_points().into_iter().map(|point| point.label).collect();
    for ply in random_game(game, seed, PLIES + 1).windows(2) {
        let [(before, _), (after, Some(action))] = ply else { unreachable!("an action leads to every later position") };
        let (Some(old), Some(new)) = (game.pieces(before), game.pieces(after)) else { return };
        let changed: Vec<bool> = old.iter().zip(&new).map(|(old, new)| old != new).collect();
        let named = named(game, before, *action, &labels);
        for (hits, points) in hits.iter_mut().zip([game.clicks(before, *action), game.marked(after, *action), named]) {
            hits.add(game.mover(before).index(), &points, &changed);
        }
    }
}

/// The points whose labels are words of the action's text.
fn named<G: Game>(game: &G, state: &G::State, action: Action, labels: &[String]) -> Vec<usize> {
    let text = game.action_text_in(state, action);
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter_map(|word| labels.iter().position(|label| label == word)).collect()
}

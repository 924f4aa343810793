//! A game of self-play as a few bytes, from which the rules restore the recorded positions: for sending it elsewhere.
//!
//! A transcript contains what the search decided and nothing that follows from it: the number of actions (u16), the
//! actions (u16 each), a bit per action that says whether its position was recorded, and for every recorded position
//! the root's value and draw probability and the policy of the legal actions in increasing order (f32 each). Numbers
//! are little-endian. The start of the game follows from its number; features, results and margins from the rules.

use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, ActionList, Game, Spec};
use turnstone_search::Evaluation;

use super::task::GameRules;
use super::worker::FinishedGame;
use crate::replay::Shard;

impl FinishedGame {
    /// Encodes the game.
    #[must_use]
    pub fn transcript(&self) -> Vec<u8> {
        let positions = &self.positions;
        let first = usize::from(self.plies) - self.moves.len();
        let ply = |i: usize| usize::from(self.plies - positions.position(i).plies_left);
        let mut recorded = vec![0u8; self.moves.len().div_ceil(8)];
        for i in 0..positions.len() {
            let at = ply(i) - first;
            recorded[at / 8] |= 1 << (at % 8);
        }
        let mut bytes = (self.moves.len() as u16).to_le_bytes().to_vec();
        bytes.extend(self.moves.iter().flat_map(|action| action.0.to_le_bytes()));
        bytes.extend(recorded);
        for i in 0..positions.len() {
            let position = positions.position(i);
            let root = [position.root.value, position.root.draw];
            bytes.extend(root.iter().chain(position.policy).flat_map(|number| number.to_le_bytes()));
        }
        bytes
    }
}

/// Restores a game from its number and its transcript, which may come from anywhere. It plays the transcript by the rules:
/// every action must be legal, the last one must end the game, policies must add up to 1 and values must be possible. The
/// error is the first fault, in words.
pub type Restore = Box<dyn Fn(usize, &[u8]) -> Result<FinishedGame, String> + Send + Sync>;

/// Restores a game of the rules' task, as [`Restore`] says.
// long because it reads the format from front to back, with a fault at each step
pub(super) fn restore<G: Game>(
    rules: &GameRules<G>,
    spec: &Spec,
    number: usize,
    transcript: &[u8],
) -> Result<FinishedGame, String> {
    let game = &rules.game;
    let mut rest = transcript;
    let count = usize::from(u16::from_le_bytes(take(&mut rest)?));
    let (moves, after) = rest.split_at_checked(2 * count).ok_or(CUT_SHORT)?;
    let (recorded, after) = after.split_at_checked(count.div_ceil(8)).ok_or(CUT_SHORT)?;
    rest = after;
    let all = rules.settings.self_play.full_search_share >= 1.0;
    let mut rng = stream(rules.settings.seed, Purpose::SelfPlay, [rules.settings.iteration, number as u64]);
    let (mut state, first) = rules.start(&mut rng);
    let (mut legal, mut features, mut plies) = (ActionList::new(), vec![0.0; spec.features()], Vec::new());
    let mut played = Vec::with_capacity(count);
    let mut positions = Shard::new(rules.settings.iteration, spec.features());
    for (at, action) in moves.chunks_exact(2).enumerate() {
        let action = Action(u16::from_le_bytes([action[0], action[1]]));
        let ply = u16::try_from(usize::from(first) + at).map_err(|_| "it has too many plies")?;
        game.legal(&state, &mut legal);
        if legal.is_empty() {
            return Err(format!("it goes on after its end at ply {ply}"));
        }
        if !legal.contains(action) {
            return Err(format!("action {} at ply {ply} is not legal in {}", action.0, game.position_text(&state)));
        }
        if recorded[at / 8] >> (at % 8) & 1 == 1 {
            let root = Evaluation { value: number_of(&mut rest)?, draw: number_of(&mut rest)? };
            let policy = legal.iter().map(|_| number_of(&mut rest)).collect::<Result<Vec<f32>, _>>()?;
            let mover = game.mover(&state);
            game.observe(&state, &mut features);
            let indices = legal.iter().map(|&action| spec.policy_index(mover, action) as u16);
            positions.push(&features, indices.zip(policy), mover, root);
            plies.push(ply);
        } else if all {
            return Err(format!("the position at ply {ply} is not recorded"));
        }
        game.play(&mut state, action);
        played.push(action);
    }
    let outcome = game.outcome(&state).ok_or("it stops before its end")?;
    let plies_played = u16::try_from(usize::from(first) + count).map_err(|_| "it has too many plies")?;
    if !rest.is_empty() || recorded_beyond(recorded, count) {
        return Err("it has bytes beyond its end".into());
    }
    positions.finish_game(0, &plies, plies_played, &outcome);
    positions.validate(spec.actions)?;
    Ok(FinishedGame { number, positions, outcome, plies: plies_played, moves: played })
}

const CUT_SHORT: &str = "it is cut short";

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], String> {
    let (bytes, after) = rest.split_first_chunk().ok_or(CUT_SHORT)?;
    *rest = after;
    Ok(*bytes)
}

fn number_of(rest: &mut &[u8]) -> Result<f32, String> {
    Ok(f32::from_le_bytes(take(rest)?))
}

/// Whether a bit beyond the first `count` is set.
fn recorded_beyond(recorded: &[u8], count: usize) -> bool {
    !count.is_multiple_of(8) && recorded.last().is_some_and(|last| last >> (count % 8) != 0)
}

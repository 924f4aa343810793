//! A game of self-play as a few bytes, from which the rules restore the recorded positions: for sending it elsewhere.
//!
//! A transcript contains what the search decided and nothing that follows from it: the number of actions (u16), the
//! actions (u16 each), and for every position the root's value and draw probability and the policy of the legal actions in
//! increasing order (f32 each). Numbers are little-endian. The start of the game follows from its number; features, results
//! and margins from the rules.

use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, ActionList, Notation, Spec};
use turnstone_search::Evaluation;

use super::session::FinishedGame;
use super::task::{GameContext, MOST_PLIES};
use crate::replay::Shard;

impl FinishedGame {
    /// Encodes the game.
    #[must_use]
    pub fn transcript(&self) -> Vec<u8> {
        let positions = &self.positions;
        let mut bytes = (self.moves.len() as u16).to_le_bytes().to_vec();
        bytes.extend(self.moves.iter().flat_map(|action| action.0.to_le_bytes()));
        for i in 0..positions.len() {
            let position = positions.position(i);
            let root = [position.root.value, position.root.draw];
            bytes.extend(root.iter().chain(position.policy).flat_map(|number| number.to_le_bytes()));
        }
        bytes
    }
}

/// Restores a game from its number and its transcript, which another machine has sent. It plays the transcript by the rules:
/// every action must be legal, the last one must end the game, policies must add up to 1 and values must be possible. The
/// error is the first fault, in words.
pub type TranscriptDecoder = Box<dyn Fn(usize, &[u8]) -> Result<FinishedGame, String> + Send + Sync>;

/// Restores a game of the rules' task, as [`TranscriptDecoder`] says.
pub(super) fn restore<G: Notation>(
    rules: &GameContext<G>,
    spec: &Spec,
    number: usize,
    transcript: &[u8],
) -> Result<FinishedGame, String> {
    let game = &rules.game;
    let (moves, mut numbers) = split(transcript)?;
    let mut rng = stream(rules.settings.seed, Purpose::SelfPlay, [rules.settings.iteration, number as u64]);
    let (mut state, first) = rules.start(&mut rng);
    let plies = u16::try_from(usize::from(first) + moves.len()).map_err(|_| "it has too many plies")?;
    let (mut legal, mut features) = (ActionList::new(), vec![0.0; spec.features()]);
    let mut positions = Shard::new(rules.settings.iteration, spec.features());
    for (ply, &action) in (first..).zip(&moves) {
        game.legal(&state, &mut legal);
        if legal.is_empty() || ply >= MOST_PLIES {
            return Err(format!("it continues after its end at ply {ply}"));
        }
        if !legal.contains(action) {
            return Err(format!("action {} at ply {ply} is not legal in {}", action.0, game.position_text(&state)));
        }
        let root = Evaluation { value: number_of(&mut numbers)?, draw: number_of(&mut numbers)? };
        let policy = legal.iter().map(|_| number_of(&mut numbers)).collect::<Result<Vec<f32>, _>>()?;
        let mover = game.mover(&state);
        game.observe(&state, &mut features);
        let indices = legal.iter().map(|&action| spec.policy_index(mover, action) as u16);
        positions.push(&features, indices.zip(policy), mover, root);
        game.play(&mut state, action);
    }
    let outcome = rules.outcome(&state, plies).ok_or("it stops before its end")?;
    if !numbers.is_empty() {
        return Err("it has bytes beyond its end".into());
    }
    positions.finish_game(&outcome);
    positions.validate(spec.actions)?;
    Ok(FinishedGame { number, positions, outcome, plies, moves })
}

/// Splits a transcript into its actions and its numbers.
fn split(transcript: &[u8]) -> Result<(Vec<Action>, &[u8]), String> {
    let mut rest = transcript;
    let count = usize::from(u16::from_le_bytes(take(&mut rest)?));
    let (moves, numbers) = rest.split_at_checked(2 * count).ok_or(CUT_SHORT)?;
    let (moves, _) = moves.as_chunks();
    Ok((moves.iter().map(|&action| Action(u16::from_le_bytes(action))).collect(), numbers))
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

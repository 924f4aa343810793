//! Grades by other machines, and their answers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use turnstone_agents::{Agent, PlayableGame};
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::AnyState;

use super::report::Grade;
use super::truth_set::TruthSet;
use super::{Answer, answer, summarise};
use crate::remote::{Remote, RemoteAnswer, RemotePositions, is_portable};
use crate::side_by_side::games_at_once;

/// [`grade`](super::grade) by other machines, with the same result.
///
/// # Errors
/// Those of [`grade`](super::grade), or the agent cannot play on other machines.
// long because its closures share the positions and their answers
pub fn grade_remotely(
    game: &dyn PlayableGame,
    agent: &Agent,
    set: &TruthSet,
    seed: u64,
    remote: &dyn Remote,
    progress: &(dyn Fn() + Sync),
    stop: &AtomicBool,
) -> anyhow::Result<Option<Grade>> {
    anyhow::ensure!(is_portable(agent), "`{}` plays on this machine only", agent.spec);
    let answers = Mutex::new(BTreeMap::new());
    let judge = |number: usize, answered: &RemoteAnswer| -> anyhow::Result<Answer> {
        let position = &set.positions[number];
        let state = game.parse_position(&position.text)?;
        let action = game.parse_action_in(&state, &answered.action)?;
        game.try_play(&mut state.clone(), action)?;
        answer(game, position, &state, action, answered.prediction)
    };
    let check = |number: usize, answered: &RemoteAnswer| {
        answered.check_prediction()?;
        judge(number, answered).map(drop).map_err(|fault| fault.to_string())
    };
    let answer_here = |number: usize| {
        let texts = [(number, set.positions[number].text.as_str())];
        let answers = answers_to(game, agent, &texts, seed, &AtomicBool::new(false))?;
        answers
            .and_then(|mut answers| answers.pop())
            .map(|(_, answer)| answer)
            .ok_or_else(|| anyhow::anyhow!("stopped"))
    };
    let put = |number: usize, answered: RemoteAnswer| {
        let answer = judge(number, &answered)?;
        answers.lock().expect("no thread panics while it holds the list").insert(number, answer);
        progress();
        Ok(())
    };
    let positions = RemotePositions {
        game,
        agent,
        texts: set.positions.iter().map(|position| position.text.as_str()).collect(),
        seed,
        check: &check,
        answer_here: &answer_here,
        put: &put,
        stop,
    };
    if !remote.answer(&positions)? {
        return Ok(None);
    }
    let answers: Vec<Answer> = answers.into_inner().expect("all threads have ended well").into_values().collect();
    anyhow::ensure!(answers.len() == set.positions.len(), "some positions have no answer");
    Ok(Some(summarise(&answers)))
}

/// The agent's answers to numbered positions, as [`grade`](super::grade) asks for them, in the order of their numbers. Returns `None`
/// if `stop` was set before the end.
///
/// # Errors
/// The agent cannot play or fails, or a text is not a position of this game in which the game goes on.
// long because one player and a team answer the same positions, and share their answers
pub fn answers_to(
    game: &dyn PlayableGame,
    agent: &Agent,
    positions: &[(usize, &str)],
    seed: u64,
    stop: &AtomicBool,
) -> anyhow::Result<Option<Vec<(usize, RemoteAnswer)>>> {
    let mut answers = Vec::with_capacity(positions.len());
    let at_once = games_at_once(&[agent], false, positions.len());
    let begin = |number: usize, text: &str| -> anyhow::Result<(AnyState, Stream)> {
        let state = game.parse_position(text)?;
        anyhow::ensure!(game.outcome(&state).is_none(), "position `{text}`: the game is over");
        Ok((state, stream(seed, Purpose::Play, [number as u64, 0])))
    };
    let team = if at_once > 1 { agent.team(game, at_once)? } else { None };
    let mut player = if team.is_none() { Some(agent.player(game)?) } else { None };
    let (mut waiting, mut done) = (positions.iter(), Vec::new());
    if let Some(player) = &mut player {
        for &(number, text) in waiting.by_ref() {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let (state, mut rng) = begin(number, text)?;
            player.new_game(&state, &mut rng);
            let prediction = player.predict(&state)?;
            let action = game.action_text_in(&state, player.choose(&state, &mut rng)?);
            answers.push((number, RemoteAnswer { action, prediction }));
        }
    }
    if let Some(mut team) = team {
        let mut asked: Vec<_> = (0..at_once).map(|_| None).collect();
        loop {
            for (seat, place) in asked.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
                let Some(&(number, text)) = waiting.next() else { break };
                let (state, mut rng) = begin(number, text)?;
                team.search.new_game(seat, &state);
                let prediction = team.search.predict(&state)?.1.win_draw_loss(game.mover(&state));
                team.begin(seat, &state, &mut rng);
                *place = Some((number, state, prediction));
            }
            if asked.iter().all(Option::is_none) {
                break;
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            team.search.advance(&mut done)?;
            for seat in done.drain(..) {
                let Some((number, state, prediction)) = asked[seat].take() else { continue };
                let action = game.action_text_in(&state, team.search.chosen(seat));
                answers.push((number, RemoteAnswer { action, prediction: Some(prediction) }));
            }
        }
    }
    answers.sort_unstable_by_key(|(number, _)| *number);
    Ok(Some(answers))
}

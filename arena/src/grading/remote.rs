//! Grades by other machines, and their answers.

use std::collections::BTreeMap;
use std::sync::Mutex;

use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, PlayableGame, SearchRequest};

use super::report::Grade;
use super::truth_set::TruthSet;
use super::{Answer, answer, answered, question, summarise};
use crate::asking::{MOST_AT_ONCE, ask_on_threads};
use crate::remote::{Remote, RemoteAnswer, RemotePositions, is_portable};

/// [`grade`](super::grade) by other machines, with the same result.
///
/// # Errors
/// The errors of [`grade`](super::grade), or the agent cannot play on other machines.
pub fn grade_remotely(
    game: &dyn PlayableGame,
    agent: &Agent,
    set: &TruthSet,
    seed: u64,
    remote: &dyn Remote,
    progress: &(dyn Fn() + Sync),
    stop: &Stop,
) -> anyhow::Result<Option<Grade>> {
    anyhow::ensure!(is_portable(agent), "`{}` plays on this machine only", agent.spec);
    let answers = Mutex::new(BTreeMap::new());
    let judge = |number: usize, answered: &RemoteAnswer| -> anyhow::Result<Answer> {
        let position = &set.positions[number];
        let state = game.parse_position(&position.text)?;
        let action = game.parse_action(&state, &answered.action)?;
        game.try_play(&mut state.clone(), action)?;
        answer(game, position, &state, action, answered.prediction)
    };
    let put = |number: usize, answered: RemoteAnswer| {
        let answer = judge(number, &answered).map_err(|fault| fault.to_string())?;
        answers.lock().expect("no thread panics while it holds the list").insert(number, answer);
        progress();
        Ok(())
    };
    let positions = RemotePositions {
        agent,
        texts: set.positions.iter().map(|position| position.text.as_str()).collect(),
        seed,
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
/// if `stop` was raised before the end.
///
/// # Errors
/// The agent cannot play or fails, or a text is not a position of this game in which the game is not over.
pub fn answers_to(
    game: &dyn PlayableGame,
    agent: &Agent,
    positions: &[(usize, &str)],
    seed: u64,
    stop: &Stop,
) -> anyhow::Result<Option<Vec<(usize, RemoteAnswer)>>> {
    let answers = ask_on_threads(
        [|| agent.search(game, MOST_AT_ONCE).map_err(anyhow::Error::new)].into_iter(),
        positions.len(),
        &SearchRequest::stopped_by(stop),
        &|i| {
            let (number, text) = positions[i];
            let (state, rng) = question(game, number, text, seed)?;
            anyhow::ensure!(game.outcome(&state).is_none(), "position `{text}`: the game is over");
            Ok((state, rng))
        },
        &|i, state, chosen, search, _| {
            let (action, prediction) = answered(game, state, chosen, search)?;
            Ok((positions[i].0, RemoteAnswer { action: game.action_text(state, action), prediction }))
        },
    )?;
    Ok(answers.map(|mut answers| {
        answers.sort_unstable_by_key(|(number, _)| *number);
        answers
    }))
}

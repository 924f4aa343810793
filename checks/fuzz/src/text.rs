//! Readers of text: positions, actions and parameters of games, agent specs, truth sets.

use std::sync::{Arc, OnceLock};

use crate::text_checks;
use turnstone_agents::{AgentSpec, PlayableGame};
use turnstone_arena::grading::{TruthPosition, TruthSet};

/// The built-in games with their defaults.
fn games() -> &'static [Arc<dyn PlayableGame>] {
    static GAMES: OnceLock<Vec<Arc<dyn PlayableGame>>> = OnceLock::new();
    GAMES.get_or_init(|| turnstone_games::built_in().defaults().collect())
}

/// The game that the first byte chooses, and the rest as text.
fn of_game(data: &[u8]) -> Option<(&'static dyn PlayableGame, std::borrow::Cow<'_, str>)> {
    let (&first, text) = data.split_first()?;
    Some((&*games()[usize::from(first) % games().len()], String::from_utf8_lossy(text)))
}

/// For each game the texts that `text` makes of it.
fn for_games<T: AsRef<[u8]>>(texts: impl Fn(&dyn PlayableGame) -> Vec<T>) -> Vec<Vec<u8>> {
    let of_game = |(number, game): (usize, &Arc<dyn PlayableGame>)| {
        let with_number = |text: T| [&[number as u8], text.as_ref()].concat();
        texts(&**game).into_iter().map(with_number).collect::<Vec<_>>()
    };
    games().iter().enumerate().flat_map(of_game).collect()
}

/// Positions and moves of a game in which the `i`-th move is the `i`-th legal one.
fn course(game: &dyn PlayableGame) -> Vec<(String, String)> {
    let mut state = game.start();
    let mut course = Vec::new();
    for i in 0..40 {
        let legal = game.legal_actions(&state);
        let Some(&action) = legal.get(i % legal.len().max(1)) else { break };
        course.push((game.position_text(&state), game.action_text(&state, action)));
        game.play(&mut state, action);
    }
    course
}

/// A position, an action or parameters of a game.
pub(crate) fn notation(data: &[u8]) -> bool {
    let Some((game, text)) = of_game(data) else { return false };
    let _ = game.play_text(&mut game.start(), &text);
    let accepted = [
        text_checks::position(game, &text),
        text_checks::action(game, &text),
        text.contains('=') && text_checks::params(game.name(), &text),
    ];
    accepted.contains(&true)
}

pub(crate) fn example_notation() -> Vec<Vec<u8>> {
    for_games(|game| {
        let course = course(game).into_iter().step_by(6);
        course.flat_map(|(position, action)| [position, action]).chain([game.params().to_string()]).collect()
    })
}

/// A spec that is accepted is written as one of the same meaning.
pub(crate) fn agent_specs(data: &[u8]) -> bool {
    let Ok(spec) = String::from_utf8_lossy(data).parse::<AgentSpec>() else { return false };
    let text = spec.to_string();
    assert_eq!(text.parse::<AgentSpec>().ok(), Some(spec), "`{text}`");
    true
}

pub(crate) fn example_agent_specs() -> Vec<Vec<u8>> {
    [
        "random",
        "human",
        "minimax:depth=6",
        "alphabeta:depth=20,nodes=5,time=1500ms,hash=0,heuristic=win_loss",
        "bestfirst:nodes=1000",
        "mcts:time=50ms",
        "az:runs/a,sims=16,method=puct,c_puct=2,fpu_reduction=0.2,proof_nodes=9,draw=-0.1,precision=i8",
        "az:pretrained,sims=100,considered=8,c_visit=50,c_scale=1",
        "exact:tables,error=0.05",
        "engine:nodes=100,patience=3s:./engine --flag \"a b\"",
    ]
    .iter()
    .map(|spec| spec.as_bytes().to_vec())
    .collect()
}

/// A truth set that is accepted is written as the same one.
pub(crate) fn truth_sets(data: &[u8]) -> bool {
    let Some((game, text)) = of_game(data) else { return false };
    let Ok(set) = TruthSet::parse(&text, game) else { return false };
    assert_eq!(TruthSet::parse(&set.to_text(), game), Ok(set));
    true
}

pub(crate) fn example_truth_sets() -> Vec<Vec<u8>> {
    for_games(|game| {
        let mut set = TruthSet::new(game);
        let position = |(text, action)| TruthPosition { text, value: 1, actions: vec![(action, -1)] };
        set.positions = course(game).into_iter().take(3).map(position).collect();
        vec![set.to_text()]
    })
}

//! Readers of text: positions, actions, parameters, specs, configs, ladders, truth sets, metrics, and lines of protocols.

use std::sync::{Arc, OnceLock};

use turnstone::{analysis, engine};
use turnstone_agents::{AgentSpec, Playable, PlayableGame};
use turnstone_arena::Ladder;
use turnstone_arena::grading::{TruthPosition, TruthSet};
use turnstone_base::checksum::seal_line;
use turnstone_base::line_io::Lines;
use turnstone_env::games::NAMES;
use turnstone_env::{Game, Params, text_checks};
use turnstone_games::Benched;
use turnstone_trainer::config::Config;
use turnstone_trainer::report::parse_metrics;

/// The built-in games with their defaults, and with the parameters of their variants.
pub(crate) fn games() -> &'static [Arc<dyn PlayableGame>] {
    static GAMES: OnceLock<Vec<Arc<dyn PlayableGame>>> = OnceLock::new();
    GAMES.get_or_init(|| {
        let games = turnstone_games::built_in();
        let mut all: Vec<_> = games.defaults().collect();
        turnstone_games::for_each_game!(K => for params in K::VARIANTS {
            let params = params.iter().fold(Params::new(), |all, &(key, value)| all.with(key, value));
            all.push(games.make(<K as Playable>::Game::NAME, &params).expect("a variant has valid parameters"));
        });
        all
    })
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
        course.push((game.position_text(&state), game.action_text_in(&state, action)));
        game.play(&mut state, action);
    }
    course
}

pub(crate) fn positions(data: &[u8]) -> bool {
    of_game(data).is_some_and(|(game, text)| text_checks::position(game, &text))
}

pub(crate) fn example_positions() -> Vec<Vec<u8>> {
    for_games(|game| course(game).into_iter().step_by(6).map(|(position, _)| position).collect())
}

pub(crate) fn actions(data: &[u8]) -> bool {
    let Some((game, text)) = of_game(data) else { return false };
    let mut state = game.start();
    let _ = game.play_text(&mut state, &text);
    text_checks::action(game, &text)
}

pub(crate) fn example_actions() -> Vec<Vec<u8>> {
    for_games(|game| course(game).into_iter().step_by(5).map(|(_, action)| action).collect())
}

pub(crate) fn params(data: &[u8]) -> bool {
    let Some((&first, text)) = data.split_first() else { return false };
    text_checks::params(NAMES[usize::from(first) % NAMES.len()], &String::from_utf8_lossy(text))
}

pub(crate) fn example_params() -> Vec<Vec<u8>> {
    let games = turnstone_games::built_in();
    let numbered = NAMES.iter().enumerate();
    let text = |name: &str| games.make(name, &Params::new()).expect("valid defaults").params().to_string();
    numbered.map(|(number, name)| [&[number as u8], text(name).as_bytes()].concat()).collect()
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

/// A config that is accepted is written as one of the same meaning.
pub(crate) fn configs(data: &[u8]) -> bool {
    let games = turnstone_games::built_in();
    let Ok(config) = Config::parse(&String::from_utf8_lossy(data), &games) else { return false };
    let text = toml::to_string(&config).expect("a valid config can be written");
    assert_eq!(Config::parse(&text, &games).as_ref(), Ok(&config), "{text}");
    true
}

pub(crate) fn example_configs() -> Vec<Vec<u8>> {
    let shipped = ["smoke", "mancala"].map(|name| {
        let path = format!("{}/../../configs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    });
    let small = "seed = 5\n[game]\nname = \"mu_torere\"\nmax_plies = 30\n[net]\nkind = \"residual_mlp\"\nblocks = 1\n\
        width = 16\n[search]\nsimulations = 8\n[learn]\nbatch = 32\nlearning_rate = 0.01\n[arena]\nopponents = [\"random\"]\n";
    shipped.into_iter().chain([small.to_owned()]).map(String::into_bytes).collect()
}

/// A ladder that is accepted is written as one that is accepted too.
pub(crate) fn ladders(data: &[u8]) -> bool {
    let Some((game, text)) = of_game(data) else { return false };
    let Ok(ladder) = Ladder::parse(&text, game) else { return false };
    let text = ladder.to_text(game);
    assert!(Ladder::parse(&text, game).is_ok(), "{text}");
    true
}

pub(crate) fn example_ladders() -> Vec<Vec<u8>> {
    for_games(|game| Ladder::shipped(game).map(|ladder| ladder.to_text(game)).into_iter().collect())
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

pub(crate) fn metrics(data: &[u8]) -> bool {
    let Ok(history) = parse_metrics(data) else { return false };
    for iteration in &history {
        let _ = (iteration.mean_score(), iteration.stage_seconds());
        for result in &iteration.arena {
            let _ = (result.elo(), result.elo_interval(), result.games());
        }
    }
    !history.is_empty()
}

pub(crate) fn example_metrics() -> Vec<Vec<u8>> {
    let seat = r#"{"wins":1,"draws":0,"losses":0}"#;
    let line = |iteration: u64| {
        format!(
            r#"{{"iteration":{iteration},"step":12,"games":24,"positions":300,"window":300,"game_length":12.5,"outcome_shares":[0.5,0.1,0.4],"losses":{{"policy_loss":0.75,"value_loss":0.5,"total_loss":1.25,"policy_divergence":0.25,"policy_entropy":0.8,"gradient_norm":0.7}},"arena":[{{"opponent":"random","by_seat":{{"first":{seat},"second":{seat}}},"score":1.0,"score_interval":[0.8,1.0],"elo":null,"elo_interval":[240.8,null]}}],"timing":{{"self_play_seconds":1.5,"learn_seconds":0.5,"both_seconds":0.0,"match_seconds":0.25,"file_seconds":0.125,"seconds":2.5}}}}"#
        )
    };
    let sealed: String = (1..4).map(|iteration| seal_line(&line(iteration)) + "\n").collect();
    vec![sealed.into_bytes()]
}

/// Lines are as long as allowed at most, and together as long as the input.
pub(crate) fn lines(data: &[u8]) -> bool {
    let capacity = usize::from(data.first().copied().unwrap_or(0)) + 1;
    let mut lines = Lines::new(std::io::BufReader::with_capacity(capacity, data));
    let breaks = data.iter().filter(|&&byte| byte == b'\n').count();
    let mut read = 0;
    while let Some(line) = lines.read().expect("memory can be read") {
        read += 1;
        assert!(line.is_err() || line.is_ok_and(|line| line.len() <= data.len() && !line.contains('\n')));
    }
    let unfinished = data.last().is_some_and(|&last| last != b'\n');
    assert_eq!(read, breaks + usize::from(unfinished));
    true
}

pub(crate) fn example_lines() -> Vec<Vec<u8>> {
    vec![b"ugi\r\n\nisready\n\xff\na\0b".to_vec(), b"\n\n\r\n".to_vec()]
}

pub(crate) fn ugi_commands(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let checked = engine::check_command(&text);
    assert_eq!(checked == Ok(false), text.trim().is_empty(), "`{text}`");
    checked == Ok(true)
}

pub(crate) fn example_ugi_commands() -> Vec<Vec<u8>> {
    [
        "ugi",
        "isready",
        "setoption name Agent value az:my runs/a,sims=5",
        "position startpos moves B2 A3",
        "position fen 121202121 1 0 moves 0,4",
        "go movetime 100 nodes 7 depth 900",
        "go p1time 60010 p2time 10 p1inc 400 p2inc 0",
        "go infinite",
        "query legal",
        "stop",
        "quit",
    ]
    .iter()
    .map(|line| line.as_bytes().to_vec())
    .collect()
}

/// A query that is refused is answered with its fault in text.
pub(crate) fn analysis_queries(data: &[u8]) -> bool {
    let Some((game, text)) = of_game(data) else { return false };
    let checked = analysis::check_query(game, &text);
    assert!(checked.as_ref().err().is_none_or(|answer| answer["error"].is_string()), "{checked:?}");
    checked.is_ok()
}

pub(crate) fn example_analysis_queries() -> Vec<Vec<u8>> {
    for_games(|game| {
        let (position, action) = course(game).swap_remove(0);
        vec![
            format!(r#"{{"id":"a","moves":["{action}"],"analyzeTurns":[0,1],"simulations":5,"priority":-1}}"#),
            format!(r#"{{"id":"b","position":"{position}","moves":"{action}","game":"{}"}}"#, game.name()),
            r#"{"id":"c","action":"terminate","terminateId":"a","turnNumbers":[1]}"#.to_owned(),
            r#"{"id":"d","action":"terminate_all"}"#.to_owned(),
        ]
    })
}

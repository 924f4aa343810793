//! A match goes from options to files: its openings, pairings and anchors are those of its scale.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use turnstone_agents::exact::Certificate;
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, PlayableGame};
use turnstone_arena::grading::{grade, known};
use turnstone_arena::{
    Ladder, Match, MatchFolder, MatchOptions, MatchResult, OpeningSource, RatingScale, Running, TournamentFormat,
};
use turnstone_env::Params;
use turnstone_games::built_in;

const AGENTS: [&str; 3] = ["alphabeta:depth=2", "random", "alphabeta:depth=1"];

fn game() -> Arc<dyn PlayableGame> {
    built_in().make("mu_torere", &Params::new()).expect("a game")
}

fn agents(game: &dyn PlayableGame, specs: &[&str]) -> Vec<Agent> {
    specs.iter().map(|spec| Agent::load(&spec.parse().expect("a spec"), game).expect("it plays this game")).collect()
}

fn drawn<'a>(
    game: &'a dyn PlayableGame,
    agents: &'a [Agent],
    options: &MatchOptions,
    scale: RatingScale<'a>,
) -> Result<Match<'a>, String> {
    let drawn = Match::new(game, agents.iter().collect(), options, scale, &Stop::default());
    drawn.map(|drawn| drawn.expect("nothing stops it")).map_err(|error| error.to_string())
}

fn played(matches: &Match<'_>, folder: Option<MatchFolder<'_>>) -> MatchResult {
    let stop = Stop::default();
    matches.play(folder, &Running::new(1, &|_| {}, &stop)).expect("they play").expect("nothing stops it")
}

fn games(games: usize) -> MatchOptions {
    MatchOptions { games: Some(games), ..MatchOptions::default() }
}

/// A ladder of two rungs, whose openings are of two plies and whose ratings no match of this length would give.
fn ladder(game: &dyn PlayableGame) -> Ladder {
    let mut ladder = Ladder::shipped(game).expect("sound");
    ladder.openings = [2, 2];
    ladder.rungs.truncate(2);
    ladder.rungs[0].agent = AGENTS[1].parse().expect("a spec");
    ladder.rungs[1].agent = AGENTS[2].parse().expect("a spec");
    (ladder.rungs[0].elo, ladder.rungs[1].elo) = (1000.0, 1200.0);
    ladder
}

#[test]
fn on_a_ladder_the_first_agent_meets_the_rungs_and_gets_a_rating() {
    let game = game();
    let (agents, ladder) = (agents(&*game, &AGENTS), ladder(&*game));
    let asked = MatchOptions { format: Some(TournamentFormat::RoundRobin), ..games(4) };
    let matches = drawn(&*game, &agents, &asked, RatingScale::Ladder(&ladder)).expect("valid options");
    let header = matches.header();
    assert_eq!((header.settings.format, header.settings.games), (TournamentFormat::Gauntlet, 4));
    let two_plies = MatchOptions { openings: Some(OpeningSource::Random([2, 2])), ..asked.clone() };
    let mean = drawn(&*game, &agents, &two_plies, RatingScale::Mean).expect("valid options");
    assert_eq!(header.openings, mean.header().openings[..header.openings.len()]);
    let result = played(&matches, None);
    let rating = result.rating.as_ref().expect("a rating");
    assert_eq!((rating.games, result.json()["ladder"]["games"].as_u64()), (8, Some(8)));
    let ratings: Vec<f64> = result.summary.agents.iter().map(|agent| agent.rating).collect();
    assert_eq!((ratings[0], &ratings[1..]), (rating.elo, &[1000.0, 1200.0][..]), "the rungs are anchors");
    let fault = matches.new_ladder(&result).expect_err("no new ladder").to_string();
    assert_eq!(fault, "a ladder needs the agent `random`, whose Elo is 0");
    // The ladder completes what the options leave open.
    let matches = drawn(&*game, &agents, &MatchOptions::default(), RatingScale::Ladder(&ladder)).expect("valid");
    assert_eq!(matches.header().settings.games, ladder_games(&*game));
}

/// Games against each rung without an option.
fn ladder_games(game: &dyn PlayableGame) -> usize {
    let (agents, ladder) = (agents(game, &AGENTS[..2]), ladder(game));
    let one = drawn(game, &agents, &MatchOptions::default(), RatingScale::Ladder(&ladder)).expect("valid options");
    let mean = drawn(game, &agents, &MatchOptions::default(), RatingScale::Mean).expect("valid options");
    assert_ne!(one.games(), mean.games(), "the ladder has a default of its own");
    one.games()
}

#[test]
fn a_new_ladder_begins_at_random_and_has_the_openings_of_its_match() {
    let game = game();
    let players = agents(&*game, &AGENTS);
    let options = MatchOptions { openings: Some(OpeningSource::Random([1, 3])), ..games(4) };
    let matches = drawn(&*game, &players, &options, RatingScale::NewLadder).expect("valid options");
    assert_eq!(matches.header().settings.format, TournamentFormat::RoundRobin);
    let result = played(&matches, None);
    assert_eq!((result.summary.agents[1].rating, &result.rating), (0.0, &None));
    let ladder = matches.new_ladder(&result).expect("a ladder");
    let rungs: Vec<String> = ladder.rungs.iter().map(|rung| rung.agent.to_string()).collect();
    assert_eq!((rungs.as_slice(), ladder.openings), (&AGENTS.map(str::to_owned)[..], [1, 3]));
    assert_eq!(ladder.rungs[1].elo, 0.0);

    let others = agents(&*game, &[AGENTS[0], AGENTS[2]]);
    let fault = drawn(&*game, &others, &options, RatingScale::NewLadder).err();
    assert_eq!(fault.as_deref(), Some("a ladder needs the agent `random`, whose Elo is 0"));
    let book = MatchOptions { openings: Some(OpeningSource::Book("nowhere".into())), ..games(4) };
    let fault = drawn(&*game, &players, &book, RatingScale::NewLadder).err();
    assert_eq!(fault.as_deref(), Some("a ladder has random openings"));
}

#[test]
fn a_match_has_its_files_its_notes_and_its_program() {
    let game = game();
    let agents = agents(&*game, &AGENTS[..2]);
    let matches = drawn(&*game, &agents, &games(3), RatingScale::Mean).expect("valid options").played_by("name 1");
    assert_eq!((matches.games(), matches.is_portable()), (4, true));
    let notes: Vec<&String> = matches.notes().collect();
    assert_eq!(notes, ["each opening is played from both sides: 4 games of each meeting in place of 3"]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let result = played(&matches, Some(MatchFolder { path: folder.path(), resume: false }));
    assert_eq!((result.record.header.program.as_deref(), &result.rating), (Some("name 1"), &None));
    assert_eq!(result.meeting().agents, [0, 1]);
    // Ratings without an anchor have the mean 0.
    let sum: f64 = result.summary.agents.iter().map(|agent| agent.rating).sum();
    assert!(sum.abs() < 1e-6, "{sum}");
    check_files(&result, &*game, folder.path());
    // What is played is not played again, and another match does not continue there.
    let again = MatchFolder { path: folder.path(), resume: true };
    let before = fs::read(folder.path().join("games.jsonl")).expect("a journal");
    assert_eq!(played(&matches, Some(again)), result);
    assert_eq!(fs::read(folder.path().join("games.jsonl")).expect("a journal"), before);
    let other = drawn(&*game, &agents, &games(6), RatingScale::Mean).expect("valid options");
    let stop = Stop::default();
    assert!(other.play(Some(again), &Running::new(1, &|_| {}, &stop)).is_err());
}

/// Each file of a match's folder has what its name says.
fn check_files(result: &MatchResult, game: &dyn PlayableGame, folder: &Path) {
    let text = |name: &str| fs::read_to_string(folder.join(name)).expect("a file of the match");
    assert_eq!(text("result.json"), format!("{}\n", result.json()));
    assert_eq!(text("games.jsonl").lines().count(), 5);
    assert_eq!(text("report.html"), result.page(game).expect("legal moves"));
}

#[test]
fn a_match_that_is_stopped_has_no_result() {
    let game = game();
    let agents = agents(&*game, &AGENTS[..2]);
    let stop = Stop::default();
    stop.raise();
    let stopped = Match::new(&*game, agents.iter().collect(), &games(4), RatingScale::Mean, &stop);
    assert!(stopped.expect("valid options").is_none());
    let matches = drawn(&*game, &agents, &games(4), RatingScale::Mean).expect("valid options");
    assert!(matches.play(None, &Running::new(1, &|_| {}, &stop)).expect("valid").is_none());
}

/// Time that `work` takes to stop after its flag is set.
fn time_to_stop(work: impl FnOnce(&Stop) + Send) -> Duration {
    let stop = Stop::default();
    thread::scope(|scope| {
        let working = scope.spawn(|| {
            work(&stop);
            Instant::now()
        });
        thread::sleep(Duration::from_millis(300));
        stop.raise();
        let asked = Instant::now();
        working.join().expect("no panic").saturating_duration_since(asked)
    })
}

/// The searches of these moves take minutes.
#[test]
fn a_stop_ends_searches_inside_moves() {
    let game = built_in().make("konane", &Params::new()).expect("a game");
    for spec in [
        "mcts:sims=1000000",
        "mcts:sims=1000000,threads=2",
        "az:pretrained,sims=1000000",
        "alphabeta:depth=30",
        "alphabeta:nodes=4000000000",
        "minimax:depth=12",
        "exact:tables,nodes=4000000000",
    ] {
        let agents = agents(&*game, &[spec, "random"]);
        let matches = drawn(&*game, &agents, &games(2), RatingScale::Mean).expect("valid options");
        let finished = AtomicUsize::new(0);
        let count = |_: &_| {
            finished.fetch_add(1, Ordering::Relaxed);
        };
        let late = time_to_stop(|stop| {
            assert_eq!(matches.play(None, &Running::new(2, &count, stop)).expect("they play"), None, "{spec}");
        });
        assert!(late < Duration::from_secs(2) && finished.load(Ordering::Relaxed) == 0, "{spec}: {late:?}");
    }
    let slow = "alphabeta:depth=30".parse().expect("a spec");
    let filtered = MatchOptions { opening_filter: Some(slow), opening_bound: Some(1), ..games(2) };
    let random = agents(&*game, &["random", "random"]);
    let late = time_to_stop(|stop| {
        let drawn = Match::new(&*game, random.iter().collect(), &filtered, RatingScale::Mean, stop);
        assert!(drawn.expect("valid options").is_none());
    });
    assert!(late < Duration::from_secs(2), "openings: {late:?}");
    let (set, slow) = (known(&*game).expect("sound").expect("one"), &agents(&*game, &["mcts:sims=1000000"])[0]);
    let late = time_to_stop(|stop| {
        assert!(grade(&*game, slow, &set, 0, 2, &|| {}, stop).expect("it plays").is_none());
    });
    assert!(late < Duration::from_secs(2), "grading: {late:?}");
}

#[test]
fn the_certificates_of_a_game_hold_and_are_said_of_their_agents() {
    for game in built_in().defaults() {
        for bytes in game.files().certificates {
            let certificate = Certificate::from_bytes(bytes).expect("a certificate");
            game.check_certificate(&certificate).expect("a proof");
        }
    }
    let report = |game: &str, spec| {
        let game = built_in().make(game, &Params::new()).expect("a game");
        let agents = agents(&*game, &[spec, "random"]);
        played(&drawn(&*game, &agents, &games(2), RatingScale::Mean).expect("drawn"), None).text()
    };
    let corrected = "az:pretrained,sims=0,book=pretrained";
    for (game, spec, seats) in
        [("mu_torere", "az:pretrained,sims=0", "player 1 or player 2"), ("mancala", corrected, "player 1")]
    {
        let said = format!("\n{spec} cannot be beaten from the start as {seats}\n");
        assert!(report(game, spec).contains(&said), "{said}");
    }
    for other in ["az:pretrained,sims=1", "az:pretrained,sims=0,precision=i8", "alphabeta:depth=1"] {
        assert!(!report("mu_torere", other).contains("beaten"), "{other}");
    }
    assert!(!report("mancala", "az:pretrained,sims=0").contains("beaten"));
}

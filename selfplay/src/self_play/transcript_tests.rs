//! Tests of transcripts: games come back as they were, and no other bytes do.

use rand::RngExt;
use turnstone_agents::shape;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Notation;
use turnstone_env::games::{Mancala, Morabaraba};
use turnstone_models::{NetworkConfig, ResidualMlp, Weights};

use super::*;
use crate::config::{SearchConfig, SelfPlayConfig};

/// Plays a small task in sessions that get their numbers one by one, and hands its games and its transcript_decoder to `check`.
fn with_games<G: Notation>(
    game: &G,
    self_play: &SelfPlayConfig,
    check: impl FnOnce(Vec<FinishedGame>, &TranscriptDecoder),
) {
    let network = NetworkConfig::from(ResidualMlp { blocks: 0, width: 4 });
    let weights = Weights::random(&network.layout(&shape(&game.spec())).expect("a small network"), 1);
    let task = Task::new(
        GameSettings { simulations: 4, ..GameSettings::new(&SearchConfig::default(), self_play, 1, 3) },
        &network,
        &weights,
    );
    let mut numbers = 0..self_play.games_per_iteration;
    let mut sessions = task_sessions(game, &task, 2).expect("sound");
    let (mut games, mut turn) = (Vec::new(), 0);
    while games.len() < self_play.games_per_iteration {
        let session = &mut sessions[turn % 2];
        // A number every third time: seats fill slowly and are filled again.
        session
            .step(3, &mut || (turn % 3 == 0).then(|| numbers.next()).flatten(), &SelfPlayCounters::default())
            .expect("it never fails");
        games.extend(session.take_finished());
        turn += 1;
    }
    let whole = play(game, &task, &SelfPlayCounters::default(), &Stop::default()).expect("sound").expect("not stopped");
    let again = SelfPlayGames::new(3, game.spec().features(), games.clone(), SelfPlayStats::default());
    assert_eq!((again.shard, again.ends), (whole.shard, whole.ends), "one by one or at once, they are the same");
    check(games, &transcript_decoder(game, &task));
}

#[test]
fn games_come_back_as_they_were() {
    let games_per_iteration = 12;
    let self_play = SelfPlayConfig { games_per_iteration, ..SelfPlayConfig::default() };
    let check = |games: Vec<FinishedGame>, restore: &TranscriptDecoder| {
        for game in games {
            let again = restore(game.number, &game.transcript()).expect("what was played is legal");
            assert_eq!(again.positions, game.positions);
            assert_eq!((again.outcome, again.plies, again.moves), (game.outcome, game.plies, game.moves));
        }
    };
    with_games(&Mancala::default(), &self_play, check);
    with_games(&Morabaraba::default(), &self_play, check);
}

#[test]
fn transcripts_with_faults_are_refused() {
    let self_play = SelfPlayConfig { games_per_iteration: 4, ..SelfPlayConfig::default() };
    with_games(&Mancala::default(), &self_play, |games, restore| {
        let game = &games[0];
        let sound = game.transcript();
        let fault = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = sound.clone();
            change(&mut bytes);
            restore(game.number, &bytes).expect_err("a fault")
        };
        let moves = game.moves.len();
        let numbers = 2 + 2 * moves;
        let put = |at: usize, number: f32| {
            fault(&move |bytes| bytes[numbers + 4 * at..][..4].copy_from_slice(&number.to_le_bytes()))
        };
        assert!(fault(&|bytes| bytes[2..4].copy_from_slice(&999u16.to_le_bytes())).contains("is not legal in"));
        assert!(put(2, f32::NAN).contains("share of the policy"));
        assert!(put(2, 1.5).contains("share of the policy"));
        assert!(put(0, f32::NAN).contains("value or result"));
        assert!(put(1, 7.0).contains("value or result"));
        assert!(fault(&|bytes| bytes.push(0)).contains("beyond its end"));
        assert!(fault(&|bytes| bytes.truncate(bytes.len() - 1)).contains("cut short"));
        assert!(fault(&|bytes| bytes.clear()).contains("cut short"));
        // The last move is taken away: the moves are legal, but the game is not over.
        let mut short = game.clone();
        short.moves.pop();
        let refused = restore(game.number, &short.transcript()).expect_err("a fault");
        assert!(refused.contains("stops before its end"), "{refused}");
        // Of another number the game has another opening, or else it is a legal game of that number: never a panic.
        let mut rng = stream(7, Purpose::Play, [0, 0]);
        let mut refused = 0;
        for _ in 0..3000 {
            let mut bytes = sound.clone();
            for _ in 0..3 {
                let at = rng.random_range(0..bytes.len());
                bytes[at] = rng.random();
            }
            refused += u32::from(restore(game.number, &bytes).is_err());
        }
        assert!(refused > 2000, "{refused}");
    });
}

//! What self-play records and plays: targets, temperature. The expected numbers are worked out by hand, or by a search
//! that is run apart.

use std::sync::atomic::Ordering;

use turnstone_agents::SearchKind;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::games::Mancala;
use turnstone_env::toy::Toy;
use turnstone_env::{Action, Params, Rules, Side};
use turnstone_models::{NetworkConfig, Precision, ResidualMlp, Weights};
use turnstone_search::Stop;
use turnstone_search::{Backend, EvalBatch, Evaluation, Fault, Mcts, Method, Puct, SearchOptions, Uniform};

use super::*;
use crate::config::{SearchConfig, SelfPlayConfig};

/// PUCT without noise and forced playouts: one game follows from the evaluator alone, but for the temperature.
fn plain_search() -> SearchConfig {
    SearchConfig { noise_fraction: 0.0, forced_playouts: 0.0, ..SearchKind::Puct.into() }
}

/// One game after another, from the start, always the best action.
fn plain_self_play() -> SelfPlayConfig {
    SelfPlayConfig {
        concurrent_games: 1,
        cached_positions: 0,
        opening_plies: 0,
        temperature: 0.0,
        final_temperature: 0.0,
        ..SelfPlayConfig::default()
    }
}

/// Games and counts of a session.
struct Part {
    games: Vec<FinishedGame>,
    stats: SelfPlayStats,
}

/// Plays games on this thread with a backend instead of the network.
fn played<G: Notation>(
    game: &G,
    simulations: u32,
    search: &SearchConfig,
    self_play: &SelfPlayConfig,
    games: usize,
    backend: impl Backend<G> + Send,
) -> Part {
    let settings = GameSettings { simulations, ..GameSettings::new(search, self_play, 3, 1) };
    let (progress, mut numbers) = (SelfPlayCounters::default(), 0..games);
    let rules = Arc::new(GameContext::new(game, &settings));
    let start = Instant::now();
    let mut session = GamesInSeats::new(&rules, backend, self_play.cached_positions);
    while session.step(self_play.concurrent_games, &mut || numbers.next(), &progress).expect("it never fails") {}
    let part =
        Part { games: session.take_finished(), stats: SelfPlayStats { time: start.elapsed(), ..session.stats() } };
    assert_eq!(progress.games.load(Ordering::Relaxed), games as u64);
    assert_eq!(progress.positions.load(Ordering::Relaxed), part.stats.positions);
    part
}

#[test]
fn targets_are_those_of_the_side_to_move() {
    // Each side in turn moves twice in a row, and wins by seven with its last move.
    for (text, winner, result) in [("2(2(+4 -7) +4)", Side::Second, -1), ("1(1(-4 +7) -4)", Side::First, 1)] {
        let toy: Toy = text.parse().expect("a tree");
        let part = played(&toy, 50, &plain_search(), &plain_self_play(), 1, Uniform);
        let [game] = &part.games[..] else { panic!("one game was asked for") };
        assert_eq!((game.number, game.plies, game.outcome), (0, 2, Outcome::by_margin(7 * i16::from(result))));
        let shard = &game.positions;
        assert_eq!(shard.len(), 2);
        for (i, (node, policy, plies_left)) in [(0.0, [1.0, 0.0], 2), (1.0, [0.0, 1.0], 1)].into_iter().enumerate() {
            let position = shard.position(i);
            assert_eq!((position.features, position.mover), (&[node][..], winner), "{text}");
            assert_eq!((position.policy_indices, position.policy), (&[0, 1][..], &policy[..]), "{text}");
            assert_eq!(position.root, Evaluation::exact(result), "{text}");
            // What a learner makes of it: a win for the mover, whichever side that is.
            assert_eq!(position.root.win_draw_loss(position.mover), [1.0, 0.0, 0.0], "{text}");
            assert_eq!(Outcome::by_margin(position.margin).value_for(position.mover), 1, "{text}");
            let end = (position.result, position.margin, position.plies_left);
            assert_eq!(end, (result, 7 * i16::from(result), plies_left), "{text}");
        }
    }
}

/// Numbers that depend on the position and the action alone.
struct ByStores;

impl ByStores {
    fn estimate(game: &Mancala, state: &<Mancala as Rules>::State) -> Evaluation {
        let mut features = vec![0.0; game.spec().features()];
        game.observe(state, &mut features);
        let sum: f32 = features.iter().enumerate().map(|(i, x)| x * (1.0 + i as f32).sin()).sum();
        Evaluation { value: 0.5 * sum.sin(), draw: 0.25 * sum.cos().abs() }
    }
}

impl Backend<Mancala> for ByStores {
    fn evaluate(&mut self, game: &Mancala, batch: &mut EvalBatch<<Mancala as Rules>::State>) -> Result<(), Fault> {
        for i in 0..batch.len() {
            batch.set_evaluation(i, Self::estimate(game, batch.position(i).0));
            let (legal, priors) = batch.legal_and_priors(i);
            let sum: f32 = legal.iter().map(|action| 1.0 + f32::from(action.0)).sum();
            legal.iter().zip(priors).for_each(|(action, prior)| *prior = (1.0 + f32::from(action.0)) / sum);
        }
        Ok(())
    }
}

#[test]
fn a_game_is_recorded_as_it_was_searched() {
    let game = Mancala::default();
    let spec = game.spec();
    let method = Method::Puct(Puct::default()).into();
    let (mut features, mut policy) = (vec![0.0; spec.features()], Vec::new());
    // Many games at a time, with a cache, are the same games.
    for (concurrent_games, cached_positions) in [(1, 0), (3, 1 << 10)] {
        let self_play = SelfPlayConfig { concurrent_games, cached_positions, ..plain_self_play() };
        let part = played(&game, 40, &plain_search(), &self_play, 4, ByStores);
        assert_eq!(part.games.len(), 4);
        let (mut simulations, mut size) = (0, [0, 0]);
        for finished in &part.games {
            let mut search = Mcts::new(&game, game.start());
            let mut random = stream(9, Purpose::SelfPlay, [0, 0]);
            let mut ply = 0;
            let mut seconds = 0;
            while game.outcome(search.state()).is_none() {
                search.begin(&game, &method, 40, &mut random);
                search.run(&game, &mut ByStores).expect("it never fails");
                simulations += u64::from(40 - search.simulations_left());
                size = [size[0] + search.size().nodes, size[1] + search.size().bytes];
                let (mover, position) = (game.mover(search.state()), finished.positions.position(usize::from(ply)));
                game.observe(search.state(), &mut features);
                search.policy(&mut policy);
                assert_eq!(position.features, features, "ply {ply}");
                assert_eq!(position.mover, mover);
                assert_eq!(position.root, search.estimate());
                let indices: Vec<u16> =
                    search.actions().map(|action| spec.policy_index(mover, action.action) as u16).collect();
                assert_eq!((position.policy_indices, position.policy), (&indices[..], &policy[..]));
                assert_eq!(position.plies_left, finished.plies - ply);
                let outcome = finished.outcome;
                assert_eq!((position.result, position.margin), (outcome.value(), outcome.margin));
                seconds += u16::from(mover == Side::Second);
                let action = search.choose(0.0, &mut random);
                search.advance(&game, action);
                ply += 1;
            }
            assert_eq!(game.outcome(search.state()), Some(finished.outcome));
            assert_eq!((ply, usize::from(ply)), (finished.plies, finished.positions.len()));
            assert!(seconds > 5 && ply - seconds > 5, "both sides move");
        }
        assert_eq!(part.stats.positions, part.games.iter().map(|game| u64::from(game.plies)).sum::<u64>());
        assert_eq!((part.stats.simulations, part.stats.tree), (simulations, size));
        // No more leaves are evaluated together than games are stepped together; without a cache each of them is.
        let cache = part.stats.cache;
        assert!(cache.mean_batch() <= concurrent_games as f64 && cache.batches > 0);
        if cached_positions == 0 {
            assert_eq!((cache.batches, cache.hits), (cache.requests, 0));
        }
        assert!(part.stats.time > part.stats.inference && part.stats.inference > std::time::Duration::ZERO);
    }
}

/// A tree of three actions, then two, and a long line after each of those, so that
/// nothing is proven within a few simulations.
fn long_lines() -> Toy {
    let line = format!("{}0{}", "2(".repeat(40), ")".repeat(40));
    let fork = format!("1({line} {line})");
    format!("1({fork} {fork} {fork})").parse().expect("a tree")
}

/// Value 0 and priors that fall from action to action.
struct Falling;

impl Backend<Toy> for Falling {
    fn evaluate(&mut self, _: &Toy, batch: &mut EvalBatch<<Toy as Rules>::State>) -> Result<(), Fault> {
        for i in 0..batch.len() {
            batch.set_evaluation(i, Evaluation::default());
            let (legal, priors) = batch.legal_and_priors(i);
            let sum: f32 = legal.iter().map(|action| 0.6f32.powi(i32::from(action.0))).sum();
            legal.iter().zip(priors).for_each(|(action, prior)| *prior = 0.6f32.powi(i32::from(action.0)) / sum);
        }
        Ok(())
    }
}

/// The numbers of the nodes that follow the root's three actions.
fn children(toy: &Toy) -> [f32; 3] {
    std::array::from_fn(|action| {
        let mut state = toy.start();
        toy.play(&mut state, Action(action as u16));
        let mut features = [0.0];
        toy.observe(&state, &mut features);
        features[0]
    })
}

#[test]
fn moves_are_drawn_by_the_temperature_of_their_ply() {
    const GAMES: usize = 1500;
    let toy = long_lines();
    let children = children(&toy);
    for temperature in [0.5, 1.0, 2.0] {
        let self_play =
            SelfPlayConfig { concurrent_games: 100, temperature, temperature_plies: 1, ..plain_self_play() };
        let part = played(&toy, 12, &plain_search(), &self_play, GAMES, Falling);
        let mut counts = [0.0; 3];
        for game in &part.games {
            let second = game.positions.position(1);
            counts[children.iter().position(|&child| second.features[0] == child).expect("a child")] += 1.0;
            // The second ply has the final temperature, 0: the first action, which has the greatest share.
            let greatest = second.policy.iter().copied().fold(0.0, f32::max);
            assert_eq!(greatest, second.policy[0]);
            assert_eq!(game.positions.position(2).features[0], second.features[0] + 1.0);
        }
        // The targets are the shares of the visits, whatever the temperature.
        let root = part.games[0].positions.position(0).policy.to_vec();
        assert!(root[0] > root[1] && root[1] > root[2] && root[2] > 0.0, "{root:?}");
        assert!((root.iter().map(|share| share * 12.0).map(|n| (n - n.round()).abs()).sum::<f32>()) < 1e-4);
        let powers: Vec<f64> = root.iter().map(|&p| f64::from(p).powf(1.0 / f64::from(temperature))).collect();
        for (count, power) in counts.iter().zip(&powers) {
            let expected = power / powers.iter().sum::<f64>();
            let tolerance = 5.0 * (expected * (1.0 - expected) / GAMES as f64).sqrt();
            let share = count / GAMES as f64;
            assert!((share - expected).abs() < tolerance, "{share} for {expected} at temperature {temperature}");
        }
    }
}

#[test]
fn the_temperature_counts_the_plies_of_the_opening() {
    let self_play =
        SelfPlayConfig { temperature: 0.75, temperature_plies: 5, final_temperature: 0.25, ..plain_self_play() };
    assert_eq!([0, 4, 5, 100].map(|ply| self_play.temperature_at(ply)), [0.75, 0.75, 0.25, 0.25]);
    // After an opening of one ply and more the temperature of the first ply is over.
    let toy = long_lines();
    let config = SelfPlayConfig { temperature: 10.0, temperature_plies: 1, opening_plies: 1, ..plain_self_play() };
    let part = played(&toy, 12, &plain_search(), &config, 200, Falling);
    let (mut openings, mut second) = (0, 0);
    for game in &part.games {
        let first = game.positions.position(0);
        assert_eq!(game.positions.len() + usize::from(first.plies_left != game.plies), usize::from(game.plies));
        if first.plies_left < game.plies {
            // The only choice left is made at temperature 0.
            openings += 1;
            second += usize::from(game.positions.position(1).features[0] != first.features[0] + 1.0);
        }
    }
    assert!((50..150).contains(&openings), "about half of 200 games have an opening: {openings}");
    assert_eq!(second, 0);
}

#[test]
fn the_search_of_a_ply_follows_its_temperature_and_its_kind() {
    let puct = SearchConfig::from(SearchKind::Puct);
    let Method::Puct(noisy) = puct.self_play(0.5).method else { panic!("PUCT was asked for") };
    assert_eq!(noisy.noise.map(|noise| (noise.concentration, noise.fraction)), Some((10.0, 0.25)));
    assert_eq!(noisy.forced_playouts, 2.0);
    let scale = |options: SearchOptions| match options.method {
        Method::Gumbel(gumbel) => gumbel.gumbel_scale,
        Method::Puct(_) => panic!("Gumbel search was asked for"),
    };
    let gumbel = SearchConfig::from(SearchKind::Gumbel);
    assert_eq!([0.0, 0.3, 1.0].map(|temperature| scale(gumbel.self_play(temperature))), [0.0, 0.3, 1.0]);
}

#[test]
fn workers_and_their_order_change_no_game() {
    let [floats, integers] = [Precision::F32, Precision::I8].map(workers_and_their_order);
    assert_ne!(floats, integers);
}

/// Returns the positions of the games that it compares.
fn workers_and_their_order(precision: Precision) -> Shard {
    let game = Mancala::default().with_params(&Params::new().with("stones", 2)).expect("valid parameters");
    let network = NetworkConfig::from(ResidualMlp { blocks: 0, width: 4 });
    let weights = Weights::random(&network.layout(&turnstone_agents::shape(&game.spec())).expect("a small network"), 1);
    let games = |threads, concurrent_games, games_per_iteration| {
        let self_play = SelfPlayConfig {
            threads,
            concurrent_games,
            games_per_iteration,
            precision,
            temperature: 1.0,
            ..plain_self_play()
        };
        let search = SearchConfig::default();
        let task = Task::new(
            GameSettings { simulations: 6, ..GameSettings::new(&search, &self_play, 1, 1) },
            &network,
            &weights,
        );
        let games =
            play(&game, &task, &SelfPlayCounters::default(), &Stop::default()).expect("sound").expect("not stopped");
        let stop = Stop::default();
        stop.raise();
        assert!(play(&game, &task, &SelfPlayCounters::default(), &stop).expect("sound").is_none());
        games
    };
    let (one, three) = (games(1, 4, 7), games(3, 2, 7));
    assert_eq!(one.shard, three.shard);
    assert_eq!(one.ends, three.ends);
    assert_eq!(one.ends.len(), 7);
    assert_eq!(one.stats.positions, three.stats.positions);
    assert_eq!(one.stats.positions as usize, one.shard.len());
    assert_eq!(one.ends.iter().map(|&(_, plies)| usize::from(plies)).sum::<usize>(), one.shard.len());
    // Games lie in the order of their numbers, their positions in the order of their plies.
    let first_two = games(2, 1, 2);
    assert_eq!(one.ends[..2], first_two.ends[..]);
    assert_eq!(one.ends[0].1 + one.ends[1].1, first_two.shard.len() as u16);
    (0..first_two.shard.len()).for_each(|i| assert_eq!(one.shard.position(i), first_two.shard.position(i)));
    let first = games(1, 1, 1);
    assert_eq!(first.ends, one.ends[..1]);
    assert_ne!(first.ends[0], one.ends[1], "games differ");
    one.shard
}

//! What a VecEnv costs beside the bare rules, per game and on one thread: `cargo bench -p turnstone-env --bench vec_env`.
//!
//! `playout` plays uniformly random games to their end, with legal actions and outcome for every ply; `vec_env` does the
//! same through a [`VecEnv`] of 256 games, observations and masks written. Rates are plies per second.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{ActionList, Game, VecEnv, for_each_game, playout};

const ENVS: usize = 256;
const GAMES: u64 = 1000;

fn bench_game<G: Game>(criterion: &mut Criterion, game: &G) {
    println!("{}: a state has {} bytes", G::NAME, size_of::<G::State>());
    let mut group = criterion.benchmark_group(G::NAME);
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));

    let play = |legal: &mut ActionList| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1); // the same games, so the same number of plies, every time
        (0..GAMES).map(|_| playout(game, &mut game.start(), legal, &mut rng).1).sum::<u64>()
    };
    let mut legal = ActionList::new();
    group.throughput(Throughput::Elements(play(&mut legal)));
    group.bench_function("playout", |bencher| bencher.iter(|| play(&mut legal)));

    let (mut envs, mut actions) = (VecEnv::new(game.clone(), ENVS), Vec::new());
    group.throughput(Throughput::Elements(ENVS as u64));
    group.bench_function("vec_env", |bencher| {
        bencher.iter(|| {
            envs.sample(&mut actions);
            envs.step(&actions).expect("sampled actions are legal").outcomes.len()
        });
    });
    group.finish();
}

fn all_games(criterion: &mut Criterion) {
    for_each_game!(G => bench_game(criterion, &G::default()));
}

criterion_group!(benches, all_games);
criterion_main!(benches);

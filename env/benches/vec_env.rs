//! What a VecEnv costs beside the bare rules, per game and on one thread: `cargo bench -p turnstone-env --bench vec_env`.
//!
//! `playout` plays uniformly random games to their end, with legal actions and outcome for every ply; `vec_env` does the
//! same through a [`VecEnv`] of 256 games, observations and masks written; `lanes` steps 1024 games into buffers of the
//! bench, with actions chosen from their lists, as the Python package is used. Rates are plies per second.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{Action, ActionList, AutoReset, DynGame, Erased, Game, VecBuffers, VecEnv, for_each_game, playout};

const ENVS: usize = 256;
const LANES: usize = 1024;
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
    bench_lanes(&mut group, game);
    group.finish();
}

fn bench_lanes<G: Game>(group: &mut BenchmarkGroup<'_, WallTime>, game: &G) {
    let mut lanes = Erased::new(game.clone()).lanes(LANES, 1, AutoReset::NextStep);
    let (tensor, all) = (lanes.spec().tensor_len(), lanes.spec().actions);
    let (mut observations, mut masks, mut rewards) =
        (vec![0.0; LANES * tensor], vec![false; LANES * all], vec![0.0; 2 * LANES]);
    let (mut terminated, mut truncated, mut movers) = ([false; LANES], [false; LANES], [0; LANES]);
    let (mut legal, mut counts, mut starts) = (vec![0; LANES * all], [0; LANES], [0; LANES + 1]);
    let (mut actions, mut rng) = (Vec::new(), Xoshiro256PlusPlus::seed_from_u64(1));
    lanes.legal_lists(&mut legal, &mut counts, &mut starts);
    group.throughput(Throughput::Elements(LANES as u64));
    group.bench_function("lanes", |bencher| {
        bencher.iter(|| {
            let choice = |(&start, &count): (&i64, &u16)| {
                let nth = (u64::from(rng.next_u32()) * u64::from(count)) >> 32;
                Action(legal[start as usize + nth as usize])
            };
            actions.clear();
            actions.extend(starts.iter().zip(&counts).map(choice));
            let mut out = VecBuffers {
                observations: &mut observations,
                masks: &mut masks,
                rewards: &mut rewards,
                terminated: &mut terminated,
                truncated: &mut truncated,
                movers: &mut movers,
            };
            lanes.step(&actions, &mut out).expect("listed actions are legal");
            lanes.legal_lists(&mut legal, &mut counts, &mut starts);
        });
    });
}

fn all_games(criterion: &mut Criterion) {
    for_each_game!(G => bench_game(criterion, &G::default()));
}

criterion_group!(benches, all_games);
criterion_main!(benches);

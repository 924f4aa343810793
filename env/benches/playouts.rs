//! Plies per second of uniformly random playouts on one thread, legal actions and outcome of every state included.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{ActionList, Game, for_each_game, playout};

/// Plies that count as one iteration; whole games are played, so a measurement overshoots by less than one game.
const PLIES: u64 = 10_000;

fn playouts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("playouts");
    group.throughput(Throughput::Elements(PLIES));
    for_each_game!(G => {
        println!("{}: a state takes {} bytes", G::NAME, size_of::<<G as Game>::State>());
        let game = G::default();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut legal = ActionList::new();
        group.bench_function(G::NAME, |bencher| {
            bencher.iter_custom(|iterations| {
                let (start, mut plies) = (Instant::now(), 0);
                while plies < iterations * PLIES {
                    plies += black_box(playout(&game, &mut game.start(), &mut legal, &mut rng)).1;
                }
                start.elapsed()
            });
        });
    });
    group.finish();
}

criterion_group!(benches, playouts);
criterion_main!(benches);

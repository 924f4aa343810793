//! Plies per second of uniformly random playouts on one thread, legal actions and outcome of every state included.

use std::hint::black_box;
use std::mem::size_of_val;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{self, AnyGame};
use turnstone_env::{ActionList, Game, Params, playout, with_game};

/// Plies that count as one iteration; whole games are played, so a measurement overshoots by less than one game.
const PLIES: u64 = 10_000;

fn playouts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("playouts");
    group.throughput(Throughput::Elements(PLIES));
    for name in games::NAMES {
        let any = AnyGame::new(name, &Params::new()).expect("a game of the list");
        with_game!(&any, |game| {
            println!("{name}: a state takes {} bytes", size_of_val(&game.start()));
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
            let mut legal = ActionList::new();
            group.bench_function(*name, |bencher| {
                bencher.iter_custom(|iterations| {
                    let (start, mut plies) = (Instant::now(), 0);
                    while plies < iterations * PLIES {
                        plies += black_box(playout(game, &mut game.start(), &mut legal, &mut rng)).1;
                    }
                    start.elapsed()
                });
            });
        });
    }
    group.finish();
}

criterion_group!(benches, playouts);
criterion_main!(benches);

//! Simulations of tree search without a network: the cost of the tree itself.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::Game;
use turnstone_env::games::{Konane, Mancala, Morris};
use turnstone_search::{Gumbel, Mcts, Method, Puct, Uniform};

const SIMULATIONS: u32 = 100;

fn moves<G: Game>(c: &mut Criterion, game: &G) {
    let mut group = c.benchmark_group(G::NAME);
    group.throughput(Throughput::Elements(u64::from(SIMULATIONS)));
    let methods = [("puct", Method::Puct(Puct::default())), ("gumbel", Method::Gumbel(Gumbel::default()))];
    for (name, method) in methods {
        let mut search = Mcts::new(game, game.start());
        group.bench_function(name, |bencher| {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
            bencher.iter(|| {
                if game.outcome(search.state()).is_some() {
                    search.reset(game, game.start());
                }
                search.begin(game, &method.into(), SIMULATIONS, &mut rng);
                search.run(game, &mut Uniform);
                let action = search.choose(1.0, &mut rng);
                search.advance(game, action);
                black_box(action)
            });
        });
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    moves(c, &Mancala::default());
    moves(c, &Morris::default());
    moves(c, &Konane::default());
}

criterion_group!(benches, all);
criterion_main!(benches);

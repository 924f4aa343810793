//! Plies per second of uniformly random playouts on one thread, legal actions and outcome of every state included.

use std::hint::black_box;
use std::mem::size_of_val;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{self, AnyGame};
use turnstone_env::{ActionList, Game, Params, with_game};

/// Plies per iteration; games that end are followed by new ones.
const PLIES: u64 = 10_000;

/// One stream of random games, resumed where the last call left off.
struct Playouts<'a, G: Game> {
    game: &'a G,
    state: G::State,
    legal: ActionList,
    rng: Xoshiro256PlusPlus,
}

impl<'a, G: Game> Playouts<'a, G> {
    fn new(game: &'a G) -> Self {
        let (state, rng) = (game.start(), Xoshiro256PlusPlus::seed_from_u64(1));
        Self { game, state, legal: ActionList::new(), rng }
    }

    fn play(&mut self, plies: u64) {
        for _ in 0..plies {
            self.game.legal(&self.state, &mut self.legal);
            // An index by multiplication and shift: as good as uniform for lists this short, and without a division.
            let index = ((self.rng.next_u64() >> 32) * self.legal.len() as u64) >> 32;
            self.game.play(&mut self.state, self.legal[index as usize]);
            if black_box(self.game.outcome(&self.state)).is_some() {
                self.state = self.game.start();
            }
        }
    }
}

fn playouts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("playouts");
    group.throughput(Throughput::Elements(PLIES));
    for name in games::NAMES {
        let any = AnyGame::new(name, &Params::new()).expect("a game of the list");
        with_game!(&any, |game| {
            println!("{name}: a state takes {} bytes", size_of_val(&game.start()));
            let mut playouts = Playouts::new(game);
            group.bench_function(*name, |bencher| bencher.iter(|| playouts.play(PLIES)));
        });
    }
    group.finish();
}

criterion_group!(benches, playouts);
criterion_main!(benches);

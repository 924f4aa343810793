//! Random positions of Konane solved: `cargo run --release --example konane_endings -- [plies] [positions] [nodes] [threads]`.

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Konane;
use turnstone_env::{ActionList, Game};
use turnstone_exact::SolveLimits;
use turnstone_games::konane::KonaneSolver;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let (plies, positions) = (arguments.next().unwrap_or(28), arguments.next().unwrap_or(10));
    let most = arguments.next().unwrap_or(1_000_000);
    let threads = arguments.next().unwrap_or(1) as usize;
    let (game, mut rng) = (Konane::default(), Xoshiro256PlusPlus::seed_from_u64(1));
    let (mut legal, mut solved, mut nodes, mut asked) = (ActionList::new(), 0, 0, 0);
    let begun = Instant::now();
    let mut list = Vec::new();
    while asked < positions {
        let mut state = game.start();
        for _ in 0..plies {
            game.legal(&state, &mut legal);
            if legal.is_empty() {
                break;
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
        if game.outcome(&state).is_some() {
            continue;
        }
        asked += 1;
        let solver = KonaneSolver::new(1 << 22);
        solved += u64::from(solver.winner(&game, &state, &SolveLimits::nodes(most).with_threads(threads)).is_some());
        nodes += solver.nodes();
        list.push(solver.nodes());
    }
    println!("{plies} plies: {solved} of {asked} solved, {nodes} nodes, {:.1?}", begun.elapsed());
    println!("{list:?}");
}

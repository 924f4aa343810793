//! Exact margins of Mancala: `cargo run --release --example mancala_values -- [table stones] [positions] [threads] [entries]`.
//!
//! Asks for the margin and all best moves of the start, then of positions of random games, and prints nodes and times.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Mancala;
use turnstone_env::{ActionList, Game};
use turnstone_exact::{Silent, SolveLimits};
use turnstone_games::mancala::{MancalaEndgames, MancalaSolver};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (covered, positions, threads, entries) = (number(14), number(100), number(2), number(1 << 22));
    let game = Mancala::default();
    let path = std::env::temp_dir().join(format!("mancala-{covered}.table"));
    let begun = Instant::now();
    let endgames = MancalaEndgames::open(&game, &path).unwrap_or_else(|_| {
        let table = MancalaEndgames::build(&game, covered, 2, &Silent);
        table.save(&path).expect("a file in the folder for temporary files");
        table
    });
    println!("endgames of {} stones, {:.1?}", endgames.stones(), begun.elapsed());
    let solver = MancalaSolver::new(&game, Some(endgames), entries);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut costs: Vec<(Duration, u64)> = Vec::new();
    let mut legal = ActionList::new();
    for number in 0..=positions {
        let mut state = game.start();
        // The start first, then a position of any phase.
        let plies = if number == 0 { 0 } else { rng.random_range(0..40) };
        for _ in 0..plies {
            let mut next = state;
            game.legal(&state, &mut legal);
            game.play(&mut next, legal[rng.random_range(0..legal.len())]);
            if game.outcome(&next).is_some() {
                break;
            }
            state = next;
        }
        let begun = Instant::now();
        let best = solver.best_margin(&game, &state, &SolveLimits::NONE.with_threads(threads));
        let (margin, actions) = best.expect("there is no limit");
        costs.push((begun.elapsed(), solver.nodes()));
        let actions: Vec<String> = actions.iter().map(|&action| game.action_text(action)).collect();
        let (time, nodes) = costs[number];
        println!("{} ; {margin:+} ; {} ; {nodes} nodes, {time:.1?}", game.position_text(&state), actions.join(" "));
    }
    costs.sort_unstable();
    println!("median {:.1?}, longest {:.1?}", costs[costs.len() / 2].0, costs[costs.len() - 1].0);
}

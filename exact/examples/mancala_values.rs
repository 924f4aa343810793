//! Exact values of Mancala's start: `cargo run --release --example mancala_values -- [stones] [table stones]`.

use std::time::Instant;

use turnstone_env::games::Mancala;
use turnstone_env::{Game, Params};
use turnstone_exact::{MancalaEndgames, MancalaSolver, Silent};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let (stones, covered) = (arguments.next().unwrap_or(3), arguments.next().unwrap_or(12));
    let entries = 1 << arguments.next().unwrap_or(22);
    let params = Params::new().with("stones", stones);
    let game = Mancala::with_params(&params).expect("a number of stones");
    let begun = Instant::now();
    let endgames = MancalaEndgames::build(&game, covered, 2, &Silent);
    println!("{:?} in {:.1?}", MancalaEndgames::size(&game, covered), begun.elapsed());
    let mut solver = MancalaSolver::new(&game, Some(endgames), entries);
    let margin = solver.solve(&game, &game.start(), u64::MAX);
    println!("{margin:?} with {} nodes after {:.1?}", solver.nodes(), begun.elapsed());
}

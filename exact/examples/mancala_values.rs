//! Exact values of Mancala's start: `cargo run --release --example mancala_values -- [stones] [table stones] [entries]`.

use std::time::Instant;

use turnstone_env::games::Mancala;
use turnstone_env::{Game, Params};
use turnstone_exact::{MancalaEndgames, MancalaSolver, Silent, SolveLimits};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let (stones, covered) = (arguments.next().unwrap_or(3), arguments.next().unwrap_or(12));
    let entries = 1 << arguments.next().unwrap_or(22);
    let params = Params::new().with("stones", stones);
    let game = Mancala::with_params(&params).expect("a number of stones");
    let begun = Instant::now();
    let path = std::path::PathBuf::from(format!("/tmp/ex-{covered}.table"));
    let _ = MancalaEndgames::open(&game, &path).unwrap_or_else(|_| {
        let table = MancalaEndgames::build(&game, covered, 2, &Silent);
        table.save(&path).unwrap();
        table
    });
    println!("{:?} in {:.1?}", MancalaEndgames::size(&game, covered), begun.elapsed());
    let endgames = MancalaEndgames::open(&game, &path).unwrap();
    let solver = MancalaSolver::new(&game, Some(endgames), entries);
    let threads = arguments.next().unwrap_or(1);
    for text in [
        "4,4,4,4,4,4/0 4,4,4,4,4,4/0 1",
        "1,0,7,7,7,1/2 0,6,6,7,1,1/2 2",
        "2,1,0,8,8,2/3 1,7,8,1,2,2/3 2",
        "6,6,5,1,6,1/2 0,1,5,6,0,6/3 1",
        "2,1,8,7,7,1/2 1,7,7,0,1,1/3 1",
    ] {
        let Ok(state) = game.parse_position(text) else { continue };
        let begun = Instant::now();
        let margin = solver.solve(&game, &state, &SolveLimits::NONE.with_threads(threads));
        let nodes = solver.nodes();
        let best = solver.best_margin(&game, &state, &SolveLimits::NONE.with_threads(threads));
        println!("{text}: {margin:?} {nodes} nodes, {best:?} {} nodes after {:.1?}", solver.nodes(), begun.elapsed());
    }
}

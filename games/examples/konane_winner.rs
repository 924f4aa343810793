//! The winner of Konane from the start: `cargo run --release --example konane_winner -- [size] [entries, as a power of 2]`.

use std::time::Instant;

use turnstone_env::games::Konane;
use turnstone_env::{Game, Params};
use turnstone_exact::SolveLimits;
use turnstone_games::konane::KonaneSolver;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>().expect("a number"));
    let (size, entries) = (arguments.next().unwrap_or(6), arguments.next().unwrap_or(22));
    for first_player in ["X", "O"] {
        let game = Konane::with_params(&Params::new().with("size", size).with("first_player", first_player));
        let game = game.expect("an even size");
        let solver = KonaneSolver::new(1 << entries);
        let begun = Instant::now();
        let winner = solver.winner(&game, &game.start(), &SolveLimits::NONE);
        println!("{first_player} begins: {winner:?} wins, {} nodes, {:.1?}", solver.nodes(), begun.elapsed());
    }
}

//! Morabaraba's endgames: `cargo run --release --example morabaraba_endgames -- FOLDER [cows]`.

use std::path::PathBuf;
use std::time::Instant;

use turnstone_env::games::Morabaraba;
use turnstone_exact::Progress;
use turnstone_games::morabaraba::MorabarabaEndgames;

/// Prints every goal when it is done.
struct Lines;

impl Progress for Lines {
    fn begin(&self, _: &str, _: u64) {}

    fn advance(&self, _: u64) {}

    fn end(&self, layer: &str, summary: &str) {
        println!("{layer}: {summary}");
    }

    fn stopped(&self) -> bool {
        false
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("the folder is missing")?);
    let cows = arguments.next().map_or(Ok(7), |cows| cows.parse())?;
    let game = Morabaraba::default();
    println!("{:?}", MorabarabaEndgames::sizes(&game, cows));
    for cows in 6..=cows {
        let begun = Instant::now();
        MorabarabaEndgames::build(&game, &folder, cows, 2, &Lines)?;
        println!("up to {cows} cows: {:.1?}", begun.elapsed());
    }
    Ok(())
}

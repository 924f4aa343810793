//! Prints the lines by which the page is compared with the native program, and measures simulations per second:
//! `agreement lines GAME COUNT SPEC CHECKPOINT KERNEL`, `agreement rate GAME SPEC CHECKPOINT KERNEL`. The kernel is `best`, or
//! `portable`, `avx2` and so on to use no better one.

use std::process::ExitCode;
use std::time::Instant;

use turnstone_models::Instructions;
use turnstone_web::{Searcher, Table, agreement};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this program runs on the machine, not on the page")]
fn run(arguments: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    match *arguments {
        ["lines", game, count, spec, checkpoint, kernel] => {
            let network = std::fs::read(checkpoint)?;
            for line in agreement::lines(game, count.parse()?, spec, Some(&network), instructions(kernel)?)? {
                println!("{line}");
            }
        }
        ["rate", game, spec, checkpoint, kernel] => {
            let network = std::fs::read(checkpoint)?;
            let table = Table::new(game, "{}")?;
            let board: serde_json::Value = serde_json::from_str(&table.board())?;
            let start = board["start"].as_str().expect("a board has a start").to_owned();
            let kernel = instructions(kernel)?;
            let mut searcher = Searcher::with_instructions(table, spec, Some(&network), 1, kernel)?;
            let (begin, mut simulations) = (Instant::now(), 0);
            while begin.elapsed().as_secs_f64() < 2.0 {
                searcher.begin(&start, 400)?;
                while !searcher.advance(1000.0).expect("no fault") {}
                let report: serde_json::Value = serde_json::from_str(&searcher.report()?)?;
                simulations += report["visits"].as_u64().unwrap_or_default();
            }
            println!("{:.0}", simulations as f64 / begin.elapsed().as_secs_f64());
        }
        _ => {
            return Err(
                "expected `lines GAME COUNT SPEC CHECKPOINT KERNEL` or `rate GAME SPEC CHECKPOINT KERNEL`".into()
            );
        }
    }
    Ok(())
}

fn instructions(name: &str) -> Result<Instructions, String> {
    if name != "best" {
        name.parse::<Instructions>()?.limit();
    }
    Ok(Instructions::best())
}

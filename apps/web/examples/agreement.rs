//! Prints the lines by which the page is compared with the native program, and measures the rate of the portable kernel:
//! `agreement lines GAME COUNT SPEC CHECKPOINT [portable|best]`, `agreement rate GAME CHECKPOINT [portable|best]`.

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

fn run(arguments: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    match *arguments {
        ["lines", game, count, spec, checkpoint, kernel] => {
            let network = std::fs::read(checkpoint)?;
            for line in agreement::lines(game, count.parse()?, spec, Some(&network), instructions(kernel)?)? {
                println!("{line}");
            }
        }
        ["rate", game, checkpoint, kernel] => {
            let network = std::fs::read(checkpoint)?;
            let table = Table::new(game, "{}")?;
            let board: serde_json::Value = serde_json::from_str(&table.board())?;
            let start = board["start"].as_str().expect("a board has a start").to_owned();
            let kernel = instructions(kernel)?;
            let mut searcher = Searcher::with_instructions(table, "az:pretrained", Some(&network), 1, kernel)?;
            let (begin, mut simulations) = (Instant::now(), 0);
            while begin.elapsed().as_secs_f64() < 2.0 {
                searcher.begin(&start, 400)?;
                while !searcher.advance(1000.0) {}
                let report: serde_json::Value = serde_json::from_str(&searcher.report()?)?;
                simulations += report["visits"].as_u64().unwrap_or_default();
            }
            println!("{:.0}", simulations as f64 / begin.elapsed().as_secs_f64());
        }
        _ => return Err("expected `lines GAME COUNT SPEC CHECKPOINT KERNEL` or `rate GAME CHECKPOINT KERNEL`".into()),
    }
    Ok(())
}

fn instructions(name: &str) -> Result<Instructions, String> {
    match name {
        "portable" => Ok(Instructions::Portable),
        "best" => Ok(Instructions::best()),
        _ => Err(format!("a kernel is `portable` or `best`, not `{name}`")),
    }
}

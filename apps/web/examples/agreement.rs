//! Prints the lines by which the page is compared with the native program, one per position of random games, and measures simulations per second:
//! `agreement lines GAME COUNT SPEC CHECKPOINT KERNEL`, `agreement rate GAME SPEC CHECKPOINT KERNEL`. The kernel is `best`, or
//! `portable`, `avx2` and so on to use no better one.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

use rand::RngExt;
use serde_json::Value;
use turnstone_base::streams::{Purpose, stream};
use turnstone_models::Instructions;
use turnstone_web::{Fault, Searcher, Table};

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
            let table = Table::new(game, "{}")?;
            limit(kernel)?;
            let mut searcher = Searcher::new(table.clone(), spec, Some(&network), 1)?;
            for number in 0..count.parse()? {
                println!("{}", line(&table, &mut searcher, &position(&table, number)?)?);
            }
        }
        ["rate", game, spec, checkpoint, kernel] => {
            let network = std::fs::read(checkpoint)?;
            let table = Table::new(game, "{}")?;
            let board: serde_json::Value = serde_json::from_str(&table.board())?;
            let start = board["start"].as_str().expect("a board has a start").to_owned();
            limit(kernel)?;
            let mut searcher = Searcher::new(table, spec, Some(&network), 1)?;
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

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("the module writes JSON")
}

/// A running position of a random game.
fn position(table: &Table, game: u64) -> Result<String, Fault> {
    let mut rng = stream(17, Purpose::Sample, [game, 0]);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut running = vec![text(&parsed(&table.board())["start"])];
    loop {
        let position = running.last().expect("the start");
        let view = parsed(&table.view(position)?);
        if !view["outcome"].is_null() {
            running.pop();
            return Ok(running.swap_remove(rng.random_range(0..running.len())));
        }
        let legal = view["legal"].as_array().expect("a list");
        let action = text(&legal[rng.random_range(0..legal.len())]["action"]);
        running.push(table.play(position, &action)?);
    }
}

/// The position, checksums of its drawing and of all that the page shows, priors and value as bits, and the agent's move.
fn line(table: &Table, searcher: &mut Searcher, position: &str) -> Result<String, Fault> {
    let view = table.view(position)?;
    let checksum = |text: &str| crc32fast::hash(text.as_bytes());
    let drawing = checksum(parsed(&view)["drawing"].as_str().unwrap_or_default());
    let mut line = format!("{position} | {drawing:08x} {:08x} |", checksum(&view));
    let prediction = parsed(&searcher.predict(position)?);
    let bits = |value: &Value| (value.as_f64().unwrap_or(f64::NAN) as f32).to_bits();
    for prior in prediction["priors"].as_array().into_iter().flatten() {
        write!(line, " {:08x}", bits(&prior["prior"])).expect("a string");
    }
    write!(line, " : {:08x} {:08x} |", bits(&prediction["value"]), bits(&prediction["draw"])).expect("a string");
    Ok(format!("{line} {}", searcher.choose(position, None, &mut |_| {})?))
}

/// Computes with no better instructions than these from now on.
fn limit(kernel: &str) -> Result<(), String> {
    if kernel != "best" {
        kernel.parse::<Instructions>()?.limit();
    }
    Ok(())
}

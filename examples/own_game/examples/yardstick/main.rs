//! Writes the yardstick: positions of known value in nine classes, as truth sets for `grade --positions`.
//!
//! ```sh
//! cargo run --release --no-default-features --example yardstick -- --out yardstick
//! ```

mod classes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fs, thread};

use classes::{Assessed, CLASSES, Class, ENTRIES};
use own_game::{ConnectFour, Solver};
use turnstone_env::Rules;

const USAGE: &str = "usage: yardstick [--class NAME] [--count POSITIONS] --out FOLDER";

struct Arguments {
    classes: Vec<Class>,
    count: usize,
    out: PathBuf,
}

fn arguments(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut classes, mut count, mut out) = (CLASSES.to_vec(), 250, None);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value; {USAGE}"));
        match word.as_str() {
            "--class" => {
                let name = value()?;
                classes.retain(|class| class.name == name);
                if classes.is_empty() {
                    return Err(format!(
                        "`{name}` is no class; expected one of {}",
                        CLASSES.map(|c| c.name).join(", ")
                    ));
                }
            }
            "--count" => {
                let text = value()?;
                count = text.parse().map_err(|_| format!("--count: `{text}` is no number"))?;
            }
            "--out" => out = Some(value()?.into()),
            _ => return Err(format!("unexpected `{word}`; {USAGE}")),
        }
    }
    Ok(Arguments { classes, count, out: out.ok_or(USAGE)? })
}

/// The first positions of a class. Threads take candidates in turn; what they find is put in order, so that their number
/// makes no difference.
fn positions(class: &Class, count: usize) -> Vec<Assessed> {
    let candidates = Mutex::new(class.candidates().enumerate());
    let found = Mutex::new(Found { first: Vec::new(), later: BTreeMap::new(), next: 0 });
    let is_full = AtomicBool::new(count == 0);
    let work = || {
        let mut solver = Solver::new(ENTRIES);
        while !is_full.load(Ordering::Relaxed) {
            let Some((number, state)) = candidates.lock().expect("no thread panics").next() else { return };
            let assessed = class.assess(state, &mut solver);
            let mut found = found.lock().expect("no thread panics");
            let before = found.first.len();
            found.put(number, assessed);
            let now = found.first.len().min(count);
            if now / 25 > before / 25 {
                eprintln!("{}: {now} of {count}", class.name);
            }
            is_full.store(now == count, Ordering::Relaxed);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut positions = found.into_inner().expect("no thread panics").first;
    positions.truncate(count);
    positions
}

/// Positions of the candidates before `next`, and results of later ones.
struct Found {
    first: Vec<Assessed>,
    later: BTreeMap<usize, Option<Assessed>>,
    next: usize,
}

impl Found {
    fn put(&mut self, number: usize, result: Option<Assessed>) {
        self.later.insert(number, result);
        while let Some(result) = self.later.remove(&self.next) {
            self.first.extend(result);
            self.next += 1;
        }
    }
}

/// Writes the file of a class.
fn write(class: &Class, count: usize, out: &Path) -> Result<(), String> {
    let positions = positions(class, count);
    let lines: String = positions.iter().map(|position| position.line() + "\n").collect();
    let header = format!(
        r#"{{"turnstone_truth":1,"game":"{}","version":{},"params":{{}},"checksum":"{:08x}"}}"#,
        ConnectFour.spec().name,
        ConnectFour.spec().version,
        crc32fast::hash(lines.as_bytes())
    );
    let path = out.join(format!("{}.txt", class.name));
    fs::write(&path, format!("{header}\n{lines}")).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}", summary(class, positions));
    Ok(())
}

/// A row of a Markdown table: number of positions; of won, drawn and lost ones; of critical ones, in which some action
/// loses value; median effort.
fn summary(class: &Class, mut positions: Vec<Assessed>) -> String {
    let count = |value: i8| positions.iter().filter(|position| position.value() == value).count();
    let values = [1, 0, -1].map(count).map(|count| count.to_string()).join(", ");
    let loses_value = |position: &Assessed| position.actions.iter().any(|&(_, value)| value != position.value());
    let critical = positions.iter().filter(|position| loses_value(position)).count();
    positions.sort_by_key(|position| position.nodes);
    let median = positions.get(positions.len() / 2).map_or(0, |position| position.nodes);
    format!("| {} | {} | {values} | {critical} | {median} |", class.name, positions.len())
}

fn run() -> Result<(), String> {
    let Arguments { classes, count, out } = arguments(env::args().skip(1))?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    println!("| class | positions | won, drawn, lost for the mover | critical | median nodes |");
    println!("|---|---|---|---|---|");
    classes.iter().try_for_each(|class| write(class, count, &out))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("yardstick: {fault}");
            ExitCode::FAILURE
        }
    }
}

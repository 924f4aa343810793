//! Writes the examples of every target to a folder: `corpus FOLDER` makes `FOLDER/<target>/<number>`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: corpus FOLDER");
        return ExitCode::from(2);
    };
    for target in turnstone_fuzz::TARGETS {
        let place = folder.join(target.name);
        let written = std::fs::create_dir_all(&place).and_then(|()| {
            let examples = (target.examples)();
            examples.iter().enumerate().try_for_each(|(i, bytes)| std::fs::write(place.join(format!("{i:03}")), bytes))
        });
        if let Err(error) = written {
            eprintln!("error: {}: {error}", place.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

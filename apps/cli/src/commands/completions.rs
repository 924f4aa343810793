//! `turnstone completions` and `turnstone man`: what a shell and a manual know of the command line.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone completions bash > turnstone
      for bash, in ~/.local/share/bash-completion/completions
  turnstone completions fish > ~/.config/fish/completions/turnstone.fish
      for fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Prints the completion script for the whole command line.
    pub(crate) fn run(&self, mut program: Command) -> ExitCode {
        let name = program.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, name, &mut script);
        print!("{}", String::from_utf8_lossy(&script));
        ExitCode::SUCCESS
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone man --out ~/.local/share/man/man1
      install a page for every command
  turnstone man | man -l -
      read the program's page")]
pub(crate) struct Man {
    /// Write a page for every command into this folder, which is created if necessary [default: print the program's page]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    /// Writes the manual pages.
    pub(crate) fn run(&self, program: Command) -> Result<ExitCode> {
        match &self.out {
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(program).render(&mut page)?;
                print!("{}", String::from_utf8_lossy(&page));
            }
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .and_then(|()| clap_mangen::generate_to(program, folder))
                    .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
                println!("{}: a page for every command; read one with `man {0}/turnstone-play.1`", folder.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

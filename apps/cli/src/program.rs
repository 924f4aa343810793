//! The program: its list of games, error output and exit codes.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use turnstone_agents::{AgentKind, Playable, register_agent};
use turnstone_base::terminal::print_stderr;
use turnstone_base::text::printable;
use turnstone_env::Rules;
use turnstone_models::{NetworkKind, register_network};
use turnstone_selfplay::{Games, row};
use turnstone_trainer::targets::{Target, register_target};

use crate::cli::Cli;
use crate::output::one_line;
use crate::program_name::{as_called, call_program};

/// The `turnstone` program with its list of games.
#[derive(Clone, Debug)]
pub struct Program {
    games: Games,
    /// The first game that was added, which the examples in the help name.
    pub(crate) added: Option<&'static str>,
}

impl Default for Program {
    fn default() -> Self {
        Self::from(turnstone_games::list!(row))
    }
}

/// The program with these games.
impl From<Games> for Program {
    fn from(games: Games) -> Self {
        Self { games, added: None }
    }
}

impl Program {
    /// Creates the program with the built-in games.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a game, by the type that says what is known about it. It replaces a game of the same name.
    #[must_use]
    pub fn with<K: Playable<Game: Default>>(mut self) -> Self {
        self.games = self.games.with(row::<K>());
        self.added.get_or_insert_with(|| K::Game::default().spec().name);
        self
    }

    /// Adds a kind of network: configs can name it, and it is trained, played and exported like the built-in ones.
    ///
    /// # Panics
    /// If a kind of this name is built in.
    #[must_use]
    pub fn with_network<K: NetworkKind>(self) -> Self {
        register_network::<K>();
        self
    }

    /// Adds a kind of agents: it can be named wherever an agent is, in matches, games, the engine and configs.
    ///
    /// # Panics
    /// If there is another kind of this name.
    #[must_use]
    pub fn with_agent<K: AgentKind>(self) -> Self {
        register_agent::<K>();
        self
    }

    /// Adds a target: configs can name it in `learn.targets`, so that a network learns to predict it as well.
    ///
    /// # Panics
    /// If there is another target of this name.
    #[must_use]
    pub fn with_target<T: Target>(self) -> Self {
        register_target::<T>();
        self
    }

    /// Returns the list of games.
    #[must_use]
    pub fn games(&self) -> &Games {
        &self.games
    }

    /// Parses the arguments of the process, runs the command and returns its exit code. Prints an error as one line to
    /// standard error.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        self.main_from(std::env::args_os())
    }

    /// [`Program::main`] with these arguments, the first of which is the program's name.
    #[must_use]
    pub fn main_from(&self, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        arguments.first().into_iter().for_each(|name| call_program(Path::new(name)));
        end_with_the_reader();
        let cli = match Cli::from_arguments(&arguments, self.added) {
            Ok(cli) => cli,
            Err(error) => {
                let printed = print_called(&error);
                let code = ExitCode::from(error.exit_code() as u8);
                // Help and versions go to standard output; where a fault cannot be printed there is no other place for it.
                return if error.use_stderr() { code } else { written(printed, code) };
            }
        };
        match cli.run(&self.games, self.added) {
            Ok(code) => written(Ok(()), code),
            Err(error) => {
                // Errors quote what files contain.
                print_stderr(format_args!("error: {}", as_called(&one_line(&format!("{error:#}"), "..."))));
                ExitCode::FAILURE
            }
        }
    }
}

/// Prints a fault of the command line, or the help that was asked for.
fn print_called(error: &clap::Error) -> io::Result<()> {
    let rendered = error.render();
    let (text, plain) = (rendered.ansi().to_string(), rendered.to_string());
    // Clap quotes arguments, which may have been pasted.
    let text = if printable(&plain) == plain { text } else { printable(&plain) };
    // Colours are omitted where clap omits them.
    if error.use_stderr() {
        write!(anstream::stderr(), "{}", as_called(&text))
    } else {
        write!(anstream::stdout(), "{}", as_called(&text))
    }
}

/// The exit code of a program whose standard output was to be written like this, once its buffer is written too.
fn written(output: io::Result<()>, code: ExitCode) -> ExitCode {
    match output.and_then(|()| io::stdout().flush()) {
        Ok(()) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(141), // as after SIGPIPE
        Err(error) => {
            print_stderr(format_args!("error: standard output: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Installs a panic hook that ends the program quietly when standard output is closed (`| head`), like SIGPIPE, which
/// Rust's runtime ignores, and with one line when standard output cannot be written for another reason.
#[expect(clippy::disallowed_methods, reason = "nothing can read the output any more")]
fn end_with_the_reader() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        if let Some(fault) = message.strip_prefix("failed printing to stdout: ") {
            if fault.contains("Broken pipe") {
                std::process::exit(141);
            }
            print_stderr(format_args!("error: standard output: {fault}"));
            std::process::exit(1);
        }
        print(info);
    }));
}

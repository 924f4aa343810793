//! The documentation shows commands that this program has: every line of a shell and every command in a sentence is parsed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::{Cli, definition};
use crate::program::Program;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Markdown files of a folder but the changelog, whose old entries name removed options.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let kind = entry.file_type().expect("its type");
        if kind.is_dir() && !name.starts_with('.') && !["target", "node_modules"].contains(&&*name) {
            pages(&path, found);
        } else if kind.is_file() && name.ends_with(".md") && name != "CHANGELOG.md" {
            found.push(path);
        }
    }
}

/// The words of each command of a text for a shell: quoted parts are words, comments and redirections are omitted.
pub(crate) fn commands(text: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let (mut quote, mut is_target) = (None, false);
    let text = text.replace("\\\n", " ");
    let mut letters = text.chars().chain(['\n']).peekable();
    while let Some(letter) = letters.next() {
        match letter {
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(letter),
            '"' | '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            '#' if word.is_none() => while letters.next_if(|&next| next != '\n').is_some() {},
            ' ' | '\n' | '|' | '&' | ';' | '<' | '>' | '(' | ')' => {
                if let Some(word) = word.take().filter(|_| !std::mem::take(&mut is_target)) {
                    words.push(word);
                }
                match letter {
                    ' ' => {}
                    '<' | '>' => is_target = true,
                    _ => all.push(std::mem::take(&mut words)),
                }
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    all.retain(|words: &Vec<String>| !words.is_empty());
    all
}

/// The arguments of this program in a command: after its name, or after `cargo run` and `--`. Files of the repository are
/// found from any folder.
fn arguments(words: &[String]) -> Option<Vec<OsString>> {
    let is_setting =
        |word: &&String| word.split_once('=').is_some_and(|(name, _)| name.chars().all(char::is_alphanumeric));
    let settings = words.iter().take_while(is_setting).count();
    let (program, rest) = words[settings..].split_first()?;
    let rest = match program.rsplit('/').next()? {
        "turnstone" | "own_game" | "$own" => rest,
        "cargo" if rest.first()? == "run" && !rest.iter().any(|word| ["-p", "--example"].contains(&&**word)) => {
            &rest[rest.iter().position(|word| word == "--")? + 1..]
        }
        _ => return None,
    };
    let found = |word: &String| match root().join(word) {
        file if file.is_file() => file.into_os_string(),
        _ => word.into(),
    };
    Some([OsString::from("turnstone")].into_iter().chain(rest.iter().map(found)).collect())
}

/// The blocks for a shell, and the code in sentences.
fn shown(page: &str) -> (String, Vec<String>) {
    let (mut blocks, mut prose, mut block) = (String::new(), String::new(), None);
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), block) {
            (Some(language), None) => block = Some(language.starts_with("sh")),
            (Some(_), Some(_)) => block = None,
            (None, Some(true)) => blocks.extend([line, "\n"]),
            (None, Some(false)) => {}
            (None, None) => prose.extend([line, "\n"]),
        }
    }
    (blocks, prose.split('`').skip(1).step_by(2).map(|code| code.replace('\n', " ")).collect())
}

/// The fault of a command, if it has one. Commands in sentences may lack arguments and values, or have placeholders.
fn fault(arguments: &[OsString], is_whole: bool, program: &Program) -> Option<String> {
    let error = Cli::from_arguments(arguments, program.added).err()?;
    let is_placeholder = |context| match error.get(context) {
        Some(ContextValue::String(value)) => !value.contains(|c: char| c.is_lowercase()),
        _ => false,
    };
    let is_allowed = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
        ErrorKind::MissingRequiredArgument => !is_whole,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => !is_whole && is_placeholder(ContextKind::InvalidValue),
        _ => false,
    };
    (!is_allowed).then(|| error.to_string())
}

#[test]
fn commands_of_the_documentation_parse() {
    let mut files = Vec::new();
    pages(&root(), &mut files);
    let program = Program::new();
    let (mut seen, mut faults) = ([0, 0], Vec::new());
    for file in files {
        let (blocks, code) = shown(&fs::read_to_string(&file).expect("a page"));
        let is_command = |code: &&String| code.starts_with("turnstone ") && !code.contains(['[', '<', '…']);
        let sentences: String = code.iter().filter(is_command).map(|code| code.replace("...", "") + "\n").collect();
        let whole = commands(&blocks).into_iter().map(|words| (words, true));
        for (words, is_whole) in whole.chain(commands(&sentences).into_iter().map(|words| (words, false))) {
            let Some(arguments) = arguments(&words) else { continue };
            seen[usize::from(is_whole)] += 1;
            let fault = fault(&arguments, is_whole, &program);
            faults.extend(fault.map(|fault| format!("{}: {}\n{fault}", file.display(), words.join(" "))));
        }
    }
    assert!(seen[0] >= 50 && seen[1] >= 100, "{seen:?}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The options that tables and sentences name are options of some command, or of another program.
#[test]
fn options_of_the_documentation_exist() {
    // Of scripts.
    let mut known: BTreeSet<String> =
        ["--alpha-zero", "--wheel", "--mebibytes", "--precision", "--with-agents"].map(str::to_owned).into();
    let mut files = Vec::new();
    pages(&root().join("docs"), &mut files);
    // A program without clusters does not know their options.
    files.retain(|file| cfg!(feature = "cluster") || !file.ends_with("cluster.md"));
    let mut program = definition(None);
    program.build();
    let mut commands = vec![&program];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands());
        known
            .extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(|name| format!("--{name}")));
    }
    let mut faults = Vec::new();
    for file in files {
        let (_, code) = shown(&fs::read_to_string(&file).expect("a page"));
        for code in code.iter().filter(|code| code.starts_with("--")) {
            let name = code.split([' ', '=', '/']).next().unwrap_or_default();
            faults.extend((!known.contains(name)).then(|| format!("{}: `{code}`", file.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn words_are_read_as_a_shell_reads_them() {
    let text = "A=1 x 'b c'\"d\" e # f\ng \\\n h > i | j 2>&1; k \"\" && l\n";
    let read = commands(text);
    let expected: [&[&str]; 5] = [&["A=1", "x", "b cd", "e"], &["g", "h"], &["j", "2"], &["k", ""], &["l"]];
    assert!(read.iter().map(|words| words.iter().map(String::as_str).collect::<Vec<_>>()).eq(expected), "{read:?}");
    let parsed = |text: &str| arguments(&commands(text)[0]).map(|arguments| arguments.len());
    assert_eq!(parsed("A=1 target/release/turnstone games"), Some(2));
    assert_eq!(parsed("own=target/release/own_game"), None);
    assert_eq!(parsed("$own games"), Some(2));
    assert_eq!(parsed("cargo run --release -- games --json"), Some(3));
    assert_eq!(
        (parsed("cargo run -p xtask -- map"), parsed("cargo test"), parsed("cp turnstone a")),
        (None, None, None)
    );
}

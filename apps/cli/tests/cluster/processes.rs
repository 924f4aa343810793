//! Leaders and workers as processes, and what their runs leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::metrics::metrics;

/// Time after which a process that does not get on has failed.
const LONGEST: Duration = Duration::from_secs(300);

/// A run of a few seconds with shards, matches, a best checkpoint and checkpoints on the way.
pub(crate) fn config(game: &str, method: &str, overlap: bool, precision: &str) -> String {
    let params = if game == "mancala" { "stones = 3" } else { "max_plies = 30" };
    format!(
        r#"seed = 5
game = {{ name = "{game}", {params} }}
net = {{ kind = "residual_mlp", blocks = 1, width = 16 }}
search = {{ method = "{method}", simulations = 8 }}
self_play = {{ games_per_iteration = 24, concurrent_games = 6, threads = 2, precision = "{precision}" }}
learn = {{ batch = 32, samples_per_position = 4, window = 800, threads = 1 }}
run = {{ iterations = 4, checkpoint_steps = 60, overlap = {overlap} }}
[arena]
every = 2
games = 6
final_games = 6
simulations = 4
opponents = ["random", "alphabeta:depth=1"]
best_games = 4
"#
    )
}

pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// A process whose standard error goes to a file.
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
}

impl Place {
    pub(crate) fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("config.toml"), config).expect("writable");
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnstone"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn spawn(&self, args: &[&str], kind: &str) -> Running {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let log = self.path(&format!("{kind}{number}.log"));
        let file = fs::File::create(&log).expect("writable");
        let child = self.command(args).stdout(Stdio::null()).stderr(file).spawn().expect("the program runs");
        Running { child, log }
    }

    /// Runs a command to its end; returns its exit code, standard output and standard error.
    pub(crate) fn run_to_end(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(args).output().expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// What `cluster status` prints.
    pub(crate) fn status(&self, url: &str, more: &[&str]) -> String {
        self.run_to_end(&[&["cluster", "status", url], more].concat()).1
    }

    /// The run on this machine alone.
    pub(crate) fn alone(&self) -> PathBuf {
        let (code, _, said) = self.run_to_end(&["train", "config.toml", "--run", "alone", "--quiet"]);
        assert_eq!(code, Some(0), "{said}");
        self.path("alone")
    }

    pub(crate) fn lead(&self, url: &str, run: &str, more: &[&str]) -> Running {
        let args: Vec<&str> =
            ["train", "config.toml", "--run", run, "--cluster", url].iter().chain(more).copied().collect();
        self.spawn(&args, "leader")
    }

    pub(crate) fn resume(&self, url: &str, run: &str, more: &[&str]) -> Running {
        let args: Vec<&str> = ["train", "--resume", run, "--cluster", url].iter().chain(more).copied().collect();
        self.spawn(&args, "leader")
    }

    /// A worker with one thread.
    pub(crate) fn worker(&self, url: &str, more: &[&str]) -> Running {
        let args: Vec<&str> = ["worker", url, "--threads", "1"].iter().chain(more).copied().collect();
        self.spawn(&args, "worker")
    }
}

/// Waits until something holds; `said` tells what is wrong if it never does.
#[track_caller]
pub(crate) fn wait_until(holds: impl Fn() -> bool, said: &dyn Fn() -> String) {
    let until = Instant::now() + LONGEST;
    while !holds() {
        assert!(Instant::now() < until, "{}", said());
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Running {
    /// Its most memory in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("a process of Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its memory");
        1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).expect("readable")
    }

    pub(crate) fn wait_for(&self, text: &str) {
        wait_until(|| self.said().contains(text), &|| format!("it does not say `{text}`: {}", self.said()));
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("a process").is_some()
    }

    /// Waits for its end; returns its exit code and what it has said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let until = Instant::now() + LONGEST;
        loop {
            if let Some(status) = self.child.try_wait().expect("a process") {
                return (status.code(), self.said());
            }
            assert!(Instant::now() < until, "it does not end: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end of a leader, whose run must be the one of this machine alone; returns what it has said.
    #[track_caller]
    pub(crate) fn ends_as(self, alone: &Path, run: &Path) -> String {
        let (code, said) = self.end();
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(differences(alone, run), Vec::<String>::new(), "{said}");
        said
    }

    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
    }

    /// Asks it to stop; returns its exit code and what it has said.
    pub(crate) fn terminate(self) -> (Option<i32>, String) {
        self.signal("-TERM");
        self.end()
    }

    /// Asks it to stop, which is no failure, and returns what it has said.
    pub(crate) fn stop(self) -> String {
        let (code, said) = self.terminate();
        assert_eq!(code, Some(0), "{said}");
        said
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The files in which two runs differ, times apart.
pub(crate) fn differences(one: &Path, other: &Path) -> Vec<String> {
    let mut names = BTreeSet::new();
    for run in [one, other] {
        for folder in ["", "replay", "checkpoints"] {
            for entry in fs::read_dir(run.join(folder)).expect("a folder of the run").flatten() {
                if entry.path().is_file() {
                    names.insert(Path::new(folder).join(entry.file_name()));
                }
            }
        }
    }
    assert!(names.iter().any(|name| name.extension().is_some_and(|e| e == "shard")), "{names:?}");
    let same = |name: &PathBuf| match name.to_str() {
        Some("lock" | "config.toml" | "provenance.jsonl") => true,
        Some("metrics.jsonl") => metrics(one) == metrics(other),
        _ => fs::read(one.join(name)).ok() == fs::read(other.join(name)).ok(),
    };
    names.iter().filter(|name| !same(name)).map(|name| name.display().to_string()).collect()
}

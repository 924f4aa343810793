//! `turnstone certify`: the worst result of an agent against any opponent, with its proof.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use turnstone_agents::{
    Agent, AgentSpec, Book, DynExactValues, DynWalk, Effort, Findings, Network, PlayableGame, Refutation,
};
use turnstone_arena::certifying::{Certifying, Repaired, Truth, WalkJournal, check_fixed, starts_of_book};
use turnstone_base::files::{atomic_write, read_bounded};
use turnstone_base::machine::{cores, memory};
use turnstone_base::terminal::{Reporter, print_stderr};
use turnstone_env::{Action, AnyState, Params, Side};
use turnstone_exact::{Certificate, Claim, Extent, MOST_WALKED, SolveLimits};
use turnstone_selfplay::{Games, TrainableGame};

use crate::args::{GameArgs, parse_param, thread_count};
use crate::output::{confirm_writable, print_json, print_text, write_file};
use crate::program_name::PROGRAM;
use crate::signals::stop_on_signals;

/// Longest certificate that is read.
const LONGEST: u64 = 1 << 32;

/// Memory for the positions of a walk where that of the machine is unknown.
const MEMORY: u64 = 1 << 32;

/// Time between two lines of progress where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(30);

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone certify mu_torere --agent az:pretrained,sims=0
      the worst that it can come to as either player
  turnstone certify mu_torere --agent az:pretrained --seat 1 --out first.proof
      the proof as a file
  turnstone certify --check first.proof
      proves it again without the network")]
pub(crate) struct Certify {
    /// Name of the game (see `turnstone games`) [default: that of the certificate]
    #[arg(required_unless_present = "check")]
    game: Option<String>,
    /// Set a parameter of the game; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = parse_param, requires = "game")]
    params: Vec<(String, String)>,
    /// Agent to certify; its move must depend on the position alone
    #[arg(long, required_unless_present = "check", conflicts_with = "check")]
    agent: Option<AgentSpec>,
    /// The player that the agent is: 1, 2 or both
    #[arg(long, value_name = "PLAYER", default_value = "both", value_parser = ["1", "2", "both"])]
    seat: String,
    /// File of openings, one per line, to begin from, for a table of the guaranteed results
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "check"])]
    openings: Option<PathBuf>,
    /// Walk through the game without limits on plies: endless play is a draw, and the agent is asked as if each position had
    /// just come up
    #[arg(long)]
    endless: bool,
    /// Stop at about this many positions [default: what half of the free memory holds]
    #[arg(long, value_name = "MOST", value_parser = clap::value_parser!(u64).range(1..MOST_WALKED as u64))]
    positions: Option<u64>,
    /// Folder for the agent's moves, from which the same command continues after an interruption
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
    /// Write the certificate of the agent, or of the repaired one, to a file, if it cannot be beaten
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the shortest games that the agent loses to a file, for `review` and `play --from`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Correct the agent, by exact values or else by search, until it cannot be beaten, and write the corrections to a book
    /// for `az:pretrained,book=FILE`
    #[arg(long, value_name = "FILE", conflicts_with = "openings")]
    repair: Option<PathBuf>,
    /// Prove a certificate again, without the agent
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "save", "work", "endless", "positions", "repair"])]
    check: Option<PathBuf>,
    /// Folder with tables of exact values, which say where a lost game was given away, and repair it
    #[arg(long, value_name = "FOLDER", default_value = "tables")]
    tables: PathBuf,
    /// Seed of the agent's random choices; each position has random numbers of its own
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of threads. It does not change the result [default: one per core]
    #[arg(long, value_parser = thread_count)]
    threads: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Result of an agent in a seat.
struct Found<'a> {
    certifying: &'a Certifying<'a>,
    seat: Side,
    /// The openings' moves and positions.
    starts: &'a [(Vec<Action>, AnyState)],
    extent: Extent,
    positions: usize,
    decisions: u64,
    findings: Findings,
    seconds: f64,
}

impl Certify {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        match (&self.check, &self.agent) {
            (Some(path), _) => self.check(path, games),
            (None, Some(spec)) => self.certify(spec, games),
            (None, None) => bail!("give an --agent"),
        }
    }

    fn check(&self, path: &Path, games: &Games) -> Result<ExitCode> {
        let named = || path.display().to_string();
        let bytes = read_bounded(path, LONGEST).with_context(named)?;
        let certificate = Certificate::from_bytes(&bytes).with_context(named)?;
        let claim = &certificate.claim;
        let game = match &self.game {
            Some(name) => GameArgs::new(name, &self.params).game(games)?,
            None => games.make(&claim.game, &claim.params).with_context(named)?,
        };
        game.check_certificate(&certificate).with_context(named)?;
        if self.json {
            print_json(&json!({ "certificate": named(), "claim": claim }));
        } else {
            print_text(&format!("{}: proven\n{}", named(), claim_text(claim)));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn certify(&self, spec: &AgentSpec, games: &Games) -> Result<ExitCode> {
        let name = self.game.as_deref().context("name a game (see `turnstone games`)")?;
        let asked = GameArgs::new(name, &self.params).game_of(&[spec], games)?;
        let game = if self.endless { without_limits(&*asked, games)? } else { asked.clone() };
        let agent = Agent::load(spec, &*asked)?;
        check_fixed(&agent)?;
        for path in self.out.iter().chain(&self.save).chain(&self.repair) {
            confirm_writable(path)?;
        }
        let seats = match self.seat.parse().ok().and_then(Side::from_number) {
            Some(seat) => vec![seat],
            None => Side::BOTH.to_vec(),
        };
        ensure!(self.out.is_none() || seats.len() == 1, "a certificate is for one player: give --seat 1 or --seat 2");
        let starts = match &self.openings {
            Some(path) => starts_of_book(path, &*game)?,
            None => vec![(Vec::new(), game.start())],
        };
        let (reporter, stop) = (Reporter::new(false), stop_on_signals()?);
        let most = self.most(&*game, &reporter);
        let progress = Progress::new(&reporter);
        let certifying = Certifying {
            game: &*game,
            asked: &*asked,
            agent: &agent,
            seed: self.seed,
            threads: self.threads.unwrap_or_else(cores),
            most,
            program: PROGRAM,
            progress: &|walk| progress.show(walk),
            stop,
        };
        self.seats(&certifying, &seats, &starts, &reporter)
    }

    /// Walks with the agent in each of the seats, and prints and writes what is found.
    fn seats(
        &self,
        certifying: &Certifying<'_>,
        seats: &[Side],
        starts: &[(Vec<Action>, AnyState)],
        reporter: &Reporter,
    ) -> Result<ExitCode> {
        let mut repair = self.repair.as_ref().map(|_| Repair::new(certifying, &self.tables)).transpose()?;
        let (mut refuted, mut results) = (String::new(), Vec::new());
        for &seat in seats {
            let begun = Instant::now();
            let starts_alone: Vec<AnyState> = starts.iter().map(|(_, state)| state.clone()).collect();
            let journal = self.journal(certifying, seat, &starts_alone)?;
            let walked = match &mut repair {
                None => certifying.walk(seat, &starts_alone, journal)?,
                Some(repair) => repair.walk(certifying, seat, journal, reporter)?,
            };
            let Some((walk, extent)) = walked else {
                let again = if self.work.is_some() { ": the same command continues it" } else { "" };
                print_stderr(format_args!("it was interrupted before its end{again}"));
                return Ok(ExitCode::from(130));
            };
            let (positions, decisions) = (walk.positions(), walk.moves().count());
            let (findings, seconds) = (walk.findings(), begun.elapsed().as_secs_f64());
            let found = Found { certifying, seat, starts, extent, positions, decisions, findings, seconds };
            let written = self.repair.as_ref().zip(repair.as_ref());
            if let Some((path, repair)) = written {
                repair.write(path, certifying, reporter)?;
            }
            if let Some(path) = &self.out {
                ensure!(
                    extent == Extent::Complete,
                    "there are more than {} positions, so there is no certificate",
                    certifying.most
                );
                let corrected = written.map(|(book, _)| with_book(certifying, book)).transpose()?;
                let agent = corrected.as_ref().unwrap_or(certifying.agent);
                let certificate = Certifying { agent, ..*certifying }.certificate(seat, &*walk, &found.findings)?;
                atomic_write(path, &certificate.to_bytes()).with_context(|| path.display().to_string())?;
            }
            refuted += &found.games()?;
            if self.json {
                results.push(found.json(&self.tables));
            } else {
                print_text(&found.text(&self.tables));
            }
        }
        if let Some(path) = self.save.as_ref().filter(|_| !refuted.is_empty()) {
            write_file(path, &refuted)?;
        }
        if self.json {
            print_json(&json!({
                "game": certifying.game.name(),
                "params": certifying.game.params(),
                "agent": certifying.agent.spec.to_string(),
                "seed": self.seed,
                "seats": results,
            }));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The journal of a walk, where its folder is named.
    fn journal(&self, certifying: &Certifying<'_>, seat: Side, starts: &[AnyState]) -> Result<Option<WalkJournal>> {
        let open = |folder: &PathBuf| {
            let name = format!("player-{}.moves", seat.number());
            WalkJournal::open(folder, &name, certifying.identity(seat, starts))
        };
        self.work.as_ref().map(open).transpose()
    }

    /// Most positions, which are said with the memory that they take.
    fn most(&self, game: &dyn PlayableGame, reporter: &Reporter) -> usize {
        let bytes = game.walked_bytes();
        let free = memory().map_or(MEMORY, |memory| memory.available / 2);
        // Half for the moves between the positions.
        let most = self.positions.unwrap_or(free / 2 / bytes as u64).min(MOST_WALKED as u64 - 1);
        reporter.line(&format!("memory: {bytes} bytes per position and 4 per move; at most {most} positions"));
        most as usize
    }
}

/// The repair of an agent with a network.
struct Repair {
    /// Exact values, where the game has them: those that need no search, and all.
    truth: Option<[Box<dyn DynExactValues>; 2]>,
    book: Book,
}

impl Repair {
    fn new(certifying: &Certifying<'_>, tables: &Path) -> Result<Self> {
        let Some(network) = certifying.agent.network() else {
            bail!("`{}` has no network, and only agents with one play by a book", certifying.agent.spec);
        };
        let book = certifying.agent.spec.settings::<Network>().and_then(|settings| settings.book.as_ref());
        ensure!(book.is_none(), "`{}` has a book already: repair the agent without it", certifying.agent.spec);
        let values = |effort| certifying.game.exact_values(tables, effort);
        let truth = values(Effort::Patient(SolveLimits::nodes(0)))?.zip(values(Effort::Full)?).map(<[_; 2]>::from);
        Ok(Self { truth, book: Book::new(certifying.asked, network, certifying.is_asked_elsewhere()) })
    }

    /// The walk of the agent with corrections, which are added to the book.
    fn walk(
        &mut self,
        certifying: &Certifying<'_>,
        seat: Side,
        journal: Option<WalkJournal>,
        reporter: &Reporter,
    ) -> Result<Option<(Box<dyn DynWalk>, Extent)>> {
        let on_round = |walk: &dyn DynWalk, mistakes: usize| {
            let (positions, decisions) = (walk.positions(), walk.moves().count());
            reporter.line(&format!("{seat}: {positions} positions, {decisions} decisions, {mistakes} to correct"));
        };
        let truth = self.truth.as_ref().map(|[quick, full]| Truth { quick: &**quick, full: &**full });
        let repaired = certifying.repair(seat, &certifying.game.start(), journal, truth, &on_round)?;
        let Some(Repaired { corrections, walk, extent }) = repaired else { return Ok(None) };
        self.book.moves.extend(corrections);
        Ok(Some((walk, extent)))
    }

    /// Writes the book.
    fn write(&self, path: &Path, certifying: &Certifying<'_>, reporter: &Reporter) -> Result<()> {
        write_file(path, &self.book.to_text(certifying.asked))?;
        reporter.line(&format!("corrections in {}: {}", path.display(), self.book.moves.len()));
        Ok(())
    }
}

/// The certified agent, by a book.
fn with_book(certifying: &Certifying<'_>, book: &Path) -> Result<Agent> {
    let spec = format!("{},book={}", certifying.agent.spec, book.display()).parse()?;
    Ok(Agent::load(&spec, certifying.asked)?)
}

/// The same game without limits on plies.
fn without_limits(game: &dyn TrainableGame, games: &Games) -> Result<std::sync::Arc<dyn TrainableGame>> {
    let limits = &game.spec().ply_limits;
    ensure!(!limits.is_empty(), "{} has no limit on plies, so --endless changes nothing", game.name());
    let params = limits.iter().fold(game.params(), |params: Params, limit| params.with(*limit, 0));
    Ok(games.make(game.name(), &params)?)
}

/// Progress of a walk: a line that changes on a terminal, and else a line from time to time.
struct Progress<'a> {
    reporter: &'a Reporter,
    bar: turnstone_base::terminal::ProgressBar,
    begun: Instant,
    last: Mutex<Instant>,
}

impl<'a> Progress<'a> {
    fn new(reporter: &'a Reporter) -> Self {
        let begun = Instant::now();
        Self { reporter, bar: reporter.clock("walking"), begun, last: Mutex::new(begun) }
    }

    fn show(&self, walk: &dyn DynWalk) {
        let positions = walk.positions();
        let rate = positions as f64 / self.begun.elapsed().as_secs_f64().max(1e-3);
        let (frontier, decisions) = (walk.frontier(), walk.moves().count());
        let text = format!("{positions} positions, {decisions} decisions, frontier {frontier}, {rate:.0} positions/s");
        self.bar.set_message(format!(": {text}"));
        if let Ok(mut last) = self.last.lock()
            && self.bar.is_hidden()
            && last.elapsed() > LINE_EVERY
        {
            *last = Instant::now();
            self.reporter.line(&text);
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Found<'_> {
    fn game(&self) -> &dyn PlayableGame {
        self.certifying.game
    }

    fn text(&self, tables: &Path) -> String {
        let mut text = format!("{} as {}\n", self.certifying.agent.spec, self.game().side_label(self.seat));
        for (start, (moves, state)) in self.starts.iter().enumerate() {
            let moves = self.game().line_display(&self.game().start(), moves);
            let from = if moves.is_empty() { String::new() } else { format!("{}: ", moves.join(" ")) };
            let _ = match &self.findings.refutations[start] {
                None => writeln!(text, "  {from}{}", result_text(self.findings.result(start, self.extent))),
                Some(found) => writeln!(text, "  {from}can be beaten in {} plies", found.line.len()),
            };
            if self.starts.len() == 1
                && let Some(found) = &self.findings.refutations[start]
            {
                text += &self.refutation_text(moves, state, found, tables);
            }
        }
        if let Some(points) = self.guaranteed() {
            let (percent, openings) = (100.0 * points, self.starts.len());
            let _ = writeln!(text, "  guaranteed from the {openings} openings: {percent:.1} % of the points");
        }
        let share = match self.findings.beaten {
            0 => String::new(),
            beaten => format!(", from {beaten} of which it can be beaten"),
        };
        let (positions, decisions) = (self.positions, self.decisions);
        let so_far = if self.extent == Extent::Complete { "" } else { " so far; there are more" };
        let seconds = self.seconds;
        let _ = writeln!(text, "  {positions} positions{share}; {decisions} decisions{so_far}; {seconds:.1} s");
        text
    }

    /// Points per game of the worst results from several openings, a draw being half of one; `None` where one is not certain.
    fn guaranteed(&self) -> Option<f64> {
        let results = (0..self.starts.len()).map(|start| self.findings.result(start, self.extent));
        let points = results.map(|result| Some(f64::from(result? + 1) / 2.0)).sum::<Option<f64>>()?;
        (self.starts.len() > 1).then_some(points / self.starts.len() as f64)
    }

    /// A refutation, as a person reads it; `opening` are the moves that lead to its first position.
    fn refutation_text(&self, mut opening: Vec<String>, state: &AnyState, found: &Refutation, tables: &Path) -> String {
        let game = self.game();
        let moves = game.line_display(state, &found.line);
        let mut text = format!("    {}\n", moves.join(" "));
        if let Some((ply, before, better)) = self.mistake(state, found, tables) {
            let better = game.display_text(&before, better);
            let _ = writeln!(text, "    move {} gives it away: {}; {better} keeps it", ply + 1, moves[ply]);
        }
        opening.extend(moves);
        let _ = writeln!(text, "    on the page of `turnstone serve`: /{}", self.link(&opening));
        text
    }

    /// The ply of a refutation at which the agent gives the result away, the position there and a move that keeps it: by exact
    /// values the first, or else the last at which another move is known to be safe.
    fn mistake(&self, start: &AnyState, found: &Refutation, tables: &Path) -> Option<(usize, AnyState, Action)> {
        let (game, sign) = (self.game(), self.seat.sign() as i8);
        let mut state = start.clone();
        if let Ok(Some(truth)) = game.exact_values(tables, Effort::Quick) {
            for (ply, &action) in found.line.iter().enumerate() {
                let before = state.clone();
                game.play(&mut state, action);
                if game.mover(&before) == self.seat
                    && truth.value(&before).is_some_and(|value| sign * value >= 0)
                    && truth.value(&state).is_some_and(|value| sign * value < 0)
                {
                    let better = *truth.best_actions(&before)?.first()?;
                    return Some((ply, before, better));
                }
            }
            state = start.clone();
        }
        let (ply, better) = found.escape?;
        found.line[..ply].iter().for_each(|&action| game.play(&mut state, action));
        Some((ply, state, better))
    }

    /// The address of the page that shows moves from the start.
    fn link(&self, moves: &[String]) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, const { &NON_ALPHANUMERIC.remove(b'-') }).to_string();
        let game = self.game();
        let (params, defaults) = (game.params(), game.default_params());
        let changed = params.iter().filter(|param| !defaults.iter().any(|default| default == *param));
        let params: String = changed.map(|(key, value)| format!("&param.{key}={}", encoded(value))).collect();
        let moves: Vec<String> = moves.iter().map(|text| encoded(text)).collect();
        format!("?game={}{params}#moves={}", game.name(), moves.join("+"))
    }

    /// The refutations as saved games.
    fn games(&self) -> Result<String> {
        let mut text = String::new();
        for ((_, start), found) in self.starts.iter().zip(&self.findings.refutations) {
            if let Some(found) = found {
                let game = self.certifying.record(self.seat, start, &found.line);
                text += &(serde_json::to_string(&game)? + "\n");
            }
        }
        Ok(text)
    }

    fn json(&self, tables: &Path) -> Value {
        let game = self.game();
        let start = |(start, (moves, state)): (usize, &(Vec<Action>, AnyState))| {
            let refutation = self.findings.refutations[start].as_ref().map(|found| {
                let mistake = self.mistake(state, found, tables);
                let mistake = mistake
                    .map(|(ply, before, better)| json!({ "ply": ply, "better": game.action_text(&before, better) }));
                json!({ "moves": game.line_texts(state, &found.line), "mistake": mistake })
            });
            let moves = game.line_texts(&game.start(), moves).join(" ");
            json!({ "opening": moves, "result": self.findings.result(start, self.extent), "refutation": refutation })
        };
        json!({
            "seat": self.seat.number(),
            "complete": self.extent == Extent::Complete,
            "positions": self.positions,
            "beaten": self.findings.beaten,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "guaranteed": self.guaranteed(),
            "openings": self.starts.iter().enumerate().map(start).collect::<Vec<_>>(),
        })
    }
}

/// The worst result in words.
fn result_text(result: Option<i8>) -> &'static str {
    match result {
        Some(1) => "cannot be beaten: it wins against any opponent",
        Some(0) => "cannot be beaten: at least a draw against any opponent",
        Some(_) => "can be beaten",
        None => "not beaten so far",
    }
}

/// Claim of a certificate.
fn claim_text(claim: &Claim) -> String {
    let Claim { game, params, seat, result, positions, decisions, agent, .. } = claim;
    let what = result_text(Some(*result));
    format!("{agent} as player {seat} of {game} ({params}) {what}\n{positions} positions, {decisions} decisions")
}

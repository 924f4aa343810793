//! Tournament: plays the games on several threads, with a result that does not depend on their number.

mod remote_games;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, PlayableGame, Role};
use turnstone_statistics::{Decision, Sprt};

use super::asking::MOST_AT_ONCE;
use super::certificates::proven;
use super::concurrent_games::ConcurrentGames;
use super::journal::Journal;
use super::openings::Opening;
use super::record::{GameRecord, TournamentHeader, TournamentRecord, TournamentSettings};
use super::referee::Referee;
use super::remote::Remote;
use super::schedule::{PlannedGame, openings_needed, plans};
use super::watching::{Efforts, OrderedPairs};

/// A tournament ready to be played.
pub struct Tournament<'a> {
    game: &'a dyn PlayableGame,
    agents: Vec<&'a Agent>,
    header: TournamentHeader,
    openings: Vec<Opening>,
    notes: Vec<String>,
}

/// Execution settings, which do not affect the result.
#[derive(Clone, Copy)]
pub struct Running<'a> {
    /// Number of threads.
    pub threads: usize,
    /// Called with every finished game, in any order.
    pub progress: &'a (dyn Fn(&GameRecord) + Sync),
    /// Stops the tournament when raised, inside moves too. Games in progress are given up.
    pub stop: &'a Stop,
    /// Begins no further game when raised, and finishes those in progress.
    pub enough: Option<&'a Stop>,
    /// Maximum number of games that a thread plays side by side, for the searches of networks to share batches.
    pub at_once: usize,
    /// Adds up the time in which threads had no game left and waited for the last one.
    pub idle: Option<&'a IdleTime>,
    /// Adds up what the moves of each agent take, of games that this machine plays.
    pub efforts: Option<&'a Efforts>,
    /// Other machines that play the games instead of the threads.
    pub remote: Option<&'a dyn Remote>,
}

impl<'a> Running<'a> {
    /// Runs on this number of threads, with a callback for every finished game, until `stop` is raised.
    #[must_use]
    pub fn new(threads: usize, progress: &'a (dyn Fn(&GameRecord) + Sync), stop: &'a Stop) -> Self {
        Self { threads, progress, stop, enough: None, at_once: MOST_AT_ONCE, idle: None, efforts: None, remote: None }
    }

    fn is_enough(&self) -> bool {
        self.enough.is_some_and(Stop::is_raised)
    }
}

/// Sum of times that several threads add to.
#[derive(Default, Debug)]
pub struct IdleTime(AtomicU64);

impl IdleTime {
    /// Adds the times from each of these moments to the last of them.
    fn add_until_last(&self, ends: &[Instant]) {
        let Some(last) = ends.iter().max() else { return };
        let idle: Duration = ends.iter().map(|&end| *last - end).sum();
        self.0.fetch_add(u64::try_from(idle.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the sum and sets it to zero.
    pub fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }
}

impl<'a> Tournament<'a> {
    /// Creates a tournament of these agents from these openings. If there are too few openings, the number of games per
    /// meeting is reduced and a note says so.
    ///
    /// # Errors
    /// There are fewer than two agents or no opening, a test is requested for more than two agents, or an engine does not
    /// start.
    pub(super) fn new(
        game: &'a dyn PlayableGame,
        agents: Vec<&'a Agent>,
        mut settings: TournamentSettings,
        openings: Vec<Opening>,
    ) -> Result<Self> {
        ensure!(agents.len() >= 2, "a tournament needs at least two agents");
        ensure!(
            settings.sprt.is_none() || agents.len() == 2,
            "a sequential test is for two agents, not {}",
            agents.len()
        );
        let mut notes = Vec::new();
        let asked = settings.games;
        settings.games = settings.games.min(2 * openings.len());
        ensure!(settings.games > 0, "there is no opening");
        if settings.games < asked {
            let (found, games) = (openings.len(), settings.games);
            notes.push(format!("only {found} different openings: {games} games of each meeting in place of {asked}"));
        }
        notes.extend(agents.iter().filter_map(|agent| proven(game, agent)));
        let header = TournamentHeader {
            turnstone_arena: TournamentHeader::FORMAT,
            program: None,
            game: game.name().to_owned(),
            version: game.version(),
            params: game.params(),
            agents: agents.iter().map(|agent| agent.spec.to_string()).collect(),
            networks: agents.iter().map(|agent| agent.network_checksum()).collect(),
            openings: openings[..openings_needed(&settings)].iter().map(|opening| opening.text(game)).collect(),
            settings,
        };
        let tournament = Self { game, agents, header, openings, notes };
        for agent in tournament.agents.iter().filter(|agent| agent.spec.role() == Role::Program) {
            agent.search(game, 1).map(drop).with_context(|| agent.spec.to_string())?; // finds a wrong command line now
        }
        Ok(tournament)
    }

    /// Names the program that plays the tournament, with its version, for the records of it.
    pub(super) fn played_by(mut self, program: &str) -> Self {
        self.header.program = Some(program.to_owned());
        self
    }

    pub(super) fn game(&self) -> &'a dyn PlayableGame {
        self.game
    }

    pub(super) fn agents(&self) -> &[&'a Agent] {
        &self.agents
    }

    /// Game, agents, settings and openings.
    #[must_use]
    pub fn header(&self) -> &TournamentHeader {
        &self.header
    }

    /// Remarks that are known before the start, such as a reduced number of games.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Number of games, unless the tournament ends early.
    pub(super) fn games(&self) -> usize {
        plans(&self.header.settings, self.agents.len()).len()
    }

    /// Plays the games that are not in `done` and appends them to the journal, whose games are finally put in the order of
    /// the schedule. Returns `None` if `running.stop` was set before the end.
    ///
    /// # Errors
    /// An agent cannot play, the journal cannot be written, or `done` belongs to another tournament.
    pub fn play(
        &self,
        journal: Option<&Journal>,
        done: Vec<GameRecord>,
        running: &Running<'_>,
    ) -> Result<Option<TournamentRecord>> {
        let path = journal.map_or_else(|| "the games given".into(), |journal| journal.path().display().to_string());
        let mut by_number: HashMap<usize, GameRecord> = HashMap::with_capacity(done.len());
        for game in done {
            let number = game.number;
            ensure!(by_number.insert(number, game).is_none(), "{path}: game {number} is in it twice");
        }
        let mut done = by_number;
        let mut notes = self.notes.clone();
        let plans = plans(&self.header.settings, self.agents.len());
        let mut board = FinishedGames::new(plans.len(), self.header.settings.sprt);
        for (i, plan) in plans.iter().enumerate() {
            if let Some(game) = done.remove(&plan.number) {
                ensure!(is_of(&game, plan), "{path}: game {} belongs to another tournament", plan.number);
                (running.progress)(&game);
                board.put(i, game);
            }
        }
        let board = Mutex::new(board);
        self.play_missing(&plans, &board, journal, running)?;
        let board = board.into_inner().map_err(|_| anyhow!("a thread has failed"))?;
        let Some(games) = board.finished() else { return Ok(None) };
        if games.len() < plans.len() {
            notes.push(format!("the sequential test ended the match after {} games", games.len()));
        }
        if let Some(number) = done.keys().min() {
            bail!("{path}: game {number} is not one of this tournament's");
        }
        if let Some(journal) = journal {
            journal.arrange(&games)?;
        }
        Ok(Some(TournamentRecord { header: self.header.clone(), notes, games }))
    }

    fn play_missing(
        &self,
        plans: &[PlannedGame],
        board: &Mutex<FinishedGames>,
        journal: Option<&Journal>,
        running: &Running<'_>,
    ) -> Result<()> {
        if let Some(remote) = running.remote {
            return self.play_remotely(remote, plans, board, journal, running);
        }
        let next = AtomicUsize::new(0);
        let threads = running.threads.clamp(1, plans.len());
        let seats = [plans.len().div_ceil(threads), running.at_once];
        let work = || -> Result<Instant> {
            // An error of one thread stops the others.
            let games = ConcurrentGames::new(self.game, &self.agents, self.referee(), seats, running.stop)?;
            let games = games.counting(running.efforts);
            self.play_some(plans, games, &next, board, journal, running)
                .inspect_err(|_| next.store(plans.len(), Ordering::Relaxed))?;
            Ok(Instant::now())
        };
        let ends = thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let join = |t: ScopedJoinHandle<'_, _>| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            threads.into_iter().map(join).collect::<Result<Vec<Instant>>>()
        })?;
        running.idle.inspect(|idle| idle.add_until_last(&ends));
        Ok(())
    }

    /// Plays games that no other thread has taken in the seats of `games` until none is left.
    fn play_some(
        &self,
        plans: &[PlannedGame],
        mut games: ConcurrentGames<'_>,
        next: &AtomicUsize,
        board: &Mutex<FinishedGames>,
        journal: Option<&Journal>,
        running: &Running<'_>,
    ) -> Result<()> {
        let put = |finished: Vec<(usize, GameRecord)>| -> Result<()> {
            for (number, game) in finished {
                if let Some(journal) = journal {
                    journal.add(&game)?;
                }
                (running.progress)(&game);
                lock(board).put(number, game);
            }
            Ok(())
        };
        let (mut left, stopped) = (true, || running.stop.is_raised());
        loop {
            while left
                && !stopped()
                && !running.is_enough()
                && let Some(seat) = games.free_seat()
            {
                let number = next.fetch_add(1, Ordering::Relaxed);
                left = number < lock(board).end;
                if left && lock(board).games[number].is_none() {
                    let plan = &plans[number];
                    games.begin(seat, number, plan, &self.openings[plan.opening]);
                    put(games.finished())?;
                }
            }
            if stopped() || games.is_empty() {
                return Ok(());
            }
            games.advance()?;
            put(games.finished())?;
        }
    }

    fn referee(&self) -> Referee<'_> {
        Referee { game: self.game, settings: &self.header.settings }
    }
}

/// Whether a game from a journal or another machine matches this plan.
fn is_of(game: &GameRecord, plan: &PlannedGame) -> bool {
    let GameRecord { agents, opening, opening_plies, moves, result, incidents, .. } = game;
    let planned = *agents == plan.agents && *opening == plan.opening;
    let known = incidents.iter().all(|incident| agents.contains(&incident.agent));
    planned && known && (-1..=1).contains(result) && *opening_plies <= moves.len()
}

fn lock(board: &Mutex<FinishedGames>) -> MutexGuard<'_, FinishedGames> {
    board.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Finished games, and the test that may end the match. The test processes the pairs in the order of their numbers,
/// so that it ends at the same pair regardless of scheduling.
struct FinishedGames {
    games: Vec<Option<GameRecord>>,
    /// Number of games to be played; the test may reduce it.
    end: usize,
    sprt: Option<Sprt>,
    /// Pairs for the test.
    pairs: OrderedPairs,
}

impl FinishedGames {
    fn new(games: usize, sprt: Option<Sprt>) -> Self {
        Self { games: vec![None; games], end: games, sprt, pairs: OrderedPairs::default() }
    }

    fn put(&mut self, i: usize, game: GameRecord) {
        let result = game.result;
        self.games[i] = Some(game);
        let Some(sprt) = self.sprt else { return };
        self.pairs.put(i, result);
        while i < self.end
            && let Some(pairs) = self.pairs.next()
        {
            if sprt.decide(&pairs) != Decision::Continue {
                self.end = 2 * pairs.pairs();
                break;
            }
        }
    }

    /// All games up to `end`; `None` if some are missing.
    fn finished(mut self) -> Option<Vec<GameRecord>> {
        self.games.truncate(self.end);
        self.games.into_iter().collect()
    }
}

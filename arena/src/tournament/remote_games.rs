//! Games of a tournament that other machines play, and that this one plays for others.

use std::sync::Mutex;

use anyhow::{Result, ensure};
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, PlayableGame};

use super::{FinishedGames, Running, Tournament, is_of, lock};
use crate::concurrent_games::ConcurrentGames;
use crate::journal::Journal;
use crate::openings::Opening;
use crate::record::{GameRecord, TournamentHeader};
use crate::remote::{Remote, RemoteRound, check_portable};
use crate::schedule::PlannedGame;

impl<'a> Tournament<'a> {
    /// The tournament of a header, to play some of its games for another machine.
    ///
    /// # Errors
    /// The header is not for this game and these agents, or other machines cannot play it.
    pub fn of_header(game: &'a dyn PlayableGame, agents: Vec<&'a Agent>, header: TournamentHeader) -> Result<Self> {
        check_portable(&agents, &header.settings)?;
        let same = header.game == game.name() && header.version == game.version() && header.params == game.params();
        ensure!(same, "it is for another game");
        ensure!(header.agents.len() == agents.len() && agents.len() >= 2, "it has other agents");
        let opening = |text: &String| -> Result<Opening> {
            let mut state = game.start();
            let actions = game.play_text(&mut state, text)?;
            ensure!(game.outcome(&state).is_none(), "the opening `{text}` ends the game");
            Ok(Opening { actions, state })
        };
        let openings = header.openings.iter().map(opening).collect::<Result<_>>()?;
        Ok(Self { game, agents, header, openings, notes: Vec::new() })
    }

    /// Plays these games on this thread, side by side where networks can share batches. Returns `None` if `stop` was raised
    /// before the end.
    ///
    /// # Errors
    /// A plan names an agent or an opening that does not exist, or an agent cannot play.
    pub fn play_plans(&self, plans: &[PlannedGame], stop: &Stop) -> Result<Option<Vec<GameRecord>>> {
        let known = |plan: &PlannedGame| {
            let [a, b] = plan.agents;
            a != b && a.max(b) < self.agents.len() && plan.opening < self.openings.len()
        };
        ensure!(plans.iter().all(known), "a game names an agent or an opening that does not exist");
        let mut games =
            ConcurrentGames::new(self.game, &self.agents, self.referee(), [2 * plans.len(), usize::MAX], stop)?;
        let (mut records, mut next) = (vec![None; plans.len()], 0);
        loop {
            while let Some(seat) = games.free_seat().filter(|_| next < plans.len()) {
                games.begin(seat, next, &plans[next], &self.openings[plans[next].opening]);
                next += 1;
                games.finished().into_iter().for_each(|(i, record)| records[i] = Some(record));
            }
            if stop.is_raised() {
                return Ok(None);
            }
            if games.is_empty() {
                return Ok(records.into_iter().collect());
            }
            games.advance()?;
            games.finished().into_iter().for_each(|(i, record)| records[i] = Some(record));
        }
    }

    /// Has other machines play the games that are not on the board.
    pub(super) fn play_remotely(
        &self,
        remote: &dyn Remote,
        plans: &[PlannedGame],
        board: &Mutex<FinishedGames>,
        journal: Option<&Journal>,
        running: &Running<'_>,
    ) -> Result<()> {
        check_portable(&self.agents, &self.header.settings)?;
        let missing: Vec<usize> = (0..plans.len()).filter(|&i| lock(board).games[i].is_none()).collect();
        let missing_plans: Vec<PlannedGame> = missing.iter().map(|&i| plans[i]).collect();
        let put = |i: usize, game: GameRecord| {
            let plan = &missing_plans[i];
            if !is_of(&game, plan) || game.number != plan.number {
                return Ok(Err("it is another game".to_owned()));
            }
            if let Some(journal) = journal {
                journal.add(&game)?;
            }
            (running.progress)(&game);
            lock(board).put(missing[i], game);
            Ok(Ok(()))
        };
        let is_needed = |i: usize| !running.is_enough() && missing[i] < lock(board).end;
        let round = RemoteRound {
            agents: &self.agents,
            header: &self.header,
            plans: &missing_plans,
            put: &put,
            is_needed: &is_needed,
            stop: running.stop,
        };
        remote.play(&round).map(drop)
    }
}

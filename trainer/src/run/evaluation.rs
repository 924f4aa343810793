//! Evaluation after an iteration: matches against opponents and the best checkpoint, the game's ladder, exact values.

use std::time::Duration;

use anyhow::Result;
use turnstone_base::machine::cores;

use super::Run;
use super::setup::Setup;
use crate::metrics::MatchMetrics;
use turnstone_agents::{Agent, LoadedNetwork, load_network};
use turnstone_arena::grading::{Grade, TruthSet, grade, grade_remotely};
use turnstone_arena::{
    Format, IdleTime, Ladder, LadderRating, Meeting, Running, Settings, TournamentRecord, check_portable, play,
};

/// Results of the evaluation after an iteration.
#[derive(Default)]
pub(super) struct Evaluation {
    /// Matches against the opponents.
    pub(super) matches: Vec<TournamentRecord>,
    /// Match against the previous best checkpoint.
    pub(super) previous_best: Option<MatchMetrics>,
    /// Rating on the game's ladder.
    pub(super) ladder: Option<LadderRating>,
    /// Grade against exact values.
    pub(super) grade: Option<Grade>,
    /// Time in which threads of matches waited for the last one.
    pub(super) idle: Duration,
}

impl Run<'_> {
    /// Plays the matches that are due. Returns `None` if interrupted.
    pub(super) fn evaluate(&self, iteration: u64) -> Result<Option<Evaluation>> {
        let arena = &self.setup.config.arena;
        let last = self.is_last(iteration);
        let due = last || (arena.every > 0 && iteration.is_multiple_of(arena.every));
        let mut evaluation = Evaluation::default();
        if !due {
            return Ok(Some(evaluation));
        }
        let info = self.checkpoint_info(self.learner.steps());
        let agent = self.agent(LoadedNetwork::new(info, self.learner.averaged().clone()));
        let idle = IdleTime::default();
        let games = if last { arena.final_games } else { arena.games };
        for opponent in &arena.opponents {
            let opponent = Agent::load(opponent, self.setup.game)?;
            let Some(record) = self.meet(vec![&agent, &opponent], games, arena.opening_plies, &idle)? else {
                return Ok(None);
            };
            self.report_match(&record.header.agents[1], &Meeting::of_match(&record));
            evaluation.matches.push(record);
        }
        if let Some((step, best)) = self.previous_best() {
            let Some(record) = self.meet(vec![&agent, &best], arena.best_games, arena.opening_plies, &idle)? else {
                return Ok(None);
            };
            let (opponent, result) = (format!("the best so far, of step {step}"), Meeting::of_match(&record));
            self.report_match(&opponent, &result);
            evaluation.previous_best = Some(MatchMetrics::new(opponent, &result));
        }
        if arena.ladder_games > 0 {
            let ladder = Ladder::shipped(self.setup.game)?;
            let rungs = ladder.agents(self.setup.game)?;
            let agents = std::iter::once(&agent).chain(&rungs).collect();
            let Some(record) = self.meet(agents, arena.ladder_games, ladder.openings, &idle)? else { return Ok(None) };
            let rating = ladder.rate(&record);
            self.setup.reporter.line(&format!("    on the ladder: {rating}"));
            evaluation.ladder = Some(rating);
        }
        if let Some(truth) = &self.truth {
            let Some(grade) = self.grade(&agent, truth)? else { return Ok(None) };
            evaluation.grade = Some(grade);
        }
        evaluation.idle = idle.take();
        Ok(Some(evaluation))
    }

    /// Grades the agent's moves against exact values. Returns `None` if interrupted.
    fn grade(&self, agent: &Agent, truth: &TruthSet) -> Result<Option<Grade>> {
        let Setup { game, config, reporter, stop, .. } = self.setup;
        let bar = reporter.bar("grading", truth.positions.len() as u64);
        let grade = match self.setup.players.remote {
            Some(remote) => grade_remotely(game, agent, truth, config.seed, remote, &|| bar.inc(1), stop)?,
            None => grade(game, agent, truth, config.seed, cores(), &|| bar.inc(1), stop)?,
        };
        bar.finish_and_clear();
        if let Some(grade) = &grade {
            reporter.line(&format!("    exact values: {}", grade.summary()));
        }
        Ok(grade)
    }

    fn agent(&self, network: LoadedNetwork) -> Agent {
        let config = self.setup.config;
        let (simulations, search) = (config.arena.simulations, config.arena.search);
        Agent::from_network(network, self.setup.folder.latest(), simulations, search).on(config.self_play.device)
    }

    /// Returns the previous best checkpoint and its step, if the config enables the match.
    fn previous_best(&self) -> Option<(u64, Agent)> {
        let step = self.standing.best_step.filter(|_| self.setup.config.arena.best_games > 0)?;
        // Resuming has checked that it is readable. If it has been removed since, there is no match.
        let network = load_network(&self.setup.folder.best(), self.setup.game).ok()?;
        (network.info.step == step).then(|| (step, self.agent(network)))
    }

    /// Plays the first agent against each of the others. Returns `None` if interrupted.
    fn meet(
        &self,
        agents: Vec<&Agent>,
        games: usize,
        opening_plies: [u16; 2],
        idle: &IdleTime,
    ) -> Result<Option<TournamentRecord>> {
        let Setup { game, config, reporter, stop, .. } = self.setup;
        let settings = Settings::plain(Format::Gauntlet, games, config.seed);
        let stage = match &agents[..] {
            [_, opponent] => format!("vs {}", opponent.spec),
            _ => "ladder".into(),
        };
        let bar = reporter.bar(&stage, (settings.games * (agents.len() - 1)) as u64);
        let progress = |_: &_| bar.inc(1);
        let remote = self.setup.players.remote.filter(|_| check_portable(&agents, &settings).is_ok());
        let running = Running { idle: Some(idle), remote, ..Running::new(cores(), &progress, stop) };
        let record = play(game, agents, settings, opening_plies, &running)?;
        bar.finish_and_clear();
        record.iter().flat_map(|record| &record.notes).for_each(|note| reporter.line(&format!("    {note}")));
        Ok(record)
    }

    fn report_match(&self, opponent: &str, result: &Meeting) {
        self.setup.reporter.line(&format!("    vs {opponent}: {result}"));
    }
}

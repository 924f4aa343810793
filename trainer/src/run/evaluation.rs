//! Evaluation after an iteration: matches against opponents and the best checkpoint, the game's ladder, exact values.

use std::time::Instant;

use anyhow::Result;
use turnstone_base::machine::cores;

use super::{Interrupted, Run, Setup};
use crate::metrics::MatchMetrics;
use turnstone_agents::{Agent, LoadedNetwork, load_network};
use turnstone_arena::grading::{Grade, TruthSet, grade, grade_remotely};
use turnstone_arena::{IdleTime, Ladder, LadderRating, Match, MatchResult, RatingScale, Running};

/// Results of the evaluation after an iteration.
#[derive(Default)]
pub(super) struct Evaluation {
    /// Matches against the opponents.
    pub(super) matches: Vec<MatchResult>,
    /// Match against the previous best checkpoint.
    pub(super) previous_best: Option<MatchMetrics>,
    /// Rating on the game's ladder.
    pub(super) ladder: Option<LadderRating>,
    /// Grade against exact values.
    pub(super) grade: Option<Grade>,
}

impl Run<'_> {
    /// Plays the matches that are due.
    pub(super) fn evaluate(&mut self, iteration: u64) -> Result<Evaluation> {
        let arena = &self.setup.config.arena;
        let last = self.is_last(iteration);
        let mut evaluation = Evaluation::default();
        if !(last || arena.every > 0 && iteration.is_multiple_of(arena.every)) {
            return Ok(evaluation);
        }
        let start = Instant::now();
        let info = self.checkpoint_info(self.learner.steps());
        let agent = self.agent(LoadedNetwork::new(info, self.learner.averaged().clone()));
        let idle = IdleTime::default();
        let games = if last { arena.final_games } else { arena.games };
        for opponent in &arena.opponents {
            let opponent = Agent::load(opponent, self.setup.game)?;
            let result = self.play_match(vec![&agent, &opponent], games, RatingScale::Mean, &idle)?;
            self.setup.reporter.line(&format!("    vs {}: {}", opponent.spec, result.meeting()));
            evaluation.matches.push(result);
        }
        if let Some((step, best)) = self.previous_best() {
            let result = self.play_match(vec![&agent, &best], arena.best_games, RatingScale::Mean, &idle)?;
            let opponent = format!("the best so far, of step {step}");
            self.setup.reporter.line(&format!("    vs {opponent}: {}", result.meeting()));
            evaluation.previous_best = Some(MatchMetrics::new(opponent, result.meeting()));
        }
        if arena.ladder_games > 0 {
            evaluation.ladder = self.rate(&agent, arena.ladder_games, &idle)?;
        }
        if let Some(truth) = &self.truth {
            evaluation.grade = Some(self.grade(&agent, truth)?);
        }
        self.clock.stages.match_seconds += start.elapsed().as_secs_f64();
        self.clock.idle += idle.take();
        Ok(evaluation)
    }

    /// Rates the agent on the game's ladder.
    fn rate(&self, agent: &Agent, games: usize, idle: &IdleTime) -> Result<Option<LadderRating>> {
        let ladder = Ladder::shipped(self.setup.game)?;
        let rungs = ladder.agents(self.setup.game)?;
        let agents = std::iter::once(agent).chain(&rungs).collect();
        let rating = self.play_match(agents, games, RatingScale::Ladder(&ladder), idle)?.rating;
        rating.iter().for_each(|rating| self.setup.reporter.line(&format!("    on the ladder: {rating}")));
        Ok(rating)
    }

    /// Grades the agent's moves against exact values.
    fn grade(&self, agent: &Agent, truth: &TruthSet) -> Result<Grade> {
        let Setup { game, config, reporter, stop, .. } = self.setup;
        let bar = reporter.bar("grading", truth.positions.len() as u64);
        let grade = match self.setup.players.remote {
            Some(remote) => grade_remotely(game, agent, truth, config.seed, remote, &|| bar.inc(1), stop)?,
            None => grade(game, agent, truth, config.seed, cores(), &|| bar.inc(1), stop)?,
        };
        bar.finish_and_clear();
        let grade = grade.ok_or(Interrupted)?;
        reporter.line(&format!("    exact values: {}", grade.summary()));
        Ok(grade)
    }

    fn agent(&self, network: LoadedNetwork) -> Agent {
        let config = self.setup.config;
        let (simulations, search) = (config.arena.simulations, config.arena.method);
        Agent::from_network(network, self.setup.folder.latest(), simulations, search).on(config.self_play.device)
    }

    /// Returns the previous best checkpoint and its step, if the config enables the match.
    fn previous_best(&self) -> Option<(u64, Agent)> {
        let step = self.state.best_step.filter(|_| self.setup.config.arena.best_games > 0)?;
        // Resuming has checked that it is readable. If it has been removed since, there is no match.
        let network = load_network(&self.setup.folder.best(), self.setup.game).ok()?;
        (network.info.step == step).then(|| (step, self.agent(network)))
    }

    /// Plays the first agent against each of the others.
    fn play_match(
        &self,
        agents: Vec<&Agent>,
        games: usize,
        scale: RatingScale<'_>,
        idle: &IdleTime,
    ) -> Result<MatchResult> {
        let Setup { game, config, reporter, stop, .. } = self.setup;
        let mut options = config.arena.match_options(games, config.seed);
        let stage = match scale {
            RatingScale::Ladder(_) => {
                options.openings = None;
                "ladder".to_owned()
            }
            _ => format!("vs {}", agents[1].spec),
        };
        let matches = Match::new(game, agents, &options, scale, stop)?.ok_or(Interrupted)?;
        let bar = reporter.bar(&stage, matches.games() as u64);
        let progress = |_: &_| bar.inc(1);
        let remote = self.setup.players.remote.filter(|_| matches.is_portable());
        let running = Running { idle: Some(idle), remote, ..Running::new(cores(), &progress, stop) };
        let result = matches.play(None, &running)?.ok_or(Interrupted)?;
        bar.finish_and_clear();
        result.record.notes.iter().for_each(|note| reporter.line(&format!("    {note}")));
        Ok(result)
    }
}

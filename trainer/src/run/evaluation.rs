//! How strong the run has become: matches against its opponents and its best checkpoint, the game's ladder, the exact
//! truth.

use anyhow::{Context, Result};

use super::{Run, Setup};
use crate::config::{Config, cores};
use crate::metrics::ArenaMetrics;
use turnstone_agents::checkpoint_info;
use turnstone_agents::{Agent, LoadedNetwork, load_network};
use turnstone_arena::grading::{Grade, TruthSet, grade, known};
use turnstone_arena::{Format, Ladder, LadderRating, Meeting, Running, Settings, TournamentRecord, play};
use turnstone_selfplay::TrainableGame;

/// What the matches after an iteration have found.
#[derive(Default)]
pub(super) struct Evaluation {
    /// Against the opponents.
    pub(super) matches: Vec<TournamentRecord>,
    /// Against the best checkpoint until then.
    pub(super) previous_best: Option<ArenaMetrics>,
    /// On the game's ladder.
    pub(super) ladder: Option<LadderRating>,
    /// Against the exact truth.
    pub(super) grade: Option<Grade>,
}

/// Confirms that the ladder is there if it is to be climbed.
pub(super) fn confirm_ladder(game: &dyn TrainableGame, config: &Config) -> Result<()> {
    if config.arena.ladder_games > 0 {
        Ladder::shipped(game).context("arena.ladder_games")?;
    }
    Ok(())
}

/// The positions that checkpoints are graded in, if they are to be and there are any.
pub(super) fn truth(game: &dyn TrainableGame, config: &Config) -> Result<Option<TruthSet>> {
    if config.arena.grade { known(game) } else { Ok(None) }
}

impl Run<'_> {
    /// Plays the matches that are due; `None` if interrupted.
    pub(super) fn evaluate(&self, iteration: u64) -> Result<Option<Evaluation>> {
        let arena = &self.setup.config.arena;
        let last = self.is_last(iteration);
        let due = last || (arena.every > 0 && iteration.is_multiple_of(arena.every));
        let mut evaluation = Evaluation::default();
        if !due {
            return Ok(Some(evaluation));
        }
        let Setup { game, config, .. } = self.setup;
        let info = checkpoint_info(game, &config.net, &config.search.settings(), self.learner.steps());
        let agent = self.agent(LoadedNetwork { info, weights: self.learner.averaged().clone() });
        let games = if last { arena.final_games } else { arena.games };
        for opponent in &arena.opponents {
            let opponent = Agent::load(opponent, self.setup.game)?;
            let Some(record) = self.meet(vec![&agent, &opponent], games, arena.opening_plies)? else { return Ok(None) };
            self.report_match(&record.header.agents[1], &Meeting::of_match(&record));
            evaluation.matches.push(record);
        }
        if let Some((step, best)) = self.previous_best() {
            let Some(record) = self.meet(vec![&agent, &best], arena.best_games, arena.opening_plies)? else {
                return Ok(None);
            };
            let (opponent, result) = (format!("the best so far, of step {step}"), Meeting::of_match(&record));
            self.report_match(&opponent, &result);
            evaluation.previous_best = Some(ArenaMetrics::new(opponent, &result));
        }
        if arena.ladder_games > 0 {
            let ladder = Ladder::shipped(self.setup.game)?;
            let rungs = ladder.agents(self.setup.game)?;
            let agents = std::iter::once(&agent).chain(&rungs).collect();
            let Some(record) = self.meet(agents, arena.ladder_games, ladder.openings)? else { return Ok(None) };
            let rating = ladder.rate(&record);
            self.setup.reporter.line(&format!("    on the ladder: {rating}"));
            evaluation.ladder = Some(rating);
        }
        if let Some(truth) = &self.truth {
            let Some(grade) = self.grade(&agent, truth)? else { return Ok(None) };
            evaluation.grade = Some(grade);
        }
        Ok(Some(evaluation))
    }

    /// The agent's moves against the exact truth; `None` if interrupted.
    fn grade(&self, agent: &Agent, truth: &TruthSet) -> Result<Option<Grade>> {
        let Setup { game, config, reporter, stop, .. } = self.setup;
        let bar = reporter.bar("grading", truth.positions.len() as u64);
        let grade = grade(game, agent, truth, config.seed, cores(), &|| bar.inc(1), stop)?;
        bar.finish_and_clear();
        if let Some(grade) = &grade {
            reporter.line(&format!("    truth: {}", grade.summary()));
        }
        Ok(grade)
    }

    fn agent(&self, network: LoadedNetwork) -> Agent {
        let arena = &self.setup.config.arena;
        Agent::from_network(network, self.setup.folder.latest(), arena.simulations, arena.search)
    }

    /// The best checkpoint until this iteration and its step, if it is to be met.
    fn previous_best(&self) -> Option<(u64, Agent)> {
        let step = self.standing.best_step.filter(|_| self.setup.config.arena.best_games > 0)?;
        // That it can be read was seen when the run was resumed; if it is gone since, there is no match.
        let network = load_network(&self.setup.folder.best(), self.setup.game).ok()?;
        (network.info.step == step).then(|| (step, self.agent(network)))
    }

    /// The first agent's games against each of the others; `None` if interrupted.
    fn meet(&self, agents: Vec<&Agent>, games: usize, opening_plies: [u16; 2]) -> Result<Option<TournamentRecord>> {
        let Setup { game, config, reporter, stop, .. } = self.setup;
        let settings = Settings::plain(Format::Gauntlet, games, config.seed);
        let bar = reporter.bar("arena", (settings.games * (agents.len() - 1)) as u64);
        let running = Running { threads: cores(), progress: &|_| bar.inc(1), stop };
        let record = play(game, agents, settings, opening_plies, &running)?;
        bar.finish_and_clear();
        record.iter().flat_map(|record| &record.notes).for_each(|note| reporter.line(&format!("    {note}")));
        Ok(record)
    }

    fn report_match(&self, opponent: &str, result: &Meeting) {
        self.setup.reporter.line(&format!("    vs {opponent}: {result}"));
    }
}

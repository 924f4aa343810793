//! The games of one thread, played side by side, so that the searches of a network in all of them share its batches.

use std::time::{Duration, Instant};

use anyhow::Result;
use turnstone_agents::search::Fault;
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, AgentError, Chosen, PlayableGame, Search};

use super::asking::seats_for;
use super::openings::Opening;
use super::record::GameRecord;
use super::referee::{GameInProgress, Referee};
use super::schedule::PlannedGame;
use super::watching::{Effort, Efforts};

/// Games in progress on one thread, and the searches of all agents in them.
pub(super) struct ConcurrentGames<'a> {
    agents: &'a [&'a Agent],
    referee: Referee<'a>,
    /// By agent, each with a seat in every game of its own.
    searches: Vec<Box<dyn Search>>,
    /// Games in progress by seat.
    seats: Vec<Option<SeatedGame>>,
    /// Records of games that are over.
    over: Vec<(usize, GameRecord)>,
    /// Ends moves; the games in progress are then given up.
    stop: &'a Stop,
    efforts: Option<&'a Efforts>,
}

struct SeatedGame {
    /// Index of the game among the caller's plans.
    index: usize,
    agents: [usize; 2],
    game: GameInProgress,
    /// When the side to move was asked.
    asked: Instant,
}

impl<'a> ConcurrentGames<'a> {
    /// Creates the searches, and seats for `share` games, at most `most`. There is more than one where positions of an agent
    /// are evaluated together, and no clocks run.
    ///
    /// # Errors
    /// An agent cannot play.
    pub(super) fn new(
        game: &'a dyn PlayableGame,
        agents: &'a [&'a Agent],
        referee: Referee<'a>,
        [share, most]: [usize; 2],
        stop: &'a Stop,
    ) -> Result<Self> {
        let most = seats_for(most, share);
        let search = |agent: &&Agent| agent.unstarted_search(game, most);
        let searches: Vec<_> = agents.iter().map(search).collect::<Result<_, AgentError>>()?;
        let most = if referee.settings.clock.is_none() && searches.iter().any(|search| search.is_batched()) {
            searches.iter().map(|search| search.most_seats()).min().unwrap_or(1).min(most)
        } else {
            1
        };
        let (seats, over) = ((0..most).map(|_| None).collect(), Vec::new());
        Ok(Self { agents, referee, searches, seats, over, stop, efforts: None })
    }

    /// Adds up what moves take.
    pub(super) fn counting(self, efforts: Option<&'a Efforts>) -> Self {
        Self { efforts, ..self }
    }

    /// A seat without a game.
    pub(super) fn free_seat(&self) -> Option<usize> {
        self.seats.iter().position(Option::is_none)
    }

    /// Whether no game is in progress.
    pub(super) fn is_empty(&self) -> bool {
        self.seats.iter().all(Option::is_none)
    }

    /// Begins a game in a free seat; `index` identifies it when it is over.
    pub(super) fn begin(&mut self, seat: usize, index: usize, plan: &PlannedGame, opening: &Opening) {
        let game = self.referee.begin(plan, opening);
        for side in &game.sides {
            self.searches[side.agent].new_game(seat, &opening.state, side.rng.clone());
        }
        self.seats[seat] = Some(SeatedGame { index, agents: plan.agents, game, asked: Instant::now() });
        self.go_on(seat);
    }

    /// The games that have ended since the last call, with their indices.
    pub(super) fn finished(&mut self) -> Vec<(usize, GameRecord)> {
        std::mem::take(&mut self.over)
    }

    /// Advances the searches of each agent, and continues the games whose move is then chosen. Does nothing once `stop` is
    /// raised, as moves may be those of a search cut short.
    ///
    /// # Errors
    /// The positions of an agent cannot be evaluated.
    pub(super) fn advance(&mut self) -> Result<()> {
        for agent in 0..self.searches.len() {
            let start = Instant::now();
            let chosen = self.searches[agent].advance(&mut |_, _| ());
            let chosen = chosen.map_err(|fault| failed(self.agents[agent], &fault))?;
            self.count(agent, start.elapsed(), &chosen);
            for (seat, chosen) in chosen {
                if self.stop.is_raised() {
                    return Ok(());
                }
                if let Some(SeatedGame { game, asked, .. }) = &mut self.seats[seat] {
                    let chosen = self.referee.timed(game, asked.elapsed(), chosen);
                    self.answer(seat, chosen);
                }
                self.go_on(seat);
            }
        }
        Ok(())
    }

    /// Counts the time of an agent's search, and its moves.
    fn count(&self, agent: usize, time: Duration, chosen: &[(usize, Chosen)]) {
        let Some(efforts) = self.efforts else { return };
        let nodes = chosen.iter().map(|&(seat, _)| self.searches[agent].report(seat).nodes).sum();
        efforts.add(agent, Effort { moves: chosen.len() as u64, time, nodes });
    }

    /// Plays a game on until a search has to choose or the game is over.
    fn go_on(&mut self, seat: usize) {
        while let Some(SeatedGame { agents, game, asked, .. }) = &mut self.seats[seat] {
            let Some(side) = self.referee.turn(game) else {
                let Some(SeatedGame { index, game, .. }) = self.seats[seat].take() else { break };
                self.over.push((index, self.referee.record(game)));
                break;
            };
            if let Some(action) = self.referee.replacement(game) {
                self.answer(seat, Ok(action));
                continue;
            }
            *asked = Instant::now();
            let request = self.referee.request(game, self.stop);
            let agent = agents[side.index()];
            self.searches[agent].begin(seat, &game.state, request);
            let time = asked.elapsed();
            self.count(agent, time, &[]);
            break;
        }
    }

    /// Plays what the side to move has answered, and notifies the searches.
    fn answer(&mut self, seat: usize, chosen: Chosen) {
        let Some(SeatedGame { agents, game, .. }) = &mut self.seats[seat] else { return };
        if let Some(action) = self.referee.answer(game, chosen) {
            agents.iter().for_each(|&agent| self.searches[agent].played(seat, action));
        }
    }
}

/// The failure of what evaluates an agent's positions.
fn failed(agent: &Agent, fault: &Fault) -> AgentError {
    AgentError::Spec { spec: agent.spec.to_string(), fault: fault.to_string() }
}

#[cfg(test)]
mod tests {
    use turnstone_agents::{OnInfo, SearchInfo, SearchRequest};
    use turnstone_base::streams::Stream;
    use turnstone_env::{AnyState, Params};

    use super::*;
    use crate::asking::MOST_AT_ONCE;
    use crate::record::{TournamentFormat, TournamentSettings};

    /// An agent whose GPU fails.
    struct Lost;

    impl Search for Lost {
        fn most_seats(&self) -> usize {
            2
        }

        fn new_game(&mut self, _: usize, _: &AnyState, _: Stream) {}

        fn begin(&mut self, _: usize, _: &AnyState, _: SearchRequest) {}

        fn advance(&mut self, _: &mut OnInfo<'_>) -> Result<Vec<(usize, Chosen)>, Fault> {
            Err(Fault::new("the GPU failed: device lost"))
        }

        fn report(&self, _: usize) -> SearchInfo {
            SearchInfo::default()
        }

        fn clear(&mut self) {}
    }

    fn agents(game: &dyn PlayableGame, specs: &[&str]) -> Vec<Agent> {
        let load = |spec: &&str| Agent::load(&spec.parse().expect("a spec"), game).expect("it plays this game");
        specs.iter().map(load).collect()
    }

    #[test]
    fn a_gpu_that_fails_ends_the_games_without_a_loss() {
        let game = turnstone_games::built_in().make("mu_torere", &Params::new()).expect("a game");
        let agents = agents(&*game, &["random", "mcts:sims=1"]);
        let agents: Vec<&Agent> = agents.iter().collect();
        let settings = TournamentSettings::plain(TournamentFormat::RoundRobin, 2, 1);
        let opening = Opening { state: game.start(), actions: Vec::new() };
        let plan = PlannedGame { number: 0, agents: [0, 1], opening: 0 };
        let stop = Stop::default();
        let referee = Referee { game: &*game, settings: &settings };
        let mut games = ConcurrentGames::new(&*game, &agents, referee, [2, 2], &stop).expect("they play");
        games.searches[1] = Box::new(Lost);
        games.begin(0, 0, &plan, &opening);
        let fault = games.advance().expect_err("the GPU is gone").to_string();
        assert_eq!(fault, "agent `mcts:sims=1`: the GPU failed: device lost");
        assert!(games.finished().is_empty(), "no game is lost by it");
    }

    #[test]
    fn games_at_once_need_a_network_and_are_bounded() {
        let game = turnstone_games::built_in().make("mu_torere", &Params::new()).expect("a game");
        let at_once = |specs: &[&str], clock, share| {
            let agents = agents(&*game, specs);
            let agents: Vec<&Agent> = agents.iter().collect();
            let plain = TournamentSettings::plain(TournamentFormat::RoundRobin, 2, 1);
            let settings = TournamentSettings { clock, ..plain };
            let (stop, referee) = (Stop::default(), Referee { game: &*game, settings: &settings });
            let games = ConcurrentGames::new(&*game, &agents, referee, [share, usize::MAX], &stop).expect("they play");
            games.seats.len()
        };
        let network = "az:pretrained,sims=100";
        assert_eq!(at_once(&[network, "random"], None, 1000), MOST_AT_ONCE);
        assert_eq!(at_once(&[network, "az:pretrained,sims=0"], None, 30), 15);
        assert_eq!(at_once(&[network, "exact", "mcts:sims=50"], None, 1), 1);
        assert_eq!(at_once(&[network, "random"], Some(1000), 1000), 1);
        assert_eq!(at_once(&["mcts:sims=100", "random"], None, 1000), 1);
        assert_eq!(at_once(&[network, "alphabeta:nodes=1000"], None, 1000), 4);
        assert_eq!(at_once(&[network, "az:pretrained,time=1s"], None, 1000), 1);
        assert_eq!(at_once(&[network, "engine::nothing"], None, 1000), 1);
        assert_eq!(at_once(&["az:pretrained,sims=1000000"], None, 1000), 1);
    }
}

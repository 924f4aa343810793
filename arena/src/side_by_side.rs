//! The games of one thread, played side by side, so that the searches of a network in all of them share its batches.

use anyhow::Result;
use turnstone_agents::search::classic::Stop;
use turnstone_agents::{Agent, AgentError, AtOnce, PlayableGame, Player, PlayerFault, SearchRequest, Team};
use turnstone_base::streams::Stream;
use turnstone_env::{Action, AnyState};
use turnstone_models::DeviceError;

use super::openings::Opening;
use super::record::{Ending, GameRecord};
use super::referee::{GameInProgress, Referee};
use super::schedule::PlannedGame;

/// Number of games or positions that a thread searches side by side, if memory allows it. Larger batches are not faster:
/// self-play takes the same processor time per position with batches of 22 as of 40.
pub(super) const MOST_AT_ONCE: usize = 24;

/// Number of games that a thread plays side by side if `games` are its share, between these agents. More than one need a
/// search whose positions can be evaluated together, and no clocks. Half of the share is begun later, by whichever thread
/// has a free seat, so that the threads end together.
pub(super) fn games_at_once(agents: &[&Agent], clocks: bool, games: usize) -> usize {
    let ways: Vec<AtOnce> = agents.iter().map(|agent| agent.at_once()).collect();
    if clocks || !ways.iter().any(|way| matches!(way, AtOnce::Team(_))) {
        return 1;
    }
    let most = ways.iter().map(|way| match *way {
        AtOnce::Team(most) | AtOnce::Players(most) => most,
        AtOnce::Shared => usize::MAX,
    });
    most.min().unwrap_or(1).min(MOST_AT_ONCE).min(games.div_ceil(2)).max(1)
}

/// Games in progress on one thread, and the players of all agents in them.
pub(super) struct SideBySide<'a> {
    game: &'a dyn PlayableGame,
    agents: &'a [&'a Agent],
    referee: Referee<'a>,
    participants: Vec<Option<Participant>>,
    /// Games in progress by seat.
    seats: Vec<Option<SeatedGame>>,
    /// Records of games that are over.
    over: Vec<(usize, GameRecord)>,
    /// Ends moves; the games in progress are then given up.
    stop: &'a Stop,
}

struct SeatedGame {
    /// Index of the game among the caller's plans.
    index: usize,
    agents: [usize; 2],
    game: GameInProgress,
}

/// The players of an agent in the games of a thread.
enum Participant {
    /// One for all games, with a seat in each.
    Team(Team),
    /// One for all games, which keeps nothing from one move to the next.
    Shared(Box<dyn Player>),
    /// One per seat, created when it is needed.
    Players(Vec<Option<Box<dyn Player>>>),
}

impl<'a> SideBySide<'a> {
    /// Creates `seats` seats without games.
    pub(super) fn new(
        game: &'a dyn PlayableGame,
        agents: &'a [&'a Agent],
        referee: Referee<'a>,
        seats: usize,
        stop: &'a Stop,
    ) -> Self {
        let participants = agents.iter().map(|_| None).collect();
        Self { game, agents, referee, participants, seats: (0..seats).map(|_| None).collect(), over: Vec::new(), stop }
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
    ///
    /// # Errors
    /// An agent cannot play.
    pub(super) fn begin(&mut self, seat: usize, index: usize, plan: &PlannedGame, opening: &Opening) -> Result<()> {
        let mut game = self.referee.begin(plan, opening);
        for (number, side) in plan.agents.into_iter().zip(&mut game.sides) {
            let (agent, seats) = (self.agents[number], self.seats.len());
            let participant = match &mut self.participants[number] {
                Some(participant) => participant,
                place => place.insert(Participant::new(self.game, agent, seats)?),
            };
            match participant {
                Participant::Team(team) => team.search.new_game(seat, &opening.state),
                Participant::Shared(player) => player.new_game(&opening.state, &mut side.rng),
                Participant::Players(players) => {
                    let player = match &mut players[seat] {
                        Some(player) => player,
                        place => place.insert(player(agent, self.game)?),
                    };
                    player.new_game(&opening.state, &mut side.rng);
                }
            }
        }
        self.seats[seat] = Some(SeatedGame { index, agents: plan.agents, game });
        self.go_on(seat)
    }

    /// The games that have ended since the last call, with their indices.
    pub(super) fn finished(&mut self) -> Vec<(usize, GameRecord)> {
        std::mem::take(&mut self.over)
    }

    /// Evaluates a batch of each team and continues the games whose move is then chosen.
    ///
    /// # Errors
    /// The GPU of an agent failed.
    pub(super) fn advance(&mut self) -> Result<()> {
        let mut done = Vec::new();
        for agent in 0..self.participants.len() {
            let Some(Participant::Team(team)) = &mut self.participants[agent] else { continue };
            team.search.advance(&mut done).map_err(|fault| failed(self.agents[agent], &fault))?;
            for seat in done.drain(..) {
                let Some(Participant::Team(team)) = &mut self.participants[agent] else { continue };
                let action = team.search.chosen(seat);
                self.answer(seat, Ok(action))?;
                self.go_on(seat)?;
            }
        }
        Ok(())
    }

    /// Plays a game on until a team has to choose or the game is over.
    fn go_on(&mut self, seat: usize) -> Result<()> {
        while let Some(SeatedGame { agents, game, .. }) = &mut self.seats[seat] {
            let Some(side) = self.referee.turn(game) else {
                let Some(SeatedGame { index, game, .. }) = self.seats[seat].take() else { break };
                let record = self.referee.record(game);
                for incident in record.incidents.iter().filter(|incident| incident.kind == Ending::Crash) {
                    self.dismiss(incident.agent, seat); // the next game starts the player again
                }
                self.over.push((index, record));
                break;
            };
            let chosen = match &mut self.participants[agents[side.index()]] {
                Some(Participant::Team(team)) => {
                    team.begin(seat, &game.state, &mut game.sides[side.index()].rng);
                    break;
                }
                Some(Participant::Shared(player)) => self.referee.ask(game, &mut **player, self.stop),
                Some(Participant::Players(players)) => {
                    let player = players[seat].as_mut().expect("it was made when the game began");
                    self.referee.ask(game, &mut **player, self.stop)
                }
                None => unreachable!("it was made when the game began"),
            };
            if self.stop.is_raised() {
                break; // the move may be that of a search cut short
            }
            self.answer(seat, chosen)?;
        }
        Ok(())
    }

    /// Plays what the side to move has answered, and notifies the players.
    fn answer(&mut self, seat: usize, chosen: Result<Action, PlayerFault>) -> Result<()> {
        let Some(SeatedGame { agents, game, .. }) = &mut self.seats[seat] else { return Ok(()) };
        let mover = self.agents[agents[self.game.mover(&game.state).index()]];
        let answered = self.referee.answer(game, chosen);
        let Some(action) = answered.map_err(|fault| failed(mover, &fault))? else { return Ok(()) };
        for agent in *agents {
            match &mut self.participants[agent] {
                Some(Participant::Team(team)) => team.search.played(seat, action),
                Some(Participant::Players(players)) => {
                    players[seat].iter_mut().for_each(|player| player.played(action));
                }
                Some(Participant::Shared(_)) | None => {}
            }
        }
        Ok(())
    }

    /// Ends an agent's player in a seat.
    fn dismiss(&mut self, agent: usize, seat: usize) {
        match &mut self.participants[agent] {
            Some(Participant::Players(players)) => players[seat] = None,
            place => *place = None,
        }
    }
}

impl Participant {
    fn new(game: &dyn PlayableGame, agent: &Agent, seats: usize) -> Result<Self> {
        if seats > 1
            && let Some(team) = agent.team(game, seats)?
        {
            return Ok(Self::Team(team));
        }
        Ok(match agent.at_once() {
            AtOnce::Shared => Self::Shared(player(agent, game)?),
            AtOnce::Team(_) | AtOnce::Players(_) => Self::Players((0..seats).map(|_| None).collect()),
        })
    }
}

/// The failure of the GPU that evaluates an agent's positions.
fn failed(agent: &Agent, fault: &DeviceError) -> AgentError {
    AgentError::Spec { spec: agent.spec.to_string(), fault: fault.to_string() }
}

/// Creates an agent's player. If a program does not start, it is at fault in this game, and the tournament continues.
fn player(agent: &Agent, game: &dyn PlayableGame) -> Result<Box<dyn Player>> {
    match agent.player(game) {
        Err(AgentError::Player(fault)) => Ok(Box::new(Absent(fault))),
        player => Ok(player?),
    }
}

/// Player that could not be started; its game follows the rule for faults.
struct Absent(PlayerFault);

impl Player for Absent {
    fn search(&mut self, _: &AnyState, _: &mut SearchRequest<'_>, _: &mut Stream) -> Result<Action, PlayerFault> {
        Err(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{TournamentFormat, TournamentSettings};
    use turnstone_agents::search::classic::Stop;
    use turnstone_agents::search::{Evaluation, RootAction, TensorEvaluator, TensorFault};
    use turnstone_agents::{Analysis, TreeSearch};
    use turnstone_env::Params;

    const LOST: &str = "the GPU failed: device lost";

    /// An agent whose GPU is gone.
    struct Lost;

    impl Lost {
        fn fault() -> DeviceError {
            DeviceError::Failed("device lost".to_owned())
        }
    }

    impl Player for Lost {
        fn search(&mut self, _: &AnyState, _: &mut SearchRequest<'_>, _: &mut Stream) -> Result<Action, PlayerFault> {
            Err(Self::fault().into())
        }
    }

    impl TreeSearch for Lost {
        fn new_game(&mut self, _: usize, _: &AnyState) {}

        fn played(&mut self, _: usize, _: Action) {}

        fn begin(&mut self, _: usize, _: &AnyState, _: u32, _: &mut Stream, _: Stop) {}

        fn searching(&self) -> usize {
            1
        }

        fn advance_while(&mut self, _: &mut dyn FnMut() -> bool, _: &mut Vec<usize>) -> Result<(), DeviceError> {
            Err(Self::fault())
        }

        fn advance_with(&mut self, _: &mut dyn TensorEvaluator, _: &mut Vec<usize>) -> Result<(), TensorFault> {
            unreachable!("games have their own evaluator")
        }

        fn chosen(&self, _: usize) -> Action {
            unreachable!("nothing is chosen")
        }

        fn analysis(&self, _: usize) -> Analysis {
            unreachable!("games look at no analysis")
        }

        fn actions_after(&self, _: usize, _: &[Action]) -> Option<Vec<RootAction>> {
            None
        }

        fn predict(&mut self, _: &AnyState) -> Result<(Vec<(Action, f32)>, Evaluation), DeviceError> {
            Err(Self::fault())
        }

        fn clear(&mut self) {}

        fn forget(&mut self) {}
    }

    #[test]
    fn a_gpu_that_fails_ends_the_games_without_a_loss() {
        let game = turnstone_games::built_in().make("mu_torere", &Params::new()).expect("a game");
        let agents = ["random", "mcts:sims=1"]
            .map(|spec| Agent::load(&spec.parse().expect("a spec"), &*game).expect("it plays this game"));
        let agents: Vec<&Agent> = agents.iter().collect();
        let settings = TournamentSettings::plain(TournamentFormat::RoundRobin, 2, 1);
        let opening = Opening { state: game.start(), actions: Vec::new() };
        let plan = PlannedGame { number: 0, agents: [0, 1], opening: 0 };
        for lost in
            [Participant::Team(Team { search: Box::new(Lost), simulations: 1 }), Participant::Shared(Box::new(Lost))]
        {
            let referee = Referee { game: &*game, settings: &settings };
            let stop = Stop::default();
            let mut games = SideBySide::new(&*game, &agents, referee, 2, &stop);
            games.participants[1] = Some(lost);
            let mut ended = games.begin(0, 0, &plan, &opening);
            if ended.is_ok() {
                ended = games.advance();
            }
            let fault = ended.expect_err("the GPU is gone").to_string();
            assert_eq!(fault, format!("agent `mcts:sims=1`: {LOST}"));
            assert!(games.finished().is_empty(), "no game is lost by it");
        }
    }

    #[test]
    fn games_at_once_need_a_network_and_are_bounded() {
        let game = turnstone_games::built_in().make("mu_torere", &Params::new()).expect("a game");
        let at_once = |specs: &[&str], clocks, games| {
            let load = |spec: &&str| Agent::load(&spec.parse().expect("a spec"), &*game).expect("it plays this game");
            let agents: Vec<Agent> = specs.iter().map(load).collect();
            games_at_once(&agents.iter().collect::<Vec<_>>(), clocks, games)
        };
        let network = "az:pretrained,sims=100";
        assert_eq!(at_once(&[network, "random"], false, 1000), MOST_AT_ONCE);
        assert_eq!(at_once(&[network, network], false, 30), 15);
        assert_eq!(at_once(&[network, "exact", "mcts:sims=50"], false, 1), 1);
        assert_eq!(at_once(&[network, "random"], true, 1000), 1);
        assert_eq!(at_once(&["mcts:sims=100", "random"], false, 1000), 1);
        assert_eq!(at_once(&[network, "alphabeta:nodes=1000"], false, 1000), 4);
        assert_eq!(at_once(&[network, "az:pretrained,time=1s"], false, 1000), 1);
        assert_eq!(at_once(&[network, "engine::nothing"], false, 1000), 1);
        assert_eq!(at_once(&["az:pretrained,sims=1000000"], false, 1000), 1);
    }
}

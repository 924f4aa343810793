//! One game between two players: clocks, faults and their penalties, adjudication.

use std::time::{Duration, Instant};

use rand::RngExt;
use turnstone_agents::streams::{Purpose, Stream, stream};
use turnstone_agents::{DynExactValues, Player, PlayerFault};
use turnstone_env::{Action, ActionList, AnyState, DynGame, Side};
use turnstone_models::DeviceError;

use super::openings::Opening;
use super::record::{Ending, GameRecord, Incident, Penalty, Settings};
use super::schedule::Plan;

/// Plays games according to the settings.
pub(super) struct Referee<'a> {
    pub(super) game: &'a dyn DynGame,
    pub(super) settings: &'a Settings,
    /// Exact values that end games early.
    pub(super) truth: Option<Box<dyn DynExactValues>>,
}

/// A game in progress.
pub(super) struct GameInProgress {
    plan: Plan,
    opening_plies: usize,
    pub(super) state: AnyState,
    moves: Vec<Action>,
    incidents: Vec<Incident>,
    pub(super) sides: [SideInProgress; 2],
    end: Option<End>,
}

/// One side of a game in progress.
pub(super) struct SideInProgress {
    pub(super) agent: usize,
    pub(super) rng: Stream,
    /// Remaining time for the game, if there are clocks.
    remaining: Option<Duration>,
    /// Whether random moves replace the player's from now on.
    replaced: bool,
}

/// End of a game, with the result for the first side.
struct End {
    result: i8,
    ending: Ending,
}

impl Referee<'_> {
    /// Begins a game. Its players have not been notified.
    pub(super) fn begin(&self, plan: &Plan, opening: &Opening) -> GameInProgress {
        let [a, b] = plan.agents;
        let side = |agent: usize, other: usize| SideInProgress {
            agent,
            // Each agent keeps its random stream when the seats are swapped.
            rng: stream(self.settings.seed, Purpose::Match, [plan.number as u64, u64::from(agent > other)]),
            remaining: self.settings.clock.map(Duration::from_millis),
            replaced: false,
        };
        GameInProgress {
            plan: *plan,
            opening_plies: opening.actions.len(),
            state: opening.state.clone(),
            moves: opening.actions.clone(),
            incidents: Vec::new(),
            sides: [side(a, b), side(b, a)],
            end: None,
        }
    }

    /// The side to move; `None` if the game is over.
    pub(super) fn turn(&self, game: &mut GameInProgress) -> Option<Side> {
        if game.end.is_none() {
            game.end = self.ended(&game.state);
        }
        game.end.is_none().then(|| self.game.mover(&game.state))
    }

    /// Asks the player of the side to move for an action and measures its time.
    pub(super) fn ask(&self, game: &mut GameInProgress, player: &mut dyn Player) -> Result<Action, PlayerFault> {
        let side = &mut game.sides[self.game.mover(&game.state).index()];
        if side.replaced {
            return Ok(self.random(&game.state, &mut side.rng));
        }
        let Some(remaining) = side.remaining else { return player.choose(&game.state, &mut side.rng) };
        player.clock(remaining);
        let start = Instant::now();
        let chosen = player.choose(&game.state, &mut side.rng);
        let left = remaining.checked_sub(start.elapsed());
        side.remaining = Some(left.unwrap_or_default());
        // A crash after the time limit counts as a crash.
        if left.is_none() && chosen.is_ok() { Err(PlayerFault::OutOfTime) } else { chosen }
    }

    /// Plays what the side to move has answered. Returns the action, of which the players are to be notified; `None` if
    /// the game was lost by a fault.
    ///
    /// # Errors
    /// The GPU failed, which decides no game.
    pub(super) fn answer(
        &self,
        game: &mut GameInProgress,
        chosen: Result<Action, PlayerFault>,
    ) -> Result<Option<Action>, DeviceError> {
        let mover = self.game.mover(&game.state);
        let action = match chosen {
            Ok(action) => action,
            Err(fault) => {
                let (kind, penalty) = self.judge(&fault)?;
                let side = &mut game.sides[mover.index()];
                game.incidents.push(Incident {
                    ply: game.moves.len(),
                    agent: side.agent,
                    kind,
                    what: fault.to_string(),
                });
                if penalty == Penalty::Lose {
                    game.end = Some(End { result: -mover.sign() as i8, ending: kind });
                    return Ok(None);
                }
                side.replaced |= kind != Ending::IllegalMove;
                self.random(&game.state, &mut side.rng)
            }
        };
        self.game.play(&mut game.state, action);
        game.moves.push(action);
        Ok(Some(action))
    }

    /// The record of a game that is over.
    pub(super) fn record(&self, game: GameInProgress) -> GameRecord {
        let Plan { number, round, agents, opening } = game.plan;
        let End { result, ending } = game.end.expect("the game is over");
        GameRecord {
            number,
            round,
            agents,
            opening,
            opening_plies: game.opening_plies,
            moves: game.moves.into_iter().map(|action| self.game.action_text(action)).collect(),
            result,
            ending,
            incidents: game.incidents,
        }
    }

    /// Confirms by the rules a game that was read from a file: that its moves are legal, that it ended where it had to,
    /// and that result, ending and incidents follow from that. The game is known to be of this opening's plan.
    ///
    /// # Errors
    /// The first fault, in words.
    pub(super) fn confirm(&self, game: &GameRecord, opening: &Opening) -> Result<(), String> {
        let theirs = opening.actions.iter().map(|&action| self.game.action_text(action));
        if game.opening_plies != opening.actions.len() || !theirs.eq(game.moves[..game.opening_plies].iter().cloned()) {
            return Err(format!("it does not begin with opening {}", game.opening));
        }
        let mut state = opening.state.clone();
        let mut incidents = game.incidents.iter().peekable();
        let mut replaced = [false; 2];
        for ply in game.opening_plies..=game.moves.len() {
            let mover = self.game.mover(&state);
            let incident = incidents.next_if(|incident| incident.ply == ply);
            if incident.is_some_and(|incident| incident.agent != game.agents[mover.index()]) {
                return Err(format!("the incident at ply {ply} is not the mover's"));
            }
            if incident.is_some() && replaced[mover.index()] {
                return Err(format!("the incident at ply {ply} is of an agent that is not asked any more"));
            }
            replaced[mover.index()] |= incident.is_some_and(|incident| incident.kind != Ending::IllegalMove);
            let end = self.ended(&state);
            let Some(text) = game.moves.get(ply) else {
                // A fault ends a game that would have gone on.
                let expected = match (end, incident) {
                    (Some(end), None) => Some(end),
                    (None, Some(incident)) if self.penalty(incident.kind) == Some(Penalty::Lose) => {
                        Some(End { result: -mover.sign() as i8, ending: incident.kind })
                    }
                    _ => None,
                };
                let as_said = |end: &End| (end.result, end.ending) == (game.result, game.ending);
                if !expected.as_ref().is_some_and(as_said) {
                    return Err("its result or ending does not follow from its moves".into());
                }
                break;
            };
            if end.is_some() {
                return Err(format!("it goes on after its end at ply {ply}"));
            }
            if incident.is_some_and(|incident| self.penalty(incident.kind) != Some(Penalty::Random)) {
                return Err(format!("it goes on after the incident at ply {ply}"));
            }
            let action = self.game.parse_action(text).map_err(|error| format!("move {}: {error}", ply + 1))?;
            self.game.try_play(&mut state, action).map_err(|error| format!("move {}: {error}", ply + 1))?;
        }
        match incidents.next() {
            Some(incident) => Err(format!("an incident at ply {} does not belong to it", incident.ply)),
            None => Ok(()),
        }
    }

    /// What comes of a fault of this kind; `None` if it is not a fault.
    fn penalty(&self, kind: Ending) -> Option<Penalty> {
        match kind {
            Ending::OutOfTime => Some(self.settings.out_of_time),
            Ending::IllegalMove | Ending::Crash => Some(self.settings.on_fault),
            Ending::Rules | Ending::Limit | Ending::Adjudicated => None,
        }
    }

    fn ended(&self, state: &AnyState) -> Option<End> {
        if let Some(outcome) = self.game.outcome(state) {
            let ending = if outcome.truncated { Ending::Limit } else { Ending::Rules };
            return Some(End { result: outcome.value(), ending });
        }
        let result = self.truth.as_ref()?.value(state)?;
        Some(End { result, ending: Ending::Adjudicated })
    }

    /// Kind of a fault, and its penalty.
    fn judge(&self, fault: &PlayerFault) -> Result<(Ending, Penalty), DeviceError> {
        Ok(match fault {
            PlayerFault::OutOfTime => (Ending::OutOfTime, self.settings.out_of_time),
            PlayerFault::IllegalMove(_) => (Ending::IllegalMove, self.settings.on_fault),
            PlayerFault::Crashed(_) | PlayerFault::Silent(_) => (Ending::Crash, self.settings.on_fault),
            PlayerFault::Device(fault) => return Err(fault.clone()),
        })
    }

    fn random(&self, state: &AnyState, rng: &mut Stream) -> Action {
        let mut legal = ActionList::new();
        self.game.legal(state, &mut legal);
        legal[rng.random_range(0..legal.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Adjudication, Format};
    use super::*;
    use turnstone_agents::{Effort, PlayableGame, SearchRequest};
    use turnstone_env::Erased;
    use turnstone_env::games::MuTorere;

    /// Plays the first legal action, and from its second move on the given behaviour.
    struct Scripted {
        moves: usize,
        then: Result<Duration, PlayerFault>,
        clocks: Vec<Duration>,
    }

    impl Scripted {
        fn new(then: Result<Duration, PlayerFault>) -> Self {
            Self { moves: 0, then, clocks: Vec::new() }
        }
    }

    impl Player for Scripted {
        fn clock(&mut self, remaining: Duration) {
            self.clocks.push(remaining);
        }

        fn search(
            &mut self,
            state: &AnyState,
            _: &mut SearchRequest<'_>,
            _: &mut Stream,
        ) -> Result<Action, PlayerFault> {
            self.moves += 1;
            if self.moves > 1 {
                std::thread::sleep(self.then.clone()?);
            }
            Ok(Erased::new(MuTorere::default()).legal_actions(state)[0])
        }
    }

    /// Plays a game between two players.
    fn play(referee: &Referee<'_>, plan: &Plan, opening: &Opening, mut players: [&mut dyn Player; 2]) -> GameRecord {
        let mut game = referee.begin(plan, opening);
        while let Some(side) = referee.turn(&mut game) {
            let chosen = referee.ask(&mut game, players[side.index()]);
            if let Some(action) = referee.answer(&mut game, chosen).expect("no GPU") {
                players.iter_mut().for_each(|player| player.played(action));
            }
        }
        referee.record(game)
    }

    /// Plays a game in which the first side shows the given behaviour from its second move on.
    fn played(then: Result<Duration, PlayerFault>, penalty: Penalty) -> (GameRecord, [Scripted; 2]) {
        let game = Erased::new(MuTorere::default());
        let plain = Settings::plain(Format::RoundRobin, 2, 1);
        let settings = Settings { clock: Some(300), out_of_time: penalty, on_fault: penalty, ..plain };
        let mut players = [Scripted::new(then), Scripted::new(Ok(Duration::ZERO))];
        let opening = Opening { actions: Vec::new(), state: game.start() };
        let referee = Referee { game: &game, settings: &settings, truth: None };
        let [first, second] = &mut players;
        let plan = Plan { number: 0, round: 0, agents: [4, 7], opening: 0 };
        let record = play(&referee, &plan, &opening, [first, second]);
        (record, players)
    }

    fn faults() -> [(Result<Duration, PlayerFault>, Ending); 5] {
        [
            (Err(PlayerFault::Crashed("gone".into())), Ending::Crash),
            (Err(PlayerFault::Silent("for a second".into())), Ending::Crash),
            (Err(PlayerFault::IllegalMove("9,9".into())), Ending::IllegalMove),
            (Err(PlayerFault::OutOfTime), Ending::OutOfTime),
            (Ok(Duration::from_millis(310)), Ending::OutOfTime),
        ]
    }

    #[test]
    fn a_fault_loses_the_game_and_is_recorded() {
        for (then, kind) in faults() {
            let (record, _) = played(then, Penalty::Lose);
            assert_eq!((record.result, record.ending, record.moves.len()), (-1, kind, 2));
            let [incident] = &record.incidents[..] else { panic!("{record:?}") };
            assert_eq!((incident.ply, incident.agent, incident.kind), (2, 4, kind));
            assert!(!incident.what.is_empty());
        }
    }

    #[test]
    fn or_random_moves_replace_the_players() {
        for (then, kind) in faults() {
            let (record, [faulty, other]) = played(then, Penalty::Random);
            assert!(matches!(record.ending, Ending::Rules | Ending::Limit), "{record:?}");
            assert!(record.incidents.iter().all(|incident| incident.kind == kind && incident.agent == 4));
            if kind == Ending::IllegalMove {
                assert_eq!(record.incidents.len(), faulty.moves - 1, "it is asked again");
            } else {
                assert_eq!((record.incidents.len(), faulty.moves), (1, 2), "it is asked no more");
            }
            assert!(other.moves > 2);
        }
    }

    #[test]
    fn games_are_confirmed_and_forged_ones_are_not() {
        let game = Erased::new(MuTorere::default());
        for (penalty, then, kind) in [Penalty::Lose, Penalty::Random]
            .into_iter()
            .flat_map(|penalty| faults().map(|(then, kind)| (penalty, then, kind)))
            .chain([(Penalty::Lose, Ok(Duration::ZERO), Ending::Rules)])
        {
            let (record, _) = played(then, penalty);
            let settings =
                Settings { out_of_time: penalty, on_fault: penalty, ..Settings::plain(Format::RoundRobin, 2, 1) };
            let referee = Referee { game: &game, settings: &settings, truth: None };
            let opening = Opening { actions: Vec::new(), state: game.start() };
            assert_eq!(referee.confirm(&record, &opening), Ok(()), "{kind:?}, {penalty:?}");
            let forged = |change: &dyn Fn(&mut GameRecord)| {
                let mut forged = record.clone();
                change(&mut forged);
                assert!(forged == record || referee.confirm(&forged, &opening).is_err(), "{forged:?}");
            };
            for result in -1..=1 {
                forged(&|game| game.result = result);
            }
            for ending in Ending::ALL {
                forged(&|game| game.ending = ending);
            }
            forged(&|game| drop(game.moves.pop()));
            forged(&|game| game.moves.push("1".into()));
            forged(&|game| game.moves[1] = "nonsense".into());
            forged(&|game| game.moves[1] = game.moves[0].clone());
            forged(&|game| game.opening_plies = 1);
            if penalty == Penalty::Lose {
                forged(&|game| game.incidents.clear()); // random moves in place of a player's look like the player's
            }
            let other = Incident { ply: 1, agent: 99, kind: Ending::Crash, what: String::new() };
            forged(&|game| game.incidents.push(other.clone()));
            forged(&|game| game.incidents.insert(0, Incident { ply: 0, agent: game.agents[0], ..other.clone() }));
            forged(&|game| game.incidents.iter_mut().for_each(|incident| incident.agent = 99));
            forged(&|game| game.incidents.iter_mut().for_each(|incident| incident.ply += 1));
            forged(&|game| game.incidents.iter_mut().for_each(|incident| incident.kind = Ending::Rules));
        }
    }

    #[test]
    fn players_receive_their_remaining_time() {
        let (record, [first, _]) = played(Ok(Duration::from_millis(1)), Penalty::Lose);
        assert!(first.clocks[0] == Duration::from_millis(300) && first.clocks.is_sorted_by(|a, b| a >= b));
        let slept = Duration::from_millis(first.moves as u64 - 1);
        assert!(*first.clocks.last().expect("it moved") + slept <= Duration::from_millis(301), "{record:?}");
    }

    #[test]
    fn a_known_value_ends_the_game() {
        let game = Erased::new(MuTorere::default());
        let truth = game.exact_values(std::path::Path::new(""), Effort::Quick).expect("no file").expect("small");
        let value = truth.value(&game.start());
        let plain = Settings::plain(Format::RoundRobin, 2, 1);
        let settings = Settings { adjudication: Adjudication::Exact, ..plain };
        let referee = Referee { game: &game, settings: &settings, truth: Some(truth) };
        let mut players = [Scripted::new(Ok(Duration::ZERO)), Scripted::new(Ok(Duration::ZERO))];
        let [first, second] = &mut players;
        let plan = Plan { number: 0, round: 0, agents: [0, 1], opening: 0 };
        let opening = Opening { actions: Vec::new(), state: game.start() };
        let record = play(&referee, &plan, &opening, [first, second]);
        assert_eq!((Some(record.result), record.ending), (value, Ending::Adjudicated));
    }
}

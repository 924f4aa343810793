//! Games with faults of players.

use super::super::record::TournamentFormat;
use super::*;
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

impl Scripted {
    /// Its choice, and the time that it takes.
    fn choose(&mut self, state: &AnyState, request: &SearchRequest) -> (Chosen, Duration) {
        self.clocks.extend(request.remaining);
        self.moves += 1;
        let elapsed = match &self.then {
            _ if self.moves == 1 => Duration::ZERO,
            Ok(time) => *time,
            Err(fault) => return (Err(fault.clone()), Duration::ZERO),
        };
        (
            Ok(Erased::<_, turnstone_games::MuTorere>::with_knowledge(MuTorere::default()).legal_actions(state)[0]),
            elapsed,
        )
    }
}

/// Plays a game between two players.
fn play(referee: &Referee<'_>, plan: &PlannedGame, opening: &Opening, players: &mut [Scripted; 2]) -> GameRecord {
    let mut game = referee.begin(plan, opening);
    while let Some(side) = referee.turn(&mut game) {
        let chosen = match referee.replacement(&mut game) {
            Some(action) => Ok(action),
            None => {
                let request = referee.request(&game, &Stop::default());
                let (chosen, elapsed) = players[side.index()].choose(&game.state, &request);
                referee.timed(&mut game, elapsed, chosen)
            }
        };
        referee.answer(&mut game, chosen);
    }
    referee.record(game)
}

/// Plays a game in which the first side shows the given behaviour from its second move on.
fn played(then: Result<Duration, PlayerFault>, penalty: Penalty) -> (GameRecord, [Scripted; 2]) {
    let game = Erased::<_, turnstone_games::MuTorere>::with_knowledge(MuTorere::default());
    let plain = TournamentSettings::plain(TournamentFormat::RoundRobin, 2, 1);
    let settings = TournamentSettings { clock: Some(300), out_of_time: penalty, ..plain };
    let mut players = [Scripted::new(then), Scripted::new(Ok(Duration::ZERO))];
    let opening = Opening { actions: Vec::new(), state: game.start() };
    let referee = Referee { game: &game, settings: &settings };
    let plan = PlannedGame { number: 0, agents: [4, 7], opening: 0 };
    let record = play(&referee, &plan, &opening, &mut players);
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
fn or_random_moves_replace_the_players_whose_time_is_over() {
    for (then, kind) in faults() {
        let (record, [faulty, other]) = played(then, Penalty::Random);
        if kind == Ending::OutOfTime {
            assert!(matches!(record.ending, Ending::Rules | Ending::Limit), "{record:?}");
            assert_eq!((record.incidents.len(), faulty.moves), (1, 2), "it is asked no more");
            assert!(other.moves > 2);
        } else {
            assert_eq!(record.ending, kind);
        }
        assert!(record.incidents.iter().all(|incident| incident.kind == kind && incident.agent == 4));
    }
}

#[test]
fn players_receive_their_remaining_time() {
    let (record, [first, _]) = played(Ok(Duration::from_millis(1)), Penalty::Lose);
    assert!(first.clocks[0] == Duration::from_millis(300) && first.clocks.is_sorted_by(|a, b| a >= b));
    let slept = Duration::from_millis(first.moves as u64 - 1);
    assert!(*first.clocks.last().expect("it moved") + slept <= Duration::from_millis(301), "{record:?}");
}

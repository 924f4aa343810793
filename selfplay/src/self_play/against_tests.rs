//! Games of the network against an agent that does not learn: who has which side, and what is recorded of its moves.

use turnstone_agents::{Player, PlayerFault, SearchRequest};
use turnstone_base::streams::Stream;
use turnstone_env::games::Mancala;
use turnstone_env::toy::Toy;
use turnstone_env::{Action, ActionList, AnyState, Side};
use turnstone_models::{NetworkConfig, ResidualMlp, Weights};
use turnstone_search::{Evaluation, Uniform};

use super::recording_tests::{plain_search, plain_self_play, played_task};
use super::*;
use crate::config::SelfPlayConfig;

/// Plays the first or the last of the legal actions, and knows the game only from its start.
struct Stubborn<G: Game> {
    game: G,
    is_last: bool,
    knows: bool,
}

impl<G: Game> Player for Stubborn<G> {
    fn new_game(&mut self, _: &AnyState, _: &mut Stream) {
        self.knows = true;
    }

    fn search(&mut self, state: &AnyState, _: &mut SearchRequest<'_>, _: &mut Stream) -> Result<Action, PlayerFault> {
        assert!(std::mem::take(&mut self.knows), "it was told the position");
        Ok(pick(&self.game, state.of(), self.is_last))
    }
}

fn pick<G: Game>(game: &G, state: &G::State, is_last: bool) -> Action {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    if is_last { legal[legal.len() - 1] } else { legal[0] }
}

/// Plays games against a stubborn agent, each from the start, always with the best action of the search.
fn played<G: Game>(game: &G, is_last: bool, games: usize, at_once: usize) -> Vec<FinishedGame> {
    let self_play = SelfPlayConfig { concurrent_games: at_once, ..plain_self_play() };
    let settings = GameSettings { simulations: 40, ..GameSettings::new(&plain_search(), &self_play, 3, 1) };
    let network = NetworkConfig::from(ResidualMlp { blocks: 0, width: 4 });
    let task = Task::new(settings, &network, &Weights::random(&[], 1));
    let of_worker = game.clone();
    let against: MakePlayer =
        Arc::new(move || Box::new(Stubborn { game: of_worker.clone(), is_last, knows: false }) as Box<dyn Player>);
    let mut part = played_task(game, &task, Some(against), games, &mut Uniform);
    part.games.sort_by_key(|game| game.number);
    part.games
}

#[test]
fn the_agent_has_one_side_and_its_moves_are_recorded_as_played() {
    let game = Mancala::default();
    let games = played(&game, true, 4, 3);
    for (finished, opponent) in games.iter().zip([Side::Second, Side::First, Side::Second, Side::First]) {
        let mut state = game.start();
        let mut before = 0;
        while game.mover(&state) == opponent {
            let action = pick(&game, &state, true);
            game.play(&mut state, action);
            before += 1;
        }
        assert_eq!(before > 0, opponent == Side::First, "moves before the first one of the network are an opening");
        let (shard, moves) = (&finished.positions, &finished.moves);
        assert_eq!((shard.len(), usize::from(finished.plies)), (moves.len(), moves.len() + before));
        let (mut last, mut searched, mut features) = (Evaluation::default(), 0, vec![0.0; game.spec().features()]);
        for (i, &action) in moves.iter().enumerate() {
            let position = shard.position(i);
            game.observe(&state, &mut features);
            assert_eq!((position.features, position.mover), (&features[..], game.mover(&state)));
            if position.mover == opponent {
                assert_eq!(action, pick(&game, &state, true));
                let index = game.spec().policy_index(opponent, action) as u16;
                let shares = position.policy_indices.iter().map(|&i| f32::from(u8::from(i == index)));
                assert!(shares.eq(position.policy.iter().copied()), "{:?}", position.policy);
                assert_eq!(position.root, last);
            } else {
                searched += usize::from(position.policy.iter().filter(|&&share| share > 0.0).count() > 1);
                last = position.root;
            }
            game.play(&mut state, action);
        }
        assert_eq!(game.outcome(&state), Some(finished.outcome));
        assert!(searched > 3, "the network's positions have the policy of a search");
    }
    let fields = |game: &FinishedGame| (game.positions.clone(), game.outcome, game.plies);
    assert!(games.iter().map(fields).eq(played(&game, true, 4, 1).iter().map(fields)), "one game after another");
    assert_eq!(fields(&games[0]), fields(&games[2]), "nothing is random here");
}

#[test]
fn the_agent_moves_as_often_as_it_is_its_turn() {
    // Player 1 goes left, where it wins. There the agent moves twice.
    let toy: Toy = "1(2(2(+4 +7) +2) -9)".parse().expect("a tree");
    let game = &played(&toy, false, 1, 1)[0];
    let movers: Vec<Side> = (0..game.positions.len()).map(|i| game.positions.position(i).mover).collect();
    assert_eq!((movers, game.outcome), (vec![Side::First, Side::Second, Side::Second], Outcome::by_margin(4)));
    // In game 1 the agent would begin, and the game be over before the network had moved.
    let toy: Toy = "1(-3 1(-2 +5))".parse().expect("a tree");
    let game = &played(&toy, false, 2, 1)[1];
    assert_eq!((game.plies, game.positions.len(), game.outcome), (2, 2, Outcome::by_margin(5)));
}

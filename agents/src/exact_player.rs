//! Player with exact values: it keeps the value of the position, except for a given rate of errors.

use std::path::Path;

use rand::RngExt;
use turnstone_base::machine::cores;
use turnstone_base::streams::Stream;
use turnstone_env::{Action, ActionList, AnyState, Rules};
use turnstone_exact::{ExactValues, SolveLimits};
use turnstone_search::Evaluation;
use turnstone_search::classic::{AlphaBeta, Heuristic};

use crate::classical::find_heuristic;
use crate::error::AgentError;
use crate::exact_spec::ExactSpec;
use crate::one_by_one::{Chooser, OnReport};
use crate::playable::{Effort, Playable};
use crate::request::{Score, SearchInfo, SearchRequest};

/// Depth in plies of the alpha-beta search where exact values do not decide.
const DEPTH: u32 = 4;

/// Checks that the tables of a spec are a folder.
pub(crate) fn check(tables: &Path) -> Result<(), AgentError> {
    match tables.is_file() {
        true => Err("expected the folder of the tables, not a file".to_owned().into()),
        false => Ok(()),
    }
}

/// Error for a game without exact values.
pub(crate) fn missing(game: &str) -> AgentError {
    format!("there are no exact values of {game} with these parameters").into()
}

/// Loads the game's exact values, of which searches keep to the limits.
fn values<K: Playable>(
    tables: &Path,
    game: &K::Game,
    limits: SolveLimits,
) -> Result<Box<dyn ExactValues<K::Game>>, AgentError> {
    check(tables)?;
    let truth = K::exact_values(game, tables, Effort::Patient(limits)).map_err(|error| error.to_string())?;
    truth.ok_or_else(|| missing(game.spec().name))
}

/// Loads the exact values that a search may look up at every leaf: without a search of their own.
pub(crate) fn probes<K: Playable>(tables: &Path, game: &K::Game) -> Result<Box<dyn ExactValues<K::Game>>, AgentError> {
    values::<K>(tables, game, SolveLimits::nodes(0))
}

/// Plays a uniformly random action among those that keep the value and make progress; at the error rate, one that loses
/// value, if there is one. Positions that the exact values do not cover within the limits are searched with alpha-beta, or
/// at the error rate answered with any legal action. Alpha-beta also chooses in lost positions without a known distance to
/// the end or margin.
pub(crate) struct Exact<G: Rules> {
    game: G,
    truth: Box<dyn ExactValues<G>>,
    beyond: AlphaBeta<G, Box<dyn Heuristic<G>>>,
    /// Rate of errors, 0 to 1.
    error: f64,
    legal: ActionList,
}

impl<G: Rules> Exact<G> {
    pub(crate) fn new<K: Playable<Game = G>>(spec: &ExactSpec, game: &G) -> Result<Self, AgentError> {
        let heuristic = find_heuristic::<K>(game, None).expect("every game has a heuristic");
        let (beyond, legal) = (AlphaBeta::new(game, heuristic), ActionList::new());
        let threads = cores();
        let limits = SolveLimits { nodes: spec.nodes.map_or(u64::MAX, u64::from), time: spec.time, threads };
        Ok(Self {
            game: game.clone(),
            truth: values::<K>(&spec.tables, game, limits)?,
            beyond,
            error: spec.error,
            legal,
        })
    }
}

impl<G: Rules> Chooser for Exact<G> {
    fn choose(
        &mut self,
        state: &AnyState,
        request: &SearchRequest,
        rng: &mut Stream,
        _: &mut OnReport<'_>,
    ) -> SearchInfo {
        let state = state.of();
        self.truth.stop_by(&request.control.stop);
        let action = self.choice(state, rng);
        // A value may take a search of its own.
        let value = if request.reports { self.truth.value(&self.game, state) } else { None };
        let score = value.map(|value| Score::of_estimate(Evaluation::exact(value), self.game.mover(state)));
        SearchInfo { depth: 1, nodes: 1, score, line: vec![action] }
    }
}

impl<G: Rules> Exact<G> {
    fn choice(&mut self, state: &G::State, rng: &mut Stream) -> Action {
        let game = &self.game;
        let errs = self.error > 0.0 && rng.random_bool(self.error);
        let any = |among: &[Action], rng: &mut Stream| among[rng.random_range(0..among.len())];
        game.legal(state, &mut self.legal);
        if errs {
            let Some(best) = self.truth.best_actions(game, state) else { return any(&self.legal, rng) };
            let worse: Vec<Action> = self.legal.iter().copied().filter(|action| !best.contains(action)).collect();
            if !worse.is_empty() {
                return any(&worse, rng);
            }
        }
        let optimal = self.truth.optimal_actions(game, state).filter(|actions| !actions.is_empty());
        match optimal {
            Some(optimal) if !self.is_lost_blindly(state) => any(&optimal, rng),
            _ => self.beyond.search(state, DEPTH).action.expect("a running game has a best action"),
        }
    }

    /// Whether the game is lost and the exact values do not say which action resists most.
    fn is_lost_blindly(&self, state: &G::State) -> bool {
        let game = &self.game;
        let lost = self.truth.value(game, state).is_some_and(|value| f32::from(value) == -game.mover(state).sign());
        lost && self.truth.distance(game, state).is_none() && self.truth.margin(game, state).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::AgentSpec;
    use std::marker::PhantomData;
    use turnstone_base::streams::{Purpose, stream};
    use turnstone_env::Notation;
    use turnstone_env::games::{Konane, Mancala, Morris, MuTorere};
    use turnstone_env::{Params, Rules, Side, play_text};
    use turnstone_exact::{Silent, TableError};
    use turnstone_games::konane::{KonaneSolver, KonaneValues};
    use turnstone_games::mancala::{MancalaEndgames, MancalaSolver, MancalaValues, StoreDifference};
    use turnstone_games::morris::MorrisTable;
    use turnstone_games::mu_torere::MuTorereValues;

    type Values<G> = Result<Option<Box<dyn ExactValues<G>>>, TableError>;

    /// What `turnstone-games` knows, by the traits of the crate under test.
    struct Known<G>(PhantomData<G>);

    fn limits(effort: Effort) -> SolveLimits {
        let Effort::Patient(limits) = effort else { panic!("a player is patient") };
        limits
    }

    impl Playable for Known<MuTorere> {
        type Game = MuTorere;

        fn exact_values(game: &MuTorere, _: &Path, _: Effort) -> Values<MuTorere> {
            Ok(Some(Box::new(MuTorereValues::new(game).expect("no fault"))))
        }
    }

    impl Playable for Known<Mancala> {
        type Game = Mancala;

        fn heuristics() -> Vec<Box<dyn Heuristic<Mancala>>> {
            vec![Box::new(StoreDifference)]
        }

        fn exact_values(game: &Mancala, tables: &Path, effort: Effort) -> Values<Mancala> {
            let endgames = MancalaEndgames::open(game, &tables.join(MancalaEndgames::file_name(game)))?;
            let solver = MancalaSolver::new(game, Some(endgames), 1 << 16);
            Ok(Some(Box::new(MancalaValues::forgetting(solver, limits(effort)))))
        }
    }

    impl Playable for Known<Konane> {
        type Game = Konane;

        fn exact_values(_: &Konane, _: &Path, effort: Effort) -> Values<Konane> {
            assert_eq!(limits(effort).nodes, u64::MAX);
            Ok(Some(Box::new(KonaneValues::forgetting(KonaneSolver::new(1 << 12), SolveLimits::nodes(10_000)))))
        }
    }

    impl Playable for Known<Morris> {
        type Game = Morris;

        fn exact_values(game: &Morris, tables: &Path, _: Effort) -> Values<Morris> {
            Ok(Some(Box::new(MorrisTable::open(game, &tables.join(MorrisTable::file_name(game)))?)))
        }
    }

    fn player<G: Rules>(spec: &str, game: &G) -> Exact<G>
    where
        Known<G>: Playable<Game = G>,
    {
        let spec: AgentSpec = spec.parse().expect("valid");
        let spec: &ExactSpec = spec.settings().expect("an exact agent");
        Exact::new::<Known<G>>(spec, game).expect("it has exact values")
    }

    fn chosen<G: Rules>(player: &mut Exact<G>, state: &AnyState, rng: &mut Stream) -> SearchInfo {
        player.choose(state, &SearchRequest::default().with_reports(), rng, &mut |_| ())
    }

    #[test]
    fn it_keeps_the_value_and_errs_at_its_rate() {
        let game = MuTorere::default();
        let truth = MuTorereValues::new(&game).expect("no fault");
        let mut state = game.start();
        play_text(&game, &mut state, "0,4 1,0").expect("legal");
        let mut rng = stream(1, Purpose::Play, [0, 0]);
        for (spec, share) in [("exact", 0.0_f64), ("exact:x,error=1", 1.0), ("exact:x,error=0.25", 0.25)] {
            let mut player = player(spec, &game);
            let (mut errors, mut critical) = (0.0, 0.0);
            for _ in 0..300 {
                state = game.start();
                for _ in 0..20 {
                    let best = truth.best_actions(&game, &state).expect("it covers all");
                    let mut legal = ActionList::new();
                    game.legal(&state, &mut legal);
                    if legal.is_empty() {
                        break;
                    }
                    let action = chosen(&mut player, &AnyState::new(state), &mut rng).line[0];
                    if best.len() < legal.len() {
                        critical += 1.0;
                        errors += f64::from(u8::from(!best.contains(&action)));
                    }
                    game.play(&mut state, legal[rng.random_range(0..legal.len())]);
                }
            }
            assert!(critical > 300.0, "{critical}");
            let spread = 4.0 * (share * (1.0 - share) / critical).sqrt();
            assert!((errors / critical - share).abs() <= spread, "{spec}: {errors} of {critical}");
        }
    }

    #[test]
    fn mancala_is_played_for_the_margin_in_lost_positions_too() {
        let game = Mancala::default();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(MancalaEndgames::file_name(&game));
        MancalaEndgames::build(&game, 8, 1, &Silent).save(&path).expect("writable");
        let (spec, solver) = (format!("exact:{}", folder.path().display()), MancalaSolver::new(&game, None, 1 << 16));
        let (mut player, mut rng) = (player(&spec, &game), stream(2, Purpose::Play, [0, 0]));
        let (mut lost, mut legal) = (0, ActionList::new());
        for _ in 0..40 {
            let mut state = game.start();
            while game.outcome(&state).is_none() {
                let in_play = Side::BOTH.iter().flat_map(|&side| game.row(&state, side)).sum::<u8>();
                if in_play <= 14 {
                    let (margin, best) = solver.best_margin(&game, &state, &SolveLimits::NONE).expect("no limit");
                    let action = chosen(&mut player, &AnyState::new(state), &mut rng).line[0];
                    assert!(best.contains(&action), "{}: {margin}", game.position_text(&state));
                    lost += u32::from(f32::from(margin) * game.mover(&state).sign() < 0.0);
                }
                game.legal(&state, &mut legal);
                game.play(&mut state, legal[rng.random_range(0..legal.len())]);
            }
        }
        assert!(lost > 50, "{lost}");
    }

    #[test]
    fn limits_of_nodes_leave_the_move_to_alpha_beta() {
        let game = Mancala::default();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(MancalaEndgames::file_name(&game));
        MancalaEndgames::build(&game, 4, 1, &Silent).save(&path).expect("writable");
        for limit in ["nodes=100", "time=5ms"] {
            let mut player = player(&format!("exact:{},{limit}", folder.path().display()), &game);
            assert_eq!(player.truth.value(&game, &game.start()), None, "{limit}");
            let mut rng = stream(1, Purpose::Play, [0, 0]);
            let action = chosen(&mut player, &AnyState::new(game.start()), &mut rng).line[0];
            let beyond = player.beyond.search(&game.start(), 4).action;
            assert_eq!(Some(action), beyond, "{limit}");
        }
    }

    #[test]
    fn uncovered_positions_are_searched_and_missing_tables_are_named() {
        let game = Konane::default().with_params(&Params::new()).expect("8x8");
        let mut exact = player("exact", &game);
        let start = AnyState::new(game.start());
        let mut rng = stream(1, Purpose::Play, [0, 0]);
        assert_eq!(chosen(&mut exact, &start, &mut rng).score, None);
        let fault = |spec: &str| {
            let spec: AgentSpec = spec.parse().expect("valid");
            let spec: &ExactSpec = spec.settings().expect("an exact agent");
            Exact::new::<Known<Morris>>(spec, &Morris::default()).err().expect("no table").to_string()
        };
        assert!(fault("exact:nowhere").contains("turnstone solve"), "{}", fault("exact:nowhere"));
    }
}

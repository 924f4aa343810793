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
pub(crate) struct ExactPlayer<G: Rules> {
    game: G,
    truth: Box<dyn ExactValues<G>>,
    fallback: AlphaBeta<G, Box<dyn Heuristic<G>>>,
    /// Rate of errors, 0 to 1.
    error: f64,
    legal: ActionList,
}

impl<G: Rules> ExactPlayer<G> {
    pub(crate) fn new<K: Playable<Game = G>>(spec: &ExactSpec, game: &G) -> Result<Self, AgentError> {
        let heuristic = find_heuristic::<K>(game, None).expect("every game has a heuristic");
        let (fallback, legal) = (AlphaBeta::new(game, heuristic), ActionList::new());
        let threads = cores();
        let limits = SolveLimits { nodes: spec.nodes.map_or(u64::MAX, u64::from), time: spec.time, threads };
        Ok(Self {
            game: game.clone(),
            truth: values::<K>(&spec.tables, game, limits)?,
            fallback,
            error: spec.error,
            legal,
        })
    }
}

impl<G: Rules> Chooser for ExactPlayer<G> {
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

impl<G: Rules> ExactPlayer<G> {
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
            Some(optimal) if !self.is_lost_without_values(state) => any(&optimal, rng),
            _ => self.fallback.search(state, DEPTH).action.expect("a running game has a best action"),
        }
    }

    /// Whether the game is lost and the exact values do not say which action resists most.
    fn is_lost_without_values(&self, state: &G::State) -> bool {
        let game = &self.game;
        let lost = self.truth.value(game, state).is_some_and(|value| f32::from(value) == -game.mover(state).sign());
        lost && self.truth.distance(game, state).is_none() && self.truth.margin(game, state).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::AgentSpec;
    use crate::toy_values::ToyGame;
    use turnstone_base::streams::{Purpose, stream};
    use turnstone_env::toy::Toy;

    /// An agent's choices at the start of a tree, repeated until a random choice shows, and its score.
    fn choices(spec: &str, tree: &str) -> (Vec<usize>, Option<Score>) {
        let (game, spec): (Toy, AgentSpec) = (tree.parse().expect("a tree"), spec.parse().expect("valid"));
        let spec: &ExactSpec = spec.settings().expect("an exact agent");
        let mut player = ExactPlayer::new::<ToyGame>(spec, &game).expect("it has exact values");
        let (start, mut rng) = (AnyState::new(game.start()), stream(1, Purpose::Play, [0, 0]));
        let request = SearchRequest::default().with_reports();
        let mut choose = || player.choose(&start, &request, &mut rng, &mut |_| ());
        let score = choose().score;
        ((0..2000).map(|_| choose().line[0].index()).collect(), score)
    }

    /// The different choices, in order.
    fn chosen(spec: &str, tree: &str) -> Vec<usize> {
        let mut all = choices(spec, tree).0;
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn it_keeps_the_value_and_errs_at_its_rate() {
        let tree = "1(1(+1) 2(0) +2 2(-1))";
        let (played, score) = choices("exact", tree);
        assert!(played.contains(&0) && played.contains(&2) && !played.contains(&1) && !played.contains(&3));
        assert_eq!(score.expect("covered").win_draw_loss, [1.0, 0.0, 0.0]);
        assert_eq!(chosen("exact:x,error=1", tree), [1, 3]);
        assert_eq!(chosen("exact:x,error=1", "1(+1 +2)"), [0, 1], "there is no error to make");
        let errors = choices("exact:x,error=0.25", tree).0.iter().filter(|&&choice| choice % 2 == 1).count();
        // Four standard deviations of 2000 draws.
        assert!(errors.abs_diff(500) < 78, "{errors}");
    }

    /// Alpha-beta sees the losses of 1 and 2, but not the one of 5 behind its horizon.
    #[test]
    fn lost_positions_are_played_for_the_margin_or_by_alpha_beta() {
        let tree = "1(1(1(1(1(1(-5))))) -1 -2)";
        assert_eq!(chosen("exact:margins", tree), [1]);
        assert_eq!(chosen("exact", tree), [0]);
    }

    #[test]
    fn positions_beyond_the_limits_are_left_to_alpha_beta() {
        let tree = "1(+1 2(+3 +2) 0)";
        assert_eq!(chosen("exact:limited,nodes=100", tree), [0, 1]);
        let (played, score) = choices("exact:limited,nodes=99", tree);
        assert!(played.iter().all(|&choice| choice == 1) && score.is_none());
        assert_eq!(chosen("exact:limited,nodes=99,error=1", tree), [0, 1, 2]);
    }

    #[test]
    fn missing_tables_are_named() {
        let spec: AgentSpec = "exact:missing".parse().expect("valid");
        let spec: &ExactSpec = spec.settings().expect("an exact agent");
        let fault = ExactPlayer::new::<ToyGame>(spec, &Toy::default()).err().expect("no table").to_string();
        assert!(
            fault.contains("missing: the table is missing; ") && fault.contains("`turnstone solve toy`"),
            "{fault}"
        );
    }
}

//! The class `Network`: a checkpoint evaluated by the program's own kernel.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use turnstone_agents::{LoadedNetwork, PRETRAINED, game_params, load_network, shape};
use turnstone_env::Spec;
use turnstone_models::{Inference, softmax};

use crate::arrays::{expect_shape, floats};
use crate::errors::{agent_error, game_error, value_error};
use crate::game::Game;
use crate::registry::registered;
use crate::state::State;

/// Rows that the kernel evaluates at once.
const BATCH: usize = 256;

/// A trained network, evaluated by the program's own kernel. `load` makes one.
///
/// It does not change, so copies are the same object. A pickle holds the checkpoint's path and the game, and is loaded from
/// there.
#[pyclass(frozen, module = "turnstone_rl")]
pub(crate) struct Network {
    /// The game that the network was trained for.
    #[pyo3(get)]
    game: Game,
    checkpoint: PathBuf,
    description: String,
    /// Number of training steps of the checkpoint.
    #[pyo3(get)]
    step: u64,
    inference: Mutex<Inference>,
}

/// Results for each row.
struct Outputs {
    /// `[rows, actions]`.
    logits: Vec<f32>,
    /// Probabilities of win, draw and loss for the mover, `[rows, 3]`.
    outcomes: Vec<f32>,
}

/// Policy logits `[rows, actions]` and values `[rows]`.
type Evaluated<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);

/// Loads a checkpoint: a file, the newest one of a run folder, or `pretrained` for the agent that comes with a game. The
/// game is that of the checkpoint, and is checked if it is given.
#[pyfunction]
#[pyo3(signature = (checkpoint, game = None))]
pub(crate) fn load(py: Python<'_>, checkpoint: PathBuf, game: Option<&Bound<'_, PyAny>>) -> PyResult<Network> {
    let named = game.map(|game| Game::of(game)).transpose()?;
    let is_pretrained = checkpoint.as_os_str() == PRETRAINED;
    if is_pretrained && named.is_none() {
        return Err(value_error("load('pretrained') needs the game: load('pretrained', 'mancala')"));
    }
    py.detach(|| {
        let (game, network) = match named {
            Some(game) => {
                let network = load_network(&checkpoint, &*game.rules).map_err(agent_error)?;
                (game, network)
            }
            None => of_checkpoint(&checkpoint)?,
        };
        let shape = shape(game.rules.spec());
        let inference = Inference::new(&network.weights, &network.info.network, &shape, BATCH).map_err(value_error)?;
        let (description, step) = (network.info.network.to_string(), network.info.step);
        Ok(Network { game, checkpoint, description, step, inference: Mutex::new(inference) })
    })
}

/// The network of a checkpoint, and its game.
fn of_checkpoint(checkpoint: &Path) -> PyResult<(Game, LoadedNetwork)> {
    let network = LoadedNetwork::read(checkpoint).map_err(agent_error)?;
    let rules = registered().make(&network.info.game, &game_params(&network.info)).map_err(game_error)?;
    let network = network.checked(checkpoint, &*rules).map_err(agent_error)?;
    Ok((Game { rules }, network))
}

#[pymethods]
impl Network {
    /// Evaluates observations, float32 [n, planes, height, width]: returns policy logits, float32 [n, actions], and values,
    /// float32 [n], the expected result for the player to move. With masks, bool [n, actions], the logits of other actions
    /// are -inf. Logits and masks are in the order of the policy vector (`Game.policy_index`). The method is an `evaluate` of
    /// `Search` and `SelfPlay`.
    #[pyo3(signature = (observations, masks = None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
        masks: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Evaluated<'py>> {
        let spec = self.game.rules.spec();
        let (rows, mut outputs) = self.outputs(py, observations)?;
        if let Some(masks) = masks {
            let masks: numpy::PyReadonlyArray2<'py, bool> = masks
                .extract()
                .map_err(|_| PyTypeError::new_err("masks must be an array of bool of the shape [rows, actions]"))?;
            expect_shape(masks.as_untyped(), &[rows, spec.actions], "masks")?;
            outputs.logits.iter_mut().zip(masks.as_array().iter()).filter(|(_, legal)| !**legal).for_each(
                |(logit, _)| {
                    *logit = f32::NEG_INFINITY;
                },
            );
        }
        let values = outputs.outcomes.chunks_exact(3).map(|outcome| outcome[0] - outcome[2]);
        let values = PyArray1::from_iter(py, values);
        Ok((PyArray1::from_vec(py, outputs.logits).reshape([rows, spec.actions])?, values))
    }

    /// Probabilities of win, draw and loss for the player to move, float32 [n, 3].
    fn outcomes<'py>(&self, py: Python<'py>, observations: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (rows, outputs) = self.outputs(py, observations)?;
        PyArray1::from_vec(py, outputs.outcomes).reshape([rows, 3])
    }

    /// Probabilities of the legal actions of a state, float32 [actions], by action.
    fn policy<'py>(&self, py: Python<'py>, state: PyRef<'py, State>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        state.expect_game(&self.game)?;
        let (rules, spec) = (&self.game.rules, self.game.rules.spec());
        let mut features = vec![0.0; spec.features()];
        let (legal, mover) = self.game.guarded(|| {
            rules.observe(&state.state, &mut features);
            (rules.legal_actions(&state.state), rules.mover(&state.state))
        })?;
        let outputs = self.run(py, 1, &features)?;
        let mut priors: Vec<f32> =
            legal.iter().map(|&action| outputs.logits[spec.policy_index(mover, action)]).collect();
        softmax(&mut priors);
        let mut policy = vec![0.0; spec.actions];
        legal.iter().zip(priors).for_each(|(action, prior)| policy[action.index()] = prior);
        Ok(PyArray1::from_vec(py, policy))
    }

    fn __call__<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
        masks: &Bound<'py, PyAny>,
    ) -> PyResult<Evaluated<'py>> {
        self.evaluate(py, observations, Some(masks))
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let load = py.import("turnstone_rl")?.getattr("load")?;
        Ok((load, (&self.checkpoint, self.game.clone()).into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        let (file, game) = (self.checkpoint.display(), self.game.rules.name());
        format!("<turnstone.Network {file}: {game}, {}, step {}>", self.description, self.step)
    }
}

impl Network {
    /// The number of observations, and the results for them.
    fn outputs(&self, py: Python<'_>, observations: &Bound<'_, PyAny>) -> PyResult<(usize, Outputs)> {
        let observations = floats(observations, "observations")?;
        let [planes, height, width] = self.game.shape();
        let rows = observations.shape().first().copied().unwrap_or(0);
        expect_shape(observations.as_untyped(), &[rows, planes, height, width], "observations")?;
        let tensors = observations.as_slice()?;
        let features = py.detach(|| features(self.game.rules.spec(), tensors));
        Ok((rows, self.run(py, rows, &features)?))
    }

    /// Evaluates feature vectors `[rows, features]` without the GIL, looking for signals after each batch.
    fn run(&self, py: Python<'_>, rows: usize, features: &[f32]) -> PyResult<Outputs> {
        let spec = self.game.rules.spec();
        let mut outputs =
            Outputs { logits: Vec::with_capacity(rows * spec.actions), outcomes: Vec::with_capacity(rows * 3) };
        for part in features.chunks(BATCH * spec.features()) {
            py.detach(|| {
                let mut inference = self.inference.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let predictions = inference.evaluate(part.len() / spec.features(), part);
                outputs.logits.extend_from_slice(predictions.policy);
                outputs.outcomes.extend_from_slice(predictions.value);
            });
            py.check_signals()?;
        }
        outputs.outcomes.chunks_exact_mut(3).for_each(softmax);
        Ok(outputs)
    }
}

/// Feature vectors of observations `[rows, planes, height, width]`: [`Spec::expand`] backwards.
fn features(spec: &Spec, tensors: &[f32]) -> Vec<f32> {
    let area = spec.lattice[0] * spec.lattice[1];
    let mut features = Vec::with_capacity(tensors.len() / spec.tensor_len().max(1) * spec.features());
    for tensor in tensors.chunks_exact(spec.tensor_len()) {
        let (point_planes, scalars) = tensor.split_at(spec.point_planes.len() * area);
        for plane in point_planes.chunks_exact(area) {
            features.extend(spec.cells.iter().map(|&cell| plane[usize::from(cell)]));
        }
        features.extend(scalars.chunks_exact(area).map(|plane| plane[0]));
    }
    features
}

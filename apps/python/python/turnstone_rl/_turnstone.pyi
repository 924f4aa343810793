from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, NoReturn, Protocol, SupportsIndex, final, overload

from typing_extensions import Self, disjoint_base

import numpy as np
import numpy.typing as npt

from ._examples import Examples

__version__: str
_PROGRAM: bool

_Evaluate = Callable[[npt.NDArray[np.float32], npt.NDArray[np.bool_]], tuple[Any, Any]]
_Path = str | PathLike[str]

class IllegalActionError(ValueError):
    """An action that the rules do not allow in the position."""

class GameError(ValueError):
    """A fault of a game whose rules are written in Python: an exception or a wrong result of a method. The message names the game, the method and the fault; `__cause__` is the exception."""

def games() -> list[str]:
    """The names of the games."""
def check_game(game: str | Game | type[Game], games: int = 20, seed: int = 0) -> None:
    """Plays random games of a game in Python and checks every promise of its rules: legal actions, texts both ways, bounded
    observations that decide the legal actions, symmetries that commute with play, outcomes, and equal answers for one
    position and for many. The checks are those of the games in Rust.

    Raises AssertionError, which names the position and what does not hold, or GameError for an exception or a wrong result of
    a method.
    """
def load(checkpoint: _Path, game: str | Game | type[Game] | None = None) -> Network:
    """Loads a checkpoint: a file, the newest one of a run folder, or `pretrained` for the agent that comes with a game. The
    game is that of the checkpoint, and is checked if it is given.
    """
def _register_game(game: type[Game]) -> None: ...
def _restore_state(
    game: str | type[Game], version: int, params: dict[str, Any], text: str | None, last: int | None
) -> Any: ...
def _game(
    game: str | Game | type[Game],
    call: str,
    arguments: list[tuple[str, bool]],
    params: dict[str, Any] | None,
    named: dict[str, Any],
) -> Game: ...
def _restore_agent(game: Game, spec: str, seed: int, choices: int) -> Agent: ...
def _rasterize(svg: str, scale: float = 1.0) -> npt.NDArray[np.uint8]: ...

@disjoint_base
class Game:
    """Rules of a game with their parameters: `Game("mancala", stones=3)`. Subclasses are games whose rules are written in Python.

    Games compare by name and parameters, and can be pickled and hashed. `turnstone.games()` lists the names.

    A subclass has the attributes `name`, `num_actions` and `observation_shape` (planes, height, width) and the methods

    - `initial_state()`: an array of integers, or bytes, of always the same shape and at most 512 bytes; or any object, if there
      are `key(state)`, at most 512 bytes that hold all that decides the future, and `from_key(key)`, the state of a key;
    - `play(state, action)`: the state afterwards; `state` is a copy that may be changed and returned, but no object may be changed;
    - `mover(state)`: 0 or 1;
    - `outcome(state)`: None while the game is not over, then 1, 0 or -1 for player 0, or `"truncated"`;
    - `legal_actions(state)`: the actions, or a mask of bool [actions]; it is not called in a finished game;
    - `observation(state)`: float32 [planes, height, width], as seen by the player to move.

    Each of the last five can be written for many positions at once in place of one, or beside it: `play_many(states,
    actions)`, `mover_many(states)`, `outcome_many(states)` (arrays `(over, values)`), `legal_actions_many(states)` (masks) and
    `observation_many(states)`. `expand(states)` answers for the last four in one call, with lists of what they return:
    `(movers, outcomes, legal_actions, observations)`, the last of which may be None.

    Optional are `version`, `observation_bounds`, `plane_names`, `action_blocks`, `side_names`, `second_player_map`,
    `symmetries` with `permuted(state, points)`, `action_text(action)`, `move_text(state, action)`, `position_text(state)` with
    `parse_position(text)`, `draw(state)`, `evaluation(state)` (for alpha-beta: an integer for player 0), and `pieces(state)`
    (for the drawing: 1, -1 or 0 for each point). The arguments of `__init__` are the game's parameters.
    `turnstone.check_game` checks a game, and `turnstone.register_game` gives it a name everywhere.
    """

    def __new__(cls, *args: Any, **params: Any) -> Self: ...
    name: str
    """Name of the game, such as `mancala`."""
    version: int
    """Version of the rules; it is raised when rules, actions or planes change their meaning."""
    @property
    def params(self) -> dict[str, bool | int | str]:
        """All parameters with their values."""
    num_actions: int
    """Number of actions; an action's index means the same in every state."""
    observation_shape: tuple[int, int, int]
    """Shape of an observation: planes, height, width."""
    observation_bounds: tuple[float, float]
    """The least and the greatest number that an observation can hold."""
    plane_names: Sequence[str]
    """Names of the planes of an observation: first those with a number per point, then those that are constant."""
    action_blocks: Sequence[tuple[str, int]]
    """The blocks that the actions are numbered in: names, and how many actions each has."""
    @property
    def num_symmetries(self) -> int:
        """Number of the board's symmetries, the identity included."""
    @property
    def symmetry_actions(self) -> npt.NDArray[np.int64]:
        """Gather indices of the symmetries, int64 [symmetries, actions]: the image of a policy vector under symmetry `i` is
        `policy[..., game.symmetry_actions[i]]`.
        """
    @property
    def symmetry_cells(self) -> npt.NDArray[np.int64]:
        """Gather indices of the symmetries, int64 [symmetries, height * width]: the image of an observation under symmetry
        `i` is `observation.reshape(planes, -1)[:, game.symmetry_cells[i]].reshape(observation.shape)`.
        """
    @property
    def heuristics(self) -> list[str]:
        """Names of the static evaluations of classical search, the default first."""
    def action_text(self, action: Any) -> str:
        """The text of an action."""
    def action_index(self, text: str) -> int:
        """The action of a text; whether it is legal depends on the state."""
    def policy_index(self, player: SupportsIndex, action: SupportsIndex) -> int:
        """Where the policy vector of a network holds an action of a player (0 or 1). Policies are seen by the player to
        move, as observations are: in Mancala both players' own pits share their entries. Where the players act on the same
        points it is the action itself.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Outcome:
    """How a game ended."""

    @property
    def winner(self) -> int | None:
        """The winner, 0 or 1; None for a draw."""
    @property
    def margin(self) -> int:
        """Score of player 0 minus score of player 1 where the game keeps scores, else 0."""
    @property
    def truncated(self) -> bool:
        """Whether a limit on the number of plies ended the game."""
    @property
    def rewards(self) -> tuple[int, int]:
        """Results of both players: 1, 0 or -1."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class State:
    """An immutable position of a game: `State("mancala")` is the start, `State("mancala", text)` a position in the game's
    notation; parameters of the game are keyword arguments or the dictionary `params`.

    States compare by game and position, and can be pickled and hashed. A notebook shows the board.
    """

    def __new__(
        cls,
        game: str | Game | type[Game],
        text: str | None = None,
        *,
        params: dict[str, bool | int | str] | None = None,
        **parameters: bool | int | str,
    ) -> State: ...
    @property
    def game(self) -> Game:
        """The game."""
    @property
    def to_play(self) -> int:
        """The player to move, 0 or 1; the same player may move twice in a row. In a finished game, who would move."""
    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
    @property
    def phase(self) -> Literal["opening", "midgame", "endgame"]:
        """The part of the game: `opening`, `midgame` or `endgame`."""
    @property
    def last_action(self) -> int | None:
        """The action that led to this state, which drawings mark; None for a state from a text."""
    def outcome(self) -> Outcome | None:
        """How the game ended, None while it runs."""
    def legal_actions(self) -> list[int]:
        """The legal actions in increasing order; empty if the game is over."""
    def legal_moves(self) -> list[str]:
        """The texts of the legal actions."""
    def legal_mask(self) -> npt.NDArray[np.bool_]:
        """The legal actions as bool [actions], by action."""
    def policy_mask(self) -> npt.NDArray[np.bool_]:
        """The legal actions as bool [actions], in the order of a network's policy vector (see `Game.policy_index`)."""
    def play(self, actions: SupportsIndex | str) -> State:
        """The state after an action (an integer, no bool), or after actions given as text, separated by spaces.

        Raises IllegalActionError if an action is not legal, ValueError if a text names none.
        """
    def observation(self) -> npt.NDArray[np.float32]:
        """The observation, float32 [planes, height, width], as seen by the player to move."""
    def symmetries(self) -> list[State]:
        """The images of the state under all symmetries of the board, the state itself first."""
    def symmetry(self, index: SupportsIndex) -> State:
        """The image of the state under one symmetry."""
    def returns(self, player: SupportsIndex) -> int:
        """The result for a player (0 or 1): 1, 0 or -1; 0 while the game runs."""
    def svg(self) -> str:
        """The board as an SVG document."""
    def text(self) -> str:
        """The position in the game's notation, which `State(game, text)` reads."""
    def board(self) -> str:
        """The board drawn as text, several lines."""
    def _repr_svg_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def __copy__(self) -> State: ...
    def __deepcopy__(self, _memo: Any, /) -> State: ...

class _Named(Protocol):
    @property
    def name(self) -> str: ...

_AutoresetMode = Literal["next_step", "same_step", "disabled"] | _Named
_Arrays = tuple[npt.NDArray[np.float32], dict[str, npt.NDArray[Any]]]
_Step = tuple[
    npt.NDArray[np.float32],
    npt.NDArray[np.float32],
    npt.NDArray[np.bool_],
    npt.NDArray[np.bool_],
    dict[str, npt.NDArray[Any]],
]

@final
class VecEnv:
    """Many games of one kind, stepped together into NumPy arrays: `VecEnv("konane", 1024)`.

    Both players are played by the caller: the action of an env is that of `to_play`. `reset` and `step` return the same
    arrays every time and write them in place, without the GIL and without a copy.

    Args:
        game: name of a game, or a `Game`.
        num_envs: number of games (1 to 1048576).
        threads: number of threads that step the games (1 to 1024). They do not change what happens in the games. More than
            one pays off for thousands of games on free cores.
        autoreset_mode: when a game that has ended starts anew, as in Gymnasium 1.x, whose `AutoresetMode` it may be:
            `next_step` (the step that ends a game returns its last observation, and the next step ignores the action, whose
            mask is all true), `same_step` (the step that ends a game returns the first observation of the next one), or
            `disabled`.
        params: parameters of the game as a dictionary.
        parameters: the same as keyword arguments, in place of `params`.
    """

    def __new__(
        cls,
        game: str | Game | type[Game],
        num_envs: SupportsIndex,
        *,
        threads: SupportsIndex = 1,
        autoreset_mode: _AutoresetMode = "next_step",
        params: dict[str, bool | int | str] | None = None,
        **parameters: bool | int | str,
    ) -> VecEnv: ...
    @property
    def game(self) -> Game:
        """The game."""
    @property
    def num_envs(self) -> int:
        """Number of games."""
    @property
    def threads(self) -> int:
        """Number of threads that step the games."""
    @property
    def autoreset_mode(self) -> Literal["next_step", "same_step", "disabled"]:
        """When a game that has ended starts anew: `next_step`, `same_step` or `disabled`."""
    @property
    def observations(self) -> npt.NDArray[np.float32]:
        """float32 [num_envs, planes, height, width], each seen by its player to move. Written in place."""
    @property
    def masks(self) -> npt.NDArray[np.bool_]:
        """bool [num_envs, actions]: the legal actions. Written in place."""
    @property
    def to_play(self) -> npt.NDArray[np.uint8]:
        """uint8 [num_envs]: the player to move. Written in place."""
    @property
    def rewards(self) -> npt.NDArray[np.float32]:
        """float32 [num_envs, 2]: the rewards of the last step for both players. Written in place."""
    @property
    def terminated(self) -> npt.NDArray[np.bool_]:
        """bool [num_envs]: a rule ended the game in the last step. Written in place."""
    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """bool [num_envs]: a limit on the number of plies ended the game in the last step. Written in place."""
    def reset(
        self,
        seed: SupportsIndex | None = None,
        reset_mask: Sequence[bool] | npt.NDArray[np.bool_] | None = None,
        positions: Sequence[State | None] | None = None,
    ) -> _Arrays:
        """Starts new games, only where `reset_mask` (bool [num_envs]) is true if it is given, and returns the observations
        and an info with `action_mask` (`masks` as int8, as Gymnasium's spaces take it) and `to_play`. A seed restarts the random streams of `sample`. The first reset starts
        all games. They start at `positions`, a `State` or None for each env, where there is one.
        """
    def set(self, positions: Sequence[State | None]) -> _Arrays:
        """Starts a new game from a position in every env that has one: `positions` is a `State` or None for each env. Returns
        what `reset` returns. Raises RuntimeError before the first reset.
        """
    def step(self, actions: npt.ArrayLike) -> _Step:
        """Plays one action in every env, an array of integers [num_envs], and returns `(observations, rewards, terminated,
        truncated, info)`: always the same arrays.

        Raises IllegalActionError if an action is not legal; it names the env, and nothing is played. Raises RuntimeError
        before the first reset.
        """
    def sample(self) -> npt.NDArray[np.int64]:
        """A uniformly random legal action for each env, int64 [num_envs]."""
    def state(self, env: SupportsIndex) -> State:
        """The position in an env."""
    def final_state(self, env: SupportsIndex) -> State | None:
        """The last position of the game that ended last in an env since the reset; None without one."""
    def outcome(self, env: SupportsIndex) -> Outcome | None:
        """How the game that ended in the last step of an env ended; None if none ended."""
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Analysis:
    """What a search has found in a position."""

    @property
    def state(self) -> State:
        """The position that was searched."""
    @property
    def action(self) -> int:
        """The action to play."""
    @property
    def move_text(self) -> str:
        """The text of the action to play."""
    @property
    def policy(self) -> npt.NDArray[np.float32]:
        """float32 [actions]: the policy that results from the search, by action; 1 for the action of an agent without a tree."""
    @property
    def priors(self) -> npt.NDArray[np.float32] | None:
        """float32 [actions]: the network's prior of each action. None without a tree."""
    @property
    def visits(self) -> npt.NDArray[np.int64] | None:
        """int64 [actions]: simulations through each action. None without a tree."""
    @property
    def action_values(self) -> npt.NDArray[np.float32] | None:
        """float32 [actions]: value of each action for the player to move, NaN if not visited. None without a tree."""
    @property
    def value(self) -> float | None:
        """Expected result for the player to move, -1 to 1. None if the agent reports none."""
    @property
    def win_draw_loss(self) -> tuple[float, float, float] | None:
        """Probabilities of win, draw and loss for the player to move. None if the agent reports none."""
    @property
    def proven(self) -> int | None:
        """The exact result for the player to move, 1, 0 or -1, if the search has proven it."""
    @property
    def nodes(self) -> int:
        """Number of simulations, or of positions visited."""
    @property
    def depth(self) -> int:
        """Depth in plies: of the search, or of the principal variation."""
    @property
    def principal_variation(self) -> list[int]:
        """The expected line, which begins with the action to play."""
    @property
    def principal_variation_text(self) -> list[str]:
        """The texts of the expected line."""

@final
class Search:
    """Tree search of positions with a network of the caller.

    `evaluate(observations, masks) -> (policy_logits, values)` gets float32 [n, planes, height, width] and bool
    [n, actions], and returns float32 [n, actions] and float32 [n], the expected result for the player to move, -1 to 1.
    Masks and logits are in the order of the policy vector (`Game.policy_index`); logits of illegal actions are ignored.
    `evaluate` may be `"uniform"`: equal priors and value 0.

    Args:
        game: name of a game, or a `Game`.
        evaluate: the network.
        simulations: Simulations per position (1 to 10000000).
        cached_positions: Capacity, in positions, of the cache that keeps evaluations between calls (0 to 67108864); 0
            disables it.
        method: Search algorithm (`gumbel` or `puct`).
        c_puct: PUCT: weight of the exploration term (0 to 100).
        fpu_reduction: PUCT: first-play-urgency reduction (0 to 2).
        c_visit: Gumbel: added to the greatest visit count in the scale of the values relative to the logits (0 to 10000).
        c_scale: Gumbel: factor in the scale of the values relative to the logits (0 to 1000).
        considered: Gumbel: number of actions considered at the root (1 to 65536); by default it depends on the number of
            simulations.
        proof_nodes: Positions that a proof-number search may visit at every leaf (0 to 100000); 0 searches for no proofs.
        draw: Value of a draw for the side to move, from -1 (a loss) to 1 (a win).
    """

    def __new__(
        cls,
        game: str | Game | type[Game],
        evaluate: _Evaluate | Literal["uniform"],
        *,
        simulations: SupportsIndex = 100,
        cached_positions: SupportsIndex = 0,
        method: Literal["gumbel", "puct"] = "gumbel",
        c_puct: float = 1.25,
        fpu_reduction: float = 0.2,
        c_visit: float = 50.0,
        c_scale: float = 0.7,
        considered: SupportsIndex | None = None,
        proof_nodes: SupportsIndex = 0,
        draw: float = 0.0,
    ) -> Search: ...
    @property
    def game(self) -> Game:
        """The game."""
    @property
    def simulations(self) -> int:
        """Simulations per position."""
    @property
    def settings(self) -> dict[str, Any]:
        """All settings with their values, keyword arguments of another `Search`."""
    @overload
    def run(self, states: State, simulations: SupportsIndex | None = None) -> Analysis:
        """Searches a `State`, or a sequence of them, side by side: their leaves are evaluated in one batch. Returns an
        `Analysis`, or a list. The result for a state does not depend on the others.
        """
    @overload
    def run(self, states: Iterable[State], simulations: SupportsIndex | None = None) -> list[Analysis]:
        """Searches a `State`, or a sequence of them, side by side: their leaves are evaluated in one batch. Returns an
        `Analysis`, or a list. The result for a state does not depend on the others.
        """
    def clear_cache(self) -> None:
        """Removes all cached evaluations, which is needed when the network has changed."""
    def __reduce__(self) -> NoReturn: ...

@final
class SelfPlay:
    """Endless self-play with a network of the caller: an iterator over the `Examples` of finished games.

    `evaluate` is as of `Search`; it is called with the leaves of all games in progress. With several threads it is called
    from them, one at a time, with the leaves of `concurrent_games / threads` games, while the others search.

    Args:
        game: name of a game, or a `Game`.
        evaluate: the network.
        concurrent_games: Games played at the same time, at least one per thread and at most 65536.
        threads: Threads that search (1 to 1024). They change neither the games nor their number.
        seed: of all random choices.
        simulations: Simulations per move (1 to 1000000).
        method: Search algorithm (`gumbel` or `puct`).
        c_puct: PUCT: weight of the exploration term (0 to 100).
        fpu_reduction: PUCT: first-play-urgency reduction (0 to 2).
        noise_concentration: PUCT: total concentration of the root's Dirichlet noise, spread over the legal actions (0.001
            to 10000).
        noise_fraction: PUCT: share of the noise in the root's priors (0 to 1); 0 disables it.
        forced_playouts: PUCT: weight of forced playouts, whose visits are pruned from the policy target (0 to 100); 0
            disables them.
        considered: Gumbel: number of actions considered at the root (1 to 65536).
        c_visit: Gumbel: added to the greatest visit count in the scale of the values relative to the logits (0 to 10000).
        c_scale: Gumbel: factor in the scale of the values relative to the logits (0 to 1000).
        proof_nodes: Positions that a proof-number search may visit at every leaf (0 to 100000); 0 searches for no proofs.
        cached_positions: Capacity, in positions, of each worker's evaluation cache (0 to 67108864); 0 disables it. Cached
            evaluations become stale when the network learns.
        opening_plies: Maximum number of uniformly random plies at the start of a game, which are not recorded (0 to 1000).
        temperature: Temperature of the move choice in the first `temperature_plies` plies (0 to 10).
        temperature_plies: Number of plies, counted from the start of the game, with that temperature.
        final_temperature: Temperature of the later plies (0 to 10); 0 plays the best move.
    """

    def __new__(
        cls,
        game: str | Game | type[Game],
        evaluate: _Evaluate | Literal["uniform"],
        *,
        concurrent_games: SupportsIndex = 256,
        threads: SupportsIndex = 1,
        seed: SupportsIndex = 0,
        simulations: SupportsIndex = 64,
        method: Literal["gumbel", "puct"] = "gumbel",
        c_puct: float = 1.25,
        fpu_reduction: float = 0.2,
        noise_concentration: float = 10.0,
        noise_fraction: float = 0.25,
        forced_playouts: float = 2.0,
        considered: SupportsIndex = 16,
        c_visit: float = 50.0,
        c_scale: float = 0.7,
        proof_nodes: SupportsIndex = 0,
        cached_positions: SupportsIndex = 0,
        opening_plies: SupportsIndex = 0,
        temperature: float = 1.0,
        temperature_plies: SupportsIndex = 12,
        final_temperature: float = 0.3,
    ) -> SelfPlay: ...
    @property
    def game(self) -> Game:
        """The game."""
    @property
    def settings(self) -> dict[str, Any]:
        """All settings with their values but the seed, keyword arguments of another `SelfPlay`."""
    @property
    def stats(self) -> dict[str, float]:
        """Counts so far: positions searched, simulations, evaluations, batches, cache hits, seconds of evaluation."""
    def __iter__(self) -> Iterator[Examples]: ...
    def __next__(self) -> Examples: ...
    def play(self, games: SupportsIndex) -> Examples:
        """Plays until `games` games have finished, and returns their `Examples`. Clears the cache first. Games in progress
        continue with the next call, also after an exception.
        """
    def clear_cache(self) -> None:
        """Removes all cached evaluations, which is needed when the network has changed."""
    def __reduce__(self) -> NoReturn: ...

@final
class Agent:
    """An agent from its one-line spec: `Agent("mancala", "az:pretrained,sims=200")`.

    Specs are those of the program: `random`, `minimax:depth=6`, `alphabeta:depth=8`, `alphabeta:time=1s`,
    `mcts:sims=200`, `az:<checkpoint or run folder>,sims=100`, `az:pretrained`, `exact:<folder of tables>`,
    `engine:<options>:<command line>`. The agent plays from any position and remembers none. `level=3` in place of a spec is
    an agent of measured strength, from 1, which a beginner can beat, to 8; `spec` is then that of the agent that plays it.

    One thread at a time uses an agent: a call while another thread is in one raises a RuntimeError. Give each thread a copy,
    `copy.copy(agent)`.

    A copy shares the network and continues the random choices. A pickle holds the spec in place of the network: where it is
    loaded, `az:` reads its checkpoint again.

    Args:
        game: name of a game, or a `Game`.
        spec: the agent.
        level: number of a level of the game, in place of a spec.
        seed: of random choices.
        params: parameters of the game as a dictionary.
        parameters: the same as keyword arguments, in place of `params`.
    """

    def __new__(
        cls,
        game: str | Game | type[Game],
        spec: str | None = None,
        *,
        level: SupportsIndex | None = None,
        seed: SupportsIndex = 0,
        params: dict[str, bool | int | str] | None = None,
        **parameters: bool | int | str,
    ) -> Agent: ...
    @property
    def game(self) -> Game:
        """The game."""
    @property
    def spec(self) -> str:
        """The spec in full."""
    def act(self, state: State) -> int:
        """The action that the agent plays in a position. Ctrl-C interrupts it."""
    def analyse(self, state: State) -> Analysis:
        """What the agent finds in a position. Ctrl-C interrupts it."""
    def __copy__(self) -> Agent: ...
    def __deepcopy__(self, _memo: Any, /) -> Agent: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Network:
    """A trained network, evaluated by the program's own kernel. `load` makes one.

    It does not change, so copies are the same object. A pickle holds the checkpoint's path and the game, and is loaded from
    there.
    """

    @property
    def game(self) -> Game:
        """The game that the network was trained for."""
    @property
    def step(self) -> int:
        """Number of training steps of the checkpoint."""
    def evaluate(
        self, observations: npt.ArrayLike, masks: npt.NDArray[np.bool_] | None = None
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Evaluates observations, float32 [n, planes, height, width]: returns policy logits, float32 [n, actions], and values,
        float32 [n], the expected result for the player to move. With masks, bool [n, actions], the logits of other actions
        are -inf. Logits and masks are in the order of the policy vector (`Game.policy_index`). The method is an `evaluate` of
        `Search` and `SelfPlay`.
        """
    def outcomes(self, observations: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Probabilities of win, draw and loss for the player to move, float32 [n, 3]."""
    def policy(self, state: State) -> npt.NDArray[np.float32]:
        """Probabilities of the legal actions of a state, float32 [actions], by action."""
    def __call__(
        self, observations: npt.ArrayLike, masks: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]: ...
    def __copy__(self) -> Network: ...
    def __deepcopy__(self, _memo: Any, /) -> Network: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

# With the feature `program`.

@final
class _ExactValues:
    @property
    def game(self) -> Game: ...
    @property
    def start(self) -> int | None: ...
    @property
    def counts(self) -> dict[str, int] | None: ...
    @property
    def positions(self) -> list[State] | None: ...
    def value(self, state: State) -> int | None: ...
    def best_actions(self, state: State) -> list[int] | None: ...

def _exact_values(game: str | Game | type[Game], tables: _Path) -> _ExactValues: ...
def _grade(
    game: str | Game | type[Game],
    agent: str,
    positions: _Path | None,
    sample: SupportsIndex | None,
    phase: str | None,
    critical: bool,
    tables: _Path,
    seed: SupportsIndex,
    threads: SupportsIndex | None,
) -> str: ...
def _certify(
    game: str | Game | type[Game],
    agent: str,
    player: SupportsIndex,
    out: _Path | None,
    positions: SupportsIndex,
    seed: SupportsIndex,
    threads: SupportsIndex | None,
) -> str: ...
def _arena(
    game: str | Game | type[Game],
    agents: Sequence[str | tuple[str, Callable[[State], Any]]],
    options: dict[str, str],
    ladder: bool,
    threads: SupportsIndex | None,
    out: tuple[str, bool] | None,
    progress: Callable[[int, int], Any] | None,
) -> list[str]: ...
def _train(task: dict[str, Any], on_iteration: Callable[[str, str, int], Any]) -> tuple[int, bool]: ...
def _play_games(
    game: str | Game | type[Game],
    task: tuple[str, bytes, list[float]],
    take: Callable[[], int | None],
    put: Callable[[int, bytes], Any],
) -> None: ...
def _main(arguments: Sequence[_Path]) -> int: ...

"""PettingZoo environments (AEC): one agent acts at a time, and it need not be the other one's turn next."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import wrappers

from ._made import action_index, checked_options, takes_game
from ._rendering import RENDER_MODES, RenderMode, rendered
from ._turnstone import Game, IllegalActionError, State

__all__ = ["TurnstoneAEC", "TurnstoneParallel", "env", "parallel_env", "raw_env"]

PLAYERS = ("player_0", "player_1")


class TurnstoneAEC(AECEnv):
    """A game between `player_0` and `player_1`.

    Observations are dictionaries of `observation`, float32 `[planes, height, width]`, and `action_mask`, int8
    `[actions]`. The agent that is to move sees the board from its own side and its legal actions; the other one sees the
    same position with a mask of zeros. Rewards are 1, 0 or -1 when the game ends, and 0 before. A rule that ends the game
    sets `terminations`, a limit on the number of plies `truncations`.

    Where a player moves twice in a row, `agent_selection` stays the same.

    Args:
        game: name of a game, or a `Game`.
        render_mode: `human` prints the board, `ansi` returns it as text, `svg` as an SVG document, `rgb_array` as
            uint8 `[height, width, 3]`.
        params: parameters of the game as a dictionary.
        parameters: the same as keyword arguments, in place of `params`.
    """

    @takes_game
    def __init__(
        self,
        game: str | Game | type[Game],
        render_mode: RenderMode | None = None,
        *,
        params: Dict[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode is {render_mode!r}, but must be one of {', '.join(RENDER_MODES)}")
        assert isinstance(game, Game)
        self.game = game
        self.render_mode = render_mode
        self.metadata: Dict[str, Any] = {
            "name": f"{self.game.name}_v{self.game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.possible_agents = list(PLAYERS)
        actions, shape = self.game.num_actions, self.game.observation_shape
        low, high = self.game.observation_bounds
        self.action_spaces: Dict[str, Any] = {agent: spaces.Discrete(actions) for agent in PLAYERS}
        self.observation_spaces: Dict[str, Any] = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(low, high, shape, np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in PLAYERS
        }
        self.state_: State | None = None

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of an agent's observations."""
        space: gymnasium.Space[Any] = self.observation_spaces[agent]
        return space

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of an agent's actions."""
        space: gymnasium.Space[Any] = self.action_spaces[agent]
        return space

    @property
    def position(self) -> State:
        """The position."""
        if self.state_ is None:
            raise RuntimeError("reset the environment first")
        return self.state_

    def reset(self, seed: int | None = None, options: Dict[str, Any] | None = None) -> None:
        """Starts a game, from `options["position"]` (a `State` or its text) if given.

        The games have no chance; a seed seeds the action spaces.
        """
        position = checked_options(options).get("position")
        if position is None:
            state = State(self.game)
        elif isinstance(position, State):
            if position.game != self.game:
                raise ValueError(f"options['position'] belongs to {position.game!r}, not to {self.game!r}")
            state = position
        else:
            state = State(self.game, position)
        if seed is not None:
            for number, agent in enumerate(PLAYERS):
                self.action_spaces[agent].seed(seed + number)
        self.agents = list(PLAYERS)
        self.rewards = {agent: 0 for agent in PLAYERS}
        self._cumulative_rewards = {agent: 0 for agent in PLAYERS}
        self.terminations = {agent: False for agent in PLAYERS}
        self.truncations = {agent: False for agent in PLAYERS}
        self.infos: Dict[str, Dict[str, Any]] = {agent: {} for agent in PLAYERS}
        self._arrive(state)
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Plays an action for `agent_selection`; None for an agent whose game is over.

        Raises:
            IllegalActionError: the action is not legal; nothing is played.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise IllegalActionError(f"{agent} has to play an action, not None")
        after = self.position.play(action_index(action))
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self._arrive(after)
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _arrive(self, state: State) -> None:
        self.state_ = state
        self.agent_selection = PLAYERS[state.to_play]
        outcome = state.outcome()
        if outcome is not None:
            for agent, reward in zip(PLAYERS, outcome.rewards):
                self.rewards[agent] = reward
                self.terminations[agent] = not outcome.truncated
                self.truncations[agent] = outcome.truncated

    def observe(self, agent: str) -> Dict[str, np.ndarray[Any, Any]]:
        """What an agent sees."""
        state = self.position
        mask = np.zeros(self.game.num_actions, np.int8)
        if agent == PLAYERS[state.to_play]:
            mask[state.legal_actions()] = 1
        return {"observation": state.observation(), "action_mask": mask}

    def render(self) -> str | np.ndarray[Any, Any] | None:
        """The board, as the render mode says."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode, which is given when the environment is made")
            return None
        return rendered(self.position, self.render_mode)

    def close(self) -> None:
        """Nothing is held open."""


class TurnstoneParallel(ParallelEnv):
    """A game for code that steps all agents at once: in each step both agents choose, and the choice of the one that is
    to move is played.

    The mask of the agent that waits allows every action, since its choice is ignored. Otherwise as `TurnstoneAEC`.

    Args:
        max_cycles: truncates the game after this number of steps.
        illegal: what an illegal action of the agent to move does: `raise` an `IllegalActionError`, or `random`, play a
            random legal action in its place.
    """

    @takes_game
    def __init__(
        self,
        game: str | Game | type[Game],
        render_mode: RenderMode | None = None,
        max_cycles: int | None = None,
        illegal: Literal["raise", "random"] = "raise",
        *,
        params: Dict[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        if illegal not in ("raise", "random"):
            raise ValueError(f"illegal is {illegal!r}, but must be 'raise' or 'random'")
        self._aec = TurnstoneAEC(game, render_mode)
        self._max_cycles, self._illegal = max_cycles, illegal
        self.render_mode = render_mode
        self.game = self._aec.game
        self.metadata = {**self._aec.metadata, "is_parallelizable": True}
        self.possible_agents = list(PLAYERS)
        self.agents: List[str] = []
        self._rng = np.random.default_rng()

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of an agent's observations."""
        return self._aec.observation_space(agent)

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of an agent's actions."""
        return self._aec.action_space(agent)

    @property
    def position(self) -> State:
        """The position."""
        return self._aec.position

    def reset(
        self, seed: int | None = None, options: Dict[str, Any] | None = None
    ) -> Tuple[Dict[str, Any], Dict[str, Dict[str, Any]]]:
        """Starts a game; options as of `TurnstoneAEC.reset`."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._aec.reset(seed=seed, options=options)
        self.agents = list(PLAYERS)
        self._cycles = 0
        return self._observations(), {agent: {} for agent in PLAYERS}

    def step(
        self, actions: Dict[str, Any]
    ) -> Tuple[Dict[str, Any], Dict[str, float], Dict[str, bool], Dict[str, bool], Dict[str, Dict[str, Any]]]:
        """Plays the action of the agent that is to move."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        agent = self._aec.agent_selection
        action = action_index(actions[agent])
        legal = self.position.legal_actions()
        if self._illegal == "random" and action not in legal:
            action = int(self._rng.choice(legal))
        self._aec.step(action)
        self._cycles += 1
        late = self._max_cycles is not None and self._cycles >= self._max_cycles
        rewards = {agent: float(self._aec.rewards[agent]) for agent in PLAYERS}
        terminations = dict(self._aec.terminations)
        over = any(terminations.values())
        truncations = {agent: value or (late and not over) for agent, value in self._aec.truncations.items()}
        if over or any(truncations.values()):
            self.agents = []
        return self._observations(), rewards, terminations, truncations, {agent: {} for agent in PLAYERS}

    def render(self) -> str | np.ndarray[Any, Any] | None:
        """The board, as the render mode says."""
        return self._aec.render()

    def close(self) -> None:
        """Nothing is held open."""

    def _observations(self) -> Dict[str, Any]:
        observations = {agent: self._aec.observe(agent) for agent in PLAYERS}
        for agent, observation in observations.items():
            if agent != PLAYERS[self.position.to_play]:
                observation["action_mask"][:] = 1
        return observations


@takes_game
def raw_env(
    game: str | Game | type[Game],
    render_mode: RenderMode | None = None,
    *,
    params: Dict[str, Any] | None = None,
    **parameters: Any,
) -> TurnstoneAEC:
    """The environment without wrappers."""
    return TurnstoneAEC(game, render_mode)


@takes_game
def env(
    game: str | Game | type[Game],
    render_mode: RenderMode | None = None,
    *,
    params: Dict[str, Any] | None = None,
    **parameters: Any,
) -> AECEnv:
    """The environment with PettingZoo's wrapper that checks the order of calls."""
    return wrappers.OrderEnforcingWrapper(TurnstoneAEC(game, render_mode))


@takes_game
def parallel_env(
    game: str | Game | type[Game],
    render_mode: RenderMode | None = None,
    max_cycles: int | None = None,
    illegal: Literal["raise", "random"] = "raise",
    *,
    params: Dict[str, Any] | None = None,
    **parameters: Any,
) -> TurnstoneParallel:
    """The game as a PettingZoo parallel environment."""
    return TurnstoneParallel(game, render_mode, max_cycles, illegal)

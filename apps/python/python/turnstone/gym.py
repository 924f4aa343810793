"""Gymnasium environments: one agent against an opponent (`TurnstoneEnv`), and many games as a vector environment."""

from __future__ import annotations

from typing import Any, Dict, Tuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from ._made import made
from ._register import env_id, register_envs
from ._rendering import RENDER_MODES, rendered
from ._turnstone import Agent, Game, IllegalActionError, State, VecEnv

__all__ = ["TurnstoneEnv", "TurnstoneVectorEnv", "env_id", "register_envs"]


class TurnstoneEnv(gymnasium.Env[np.ndarray[Any, Any], np.int64]):
    """One agent against an opponent, which answers within the same step.

    Observations are float32 `[planes, height, width]`, seen by the agent. `info["action_mask"]` and `action_masks()` are
    the legal actions. The reward is 1, 0 or -1 when the game ends, and 0 before.

    Args:
        game: name of a game, or a `Game`.
        opponent: spec of any agent of the program: `random`, `alphabeta:depth=4`, `az:pretrained,sims=50`, ...
        seat: 0 or 1 to play always that player; `alternate` changes with every game; `random` draws it.
        illegal: what an illegal action does: `raise` an `IllegalActionError`, `lose` the game, or `random`, play a
            random legal action in its place.
        render_mode: as of `turnstone.env`.
        params: parameters of the game.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}

    def __init__(
        self,
        game: str | Game | type[Game],
        opponent: str = "random",
        seat: int | str = "alternate",
        illegal: str = "raise",
        render_mode: str | None = None,
        **params: Any,
    ) -> None:
        if seat not in (0, 1, "alternate", "random"):
            raise ValueError(f"seat is {seat!r}, but must be 0, 1, 'alternate' or 'random'")
        if illegal not in ("raise", "lose", "random"):
            raise ValueError(f"illegal is {illegal!r}, but must be 'raise', 'lose' or 'random'")
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode is {render_mode!r}, but must be one of {', '.join(RENDER_MODES)}")
        self.game = made(game, params, type(self))
        self.opponent = opponent
        self.render_mode = render_mode
        self._seat, self._illegal = seat, illegal
        self._agent = Agent(self.game, opponent)
        self._games = 0
        self.player = 0
        """The agent's seat in the present game."""
        self.position: State | None = None
        """The position, None before the first reset."""
        self._over = False
        self.observation_space = spaces.Box(-np.inf, np.inf, self.game.observation_shape, np.float32)
        self.action_space = spaces.Discrete(self.game.num_actions)

    def reset(
        self, *, seed: int | None = None, options: Dict[str, Any] | None = None
    ) -> Tuple[np.ndarray[Any, Any], Dict[str, Any]]:
        """Starts a game. `options` may hold `seat` (0 or 1) and `position` (a `State` or its text)."""
        super().reset(seed=seed)
        options = options or {}
        if seed is not None:
            self._games = 0
            self._agent = Agent(self.game, self.opponent, seed=int(self.np_random.integers(2**63)))
        seat = options.get("seat", self._seat)
        if seat == "alternate":
            self.player = self._games % 2
        elif seat == "random":
            self.player = int(self.np_random.integers(2))
        elif seat in (0, 1):
            self.player = int(seat)
        else:
            raise ValueError(f"options['seat'] is {seat!r}, but must be 0 or 1")
        self._games += 1
        self._over = False
        position = options.get("position")
        if position is None:
            self.position = State(self.game)
        else:
            self.position = position if isinstance(position, State) else State(self.game, position)
            if self.position.game != self.game:
                raise ValueError(f"options['position'] belongs to {self.position.game!r}, not to {self.game!r}")
            if self.position.is_over:
                raise ValueError("options['position']: the game is over there")
        self._answer()
        while self.position.is_over:  # the opponent has won before the agent's first move
            if position is not None:
                raise ValueError("options['position']: the agent has no move in it")
            self.position = State(self.game)
            self._answer()
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: Any) -> Tuple[np.ndarray[Any, Any], float, bool, bool, Dict[str, Any]]:
        """Plays an action, and lets the opponent play until it is the agent's turn again."""
        if self.position is None:
            raise gymnasium.error.ResetNeeded("reset the environment first")
        if self._over:
            raise gymnasium.error.ResetNeeded("the game is over: reset the environment")
        try:
            self.position = self.position.play(int(action))
        except IllegalActionError:
            if self._illegal == "raise":
                raise
            if self._illegal == "lose":
                self._over = True
                return self._observation(), -1.0, True, False, {**self._info(), "illegal_action": int(action)}
            self.position = self.position.play(int(self.np_random.choice(self.position.legal_actions())))
        self._answer()
        if self.render_mode == "human":
            self.render()
        outcome = self.position.outcome()
        self._over = outcome is not None
        reward = 0.0 if outcome is None else float(outcome.rewards[self.player])
        terminated = outcome is not None and not outcome.truncated
        truncated = outcome is not None and outcome.truncated
        return self._observation(), reward, terminated, truncated, self._info()

    def action_masks(self) -> np.ndarray[Any, Any]:
        """The legal actions, bool `[actions]`, as `MaskablePPO` of sb3-contrib asks for them."""
        if self.position is None:
            raise gymnasium.error.ResetNeeded("reset the environment first")
        return self.position.legal_mask()

    def render(self) -> Any:
        """The board, as the render mode says."""
        if self.render_mode is None or self.position is None:
            gymnasium.logger.warn("render() needs a render_mode and a reset")
            return None
        return rendered(self.position, self.render_mode)

    def _answer(self) -> None:
        assert self.position is not None
        while not self.position.is_over and self.position.to_play != self.player:
            self.position = self.position.play(self._agent.act(self.position))

    def _observation(self) -> np.ndarray[Any, Any]:
        assert self.position is not None
        return self.position.observation()

    def _info(self) -> Dict[str, Any]:
        assert self.position is not None
        return {"action_mask": self.position.legal_mask(), "player": self.player}


class TurnstoneVectorEnv(VectorEnv[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]):
    """Many games as one vector environment.

    With an opponent (a spec) the envs are those of `TurnstoneEnv`. Without one both sides are played by the caller: in
    each env the action is that of the player to move, `info["to_play"]`, and the reward is that of the player who made it;
    `info["rewards"]` holds those of both.

    Observations are float32 `[num_envs, planes, height, width]`; `info["action_mask"]` is bool `[num_envs, actions]`.
    Unless `copy` is true the arrays are written in place by the next step.

    Args:
        game: name of a game, or a `Game`.
        num_envs: number of games.
        opponent: spec of an agent, or None to play both sides.
        threads: number of threads that step the games, where both sides are played.
        autoreset_mode: when a game that has ended starts anew; Gymnasium's default is the next step.
        copy: whether arrays are copied, so that they can be kept.
        seat: with an opponent, as of `TurnstoneEnv`; `alternate` begins with different seats in neighbouring envs.
        params: parameters of the game.
    """

    def __init__(
        self,
        game: str | Game | type[Game],
        num_envs: int = 1,
        opponent: str | None = "random",
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        seat: int | str = "alternate",
        render_mode: str | None = None,
        **params: Any,
    ) -> None:
        super().__init__()
        self.game = made(game, params, type(self))
        self.num_envs = num_envs
        self.render_mode = render_mode
        if isinstance(autoreset_mode, str) and autoreset_mode.upper() in AutoresetMode.__members__:
            autoreset_mode = AutoresetMode[autoreset_mode.upper()]
        mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": mode, "render_modes": list(RENDER_MODES)}
        self._mode, self._copy, self._opponent, self._seat = mode, copy, opponent, seat
        names = {
            AutoresetMode.NEXT_STEP: "next_step",
            AutoresetMode.SAME_STEP: "same_step",
            AutoresetMode.DISABLED: "disabled",
        }
        if seat not in (0, 1, "alternate", "random"):
            raise ValueError(f"seat is {seat!r}, but must be 0, 1, 'alternate' or 'random'")
        self._envs = VecEnv(self.game, num_envs, threads=threads, autoreset="disabled" if opponent else names[mode])
        self._singles = []
        if opponent:
            seats = [i % 2 if seat == "alternate" else seat for i in range(num_envs)]
            self._singles = [TurnstoneEnv(self.game, opponent, seat, render_mode=render_mode) for seat in seats]
        self._ended = np.zeros(num_envs, bool)
        self._is_reset = False
        shape, actions = self.game.observation_shape, self.game.num_actions
        self.single_observation_space = spaces.Box(-np.inf, np.inf, shape, np.float32)
        self.single_action_space = spaces.Discrete(actions)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Any | None = None, options: Dict[str, Any] | None = None
    ) -> Tuple[np.ndarray[Any, Any], Dict[str, Any]]:
        """Starts new games, only where `options["reset_mask"]` is true if it is given."""
        if isinstance(seed, (list, tuple)):
            seed = next((each for each in seed if each is not None), None)
        mask = (options or {}).get("reset_mask")
        if not self._is_reset and mask is not None and not np.all(mask):
            raise ValueError("options['reset_mask'] leaves games out, but the first reset starts all")
        super().reset(seed=seed)
        self._is_reset = True
        if self._opponent:
            chosen = range(self.num_envs) if mask is None else np.flatnonzero(mask)
            for i in chosen:
                env = self._singles[int(i)]
                env.reset(seed=None if seed is None else seed + int(i), options={"seat": self._next_seat(int(i), seed)})
                self._ended[i] = False
            return self._observations(), self._info()
        self._envs.reset(seed=seed, reset_mask=mask)
        self._ended[slice(None) if mask is None else np.asarray(mask)] = False
        return self._observations(), self._info()

    def step(
        self, actions: Any
    ) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], Dict[str, Any]]:
        """Plays one action in every env."""
        if not self._is_reset:
            raise gymnasium.error.ResetNeeded("reset the environments first")
        if self._opponent:
            return self._step_singles(np.asarray(actions))
        movers = self._envs.to_play.astype(np.int64)
        self._envs.step(actions)
        rewards = self._envs.rewards[np.arange(self.num_envs), movers].astype(np.float64)
        terminated, truncated = self._envs.terminated, self._envs.truncated
        ended = terminated | truncated
        info = self._info()
        info["rewards"] = self._kept(self._envs.rewards)
        if self._mode == AutoresetMode.SAME_STEP and ended.any():
            final = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(ended):
                state = self._envs.final_state(int(i))
                assert state is not None
                final[i] = state.observation()
            info["final_obs"], info["_final_obs"] = final, ended.copy()
            info["final_info"] = {"rewards": self._kept(self._envs.rewards)}
            info["_final_info"] = ended.copy()
        return self._observations(), rewards, terminated.copy(), truncated.copy(), info

    def _step_singles(
        self, actions: np.ndarray[Any, Any]
    ) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], Dict[str, Any]]:
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions have the shape {actions.shape}, not ({self.num_envs},)")
        rewards = np.zeros(self.num_envs)
        terminated, truncated = np.zeros(self.num_envs, bool), np.zeros(self.num_envs, bool)
        final = np.full(self.num_envs, None, dtype=object)
        for i, env in enumerate(self._singles):
            if self._ended[i] and self._mode == AutoresetMode.NEXT_STEP:
                env.reset(options={"seat": self._next_seat(i, None)})
                self._ended[i] = False
                continue
            _, rewards[i], terminated[i], truncated[i], _ = env.step(actions[i])
            self._ended[i] = terminated[i] or truncated[i]
            if self._ended[i] and self._mode == AutoresetMode.SAME_STEP:
                final[i] = env._observation()
                env.reset(options={"seat": self._next_seat(i, None)})
                self._ended[i] = False
        info = self._info()
        ended = terminated | truncated
        if self._mode == AutoresetMode.SAME_STEP and ended.any():
            info["final_obs"], info["_final_obs"] = final, ended
            info["final_info"], info["_final_info"] = {}, ended
        return self._observations(), rewards, terminated, truncated, info

    def _next_seat(self, i: int, seed: int | None) -> Any:
        if self._seat != "alternate":
            return self._seat
        env = self._singles[i]
        return (i + (0 if seed is not None else env._games)) % 2

    def action_masks(self) -> np.ndarray[Any, Any]:
        """The legal actions, bool `[num_envs, actions]`."""
        if self._opponent:
            masks = np.stack([env.action_masks() for env in self._singles])
            masks[self._ended] = self._mode == AutoresetMode.NEXT_STEP
            return masks
        return self._kept(self._envs.masks)

    def render(self) -> Any:
        """The boards, as the render mode says."""
        if self.render_mode is None:
            return None
        states = [env.position for env in self._singles] or [self._envs.state(i) for i in range(self.num_envs)]
        return tuple(rendered(state, self.render_mode) for state in states if state is not None)

    def _kept(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return array.copy() if self._copy else array

    def _observations(self) -> np.ndarray[Any, Any]:
        if self._opponent:
            return np.stack([env._observation() for env in self._singles])
        return self._kept(self._envs.observations)

    def _info(self) -> Dict[str, Any]:
        everywhere = np.ones(self.num_envs, bool)
        if self._opponent:
            to_play = np.array([env.player for env in self._singles], np.uint8)
        else:
            to_play = self._kept(self._envs.to_play)
        return {
            "action_mask": self.action_masks(),
            "_action_mask": everywhere,
            "to_play": to_play,
            "_to_play": everywhere,
        }

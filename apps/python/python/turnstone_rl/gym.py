"""Gymnasium environments: one agent against an opponent (`TurnstoneEnv`), and many games as a vector environment."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from ._made import Player, action_index, checked_options, chooser, takes_game
from ._register import env_id, register_envs
from ._rendering import RENDER_MODES, RenderMode, rendered
from ._turnstone import Game, IllegalActionError, State, VecEnv

__all__ = ["TurnstoneEnv", "TurnstoneVectorEnv", "env_id", "register_envs"]

Seat = Literal[0, 1, "alternate", "random"]
Illegal = Literal["raise", "lose", "random"]


def _observation_space(game: Game) -> spaces.Box:
    low, high = game.observation_bounds
    return spaces.Box(low, high, game.observation_shape, np.float32)


def _check(seat: Any, illegal: Any, render_mode: Any) -> None:
    if isinstance(seat, bool) or seat not in (0, 1, "alternate", "random"):
        raise ValueError(f"seat is {seat!r}, but must be 0, 1, 'alternate' or 'random'")
    if illegal not in ("raise", "lose", "random"):
        raise ValueError(f"illegal is {illegal!r}, but must be 'raise', 'lose' or 'random'")
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f"render_mode is {render_mode!r}, but must be one of {', '.join(RENDER_MODES)}")


class TurnstoneEnv(gymnasium.Env[np.ndarray[Any, Any], np.int64]):
    """One agent against an opponent, which answers within the same step.

    Observations are float32 `[planes, height, width]`, seen by the agent. `info["action_mask"]` is int8 `[actions]`, as
    `action_space.sample(mask=...)` takes it, and `info["to_play"]` the player that the agent plays. The reward is 1, 0 or -1
    when the game ends, and 0 before. An action is an integer.

    Args:
        game: name of a game, or a `Game`.
        opponent: spec of any agent of the program: `random`, `alphabeta:depth=4`, `az:pretrained,sims=50`, ...; an `Agent`, a
            `Search`, or a function that returns an action of a `State`.
        seat: 0 or 1 to play always that player; `alternate` changes with every game; `random` draws it.
        illegal: what an illegal action does: `raise` an `IllegalActionError`, `lose` the game, or `random`, play a
            random legal action in its place.
        render_mode: as of `turnstone.env`.
        params: parameters of the game as a dictionary.
        parameters: the same as keyword arguments, in place of `params`.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}

    @takes_game
    def __init__(
        self,
        game: str | Game | type[Game],
        opponent: Player = "random",
        seat: Seat = "alternate",
        illegal: Illegal = "raise",
        render_mode: RenderMode | None = None,
        *,
        params: Dict[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        assert isinstance(game, Game)
        _check(seat, illegal, render_mode)
        self.game = game
        self.opponent = opponent
        self.render_mode = render_mode
        self._seat, self._illegal = seat, illegal
        self._choose = chooser(opponent, game)
        self._games = 0
        self.to_play = 0
        """The player that the agent plays in the present game, 0 or 1: it is to move unless the game is over."""
        self.position: State | None = None
        """The position, None before the first reset."""
        self._over = False
        self.observation_space = _observation_space(self.game)
        self.action_space = spaces.Discrete(self.game.num_actions)

    def reset(
        self, *, seed: int | None = None, options: Dict[str, Any] | None = None
    ) -> Tuple[np.ndarray[Any, Any], Dict[str, Any]]:
        """Starts a game. `options` may hold `seat` (0 or 1) and `position` (a `State` or its text)."""
        super().reset(seed=seed)
        asked = checked_options(options)
        if seed is not None:
            self._games = 0
            self._choose = chooser(self.opponent, self.game, int(self.np_random.integers(2**63)))
        seat = asked.get("seat", self._seat)
        if seat == "alternate":
            self.to_play = self._games % 2
        elif seat == "random":
            self.to_play = int(self.np_random.integers(2))
        elif seat in (0, 1):
            self.to_play = int(seat)
        else:
            raise ValueError(f"options['seat'] is {seat!r}, but must be 0 or 1")
        self._games += 1
        self._over = False
        position = asked.get("position")
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
        action = action_index(action)
        try:
            self.position = self.position.play(action)
        except IllegalActionError:
            if self._illegal == "raise":
                raise
            if self._illegal == "lose":
                self._over = True
                return self._observation(), -1.0, True, False, {**self._info(), "illegal_action": action}
            self.position = self.position.play(int(self.np_random.choice(self.position.legal_actions())))
        self._answer()
        if self.render_mode == "human":
            self.render()
        outcome = self.position.outcome()
        self._over = outcome is not None
        reward = 0.0 if outcome is None else float(outcome.rewards[self.to_play])
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
        while not self.position.is_over and self.position.to_play != self.to_play:
            self.position = self.position.play(self._choose(self.position))

    def _observation(self) -> np.ndarray[Any, Any]:
        assert self.position is not None
        return self.position.observation()

    def _info(self) -> Dict[str, Any]:
        assert self.position is not None
        return {"action_mask": self.position.legal_mask().view(np.int8), "to_play": self.to_play}


class TurnstoneVectorEnv(VectorEnv[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]):
    """Many games as one vector environment.

    With an opponent the envs are those of `TurnstoneEnv`. Without one both sides are played by the caller: in
    each env the action is that of the player to move, `info["to_play"]`, and the reward is that of the player who made it;
    `info["rewards"]` holds those of both.

    Observations are float32 `[num_envs, planes, height, width]`; `info["action_mask"]` is int8 `[num_envs, actions]`.
    Unless `copy` is true the arrays are written in place by the next step. Where an action is illegal, the error names the
    env, and nothing is played.

    Args:
        game: name of a game, or a `Game`.
        num_envs: number of games.
        opponent: as of `TurnstoneEnv`, or None to play both sides.
        threads: number of threads that step the games, where both sides are played.
        autoreset_mode: when a game that has ended starts anew; Gymnasium's default is the next step.
        copy: whether arrays are copied, so that they can be kept.
        seat: with an opponent, as of `TurnstoneEnv`; `alternate` begins with different seats in neighbouring envs.
        render_mode: as of `turnstone.env`.
        illegal: as of `TurnstoneEnv`; `lose` needs an opponent.
        params: parameters of the game as a dictionary.
        parameters: the same as keyword arguments, in place of `params`.
    """

    @takes_game
    def __init__(
        self,
        game: str | Game | type[Game],
        num_envs: int = 1,
        opponent: Player | None = "random",
        threads: int = 1,
        autoreset_mode: AutoresetMode | Literal["next_step", "same_step", "disabled"] = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        seat: Seat = "alternate",
        render_mode: RenderMode | None = None,
        illegal: Illegal = "raise",
        *,
        params: Dict[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__()
        assert isinstance(game, Game)
        _check(seat, illegal, render_mode)
        if illegal == "lose" and not opponent:
            raise ValueError("illegal is 'lose', which needs an opponent: without one it is 'raise' or 'random'")
        self.game = game
        self.num_envs = num_envs
        self.render_mode = render_mode
        envs = VecEnv(self.game, num_envs, threads=threads, autoreset_mode=autoreset_mode)
        self.autoreset_mode = AutoresetMode[envs.autoreset_mode.upper()]
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": list(RENDER_MODES)}
        self._copy, self._opponent, self._seat, self._illegal = copy, opponent, seat, illegal
        self._envs = envs
        self._singles: List[TurnstoneEnv] = []
        if opponent:
            seats: List[Seat] = [(1 if i % 2 else 0) if seat == "alternate" else seat for i in range(num_envs)]
            self._singles = [TurnstoneEnv(self.game, opponent, seat, illegal, render_mode) for seat in seats]
        self._rngs = [np.random.default_rng() for _ in range(num_envs)]
        self._ended = np.zeros(num_envs, bool)
        self._is_reset = False
        self.single_observation_space = _observation_space(self.game)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | List[int | None] | None = None, options: Dict[str, Any] | None = None
    ) -> Tuple[np.ndarray[Any, Any], Dict[str, Any]]:
        """Starts new games, only where `options["reset_mask"]` is true if it is given. `seed` is a list with one seed for
        each env, or a number `s` for the seeds `s`, `s + 1`, ...
        """
        mask = checked_options(options).get("reset_mask")
        if not self._is_reset and mask is not None and not np.all(mask):
            raise ValueError("options['reset_mask'] leaves games out, but the first reset starts all")
        if mask is not None and len(mask) != self.num_envs:
            raise ValueError(f"options['reset_mask'] has {len(mask)} entries for {self.num_envs} envs")
        seeds = self._seeds(seed)
        super().reset(seed=next((each for each in seeds if each is not None), None))
        self._is_reset = True
        chosen = range(self.num_envs) if mask is None else [int(i) for i in np.flatnonzero(mask)]
        for i in chosen:
            self._ended[i] = False
            if self._opponent:
                self._singles[i].reset(seed=seeds[i], options={"seat": self._next_seat(i, seeds[i])})
            elif seeds[i] is not None:
                self._rngs[i] = np.random.default_rng(seeds[i])
        if not self._opponent:
            self._envs.reset(reset_mask=mask)
        return self._observations(), self._info()

    def _seeds(self, seed: Any) -> List[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        seeds = [None if each is None else int(each) for each in seed]
        if len(seeds) != self.num_envs:
            raise ValueError(f"there are {len(seeds)} seeds for {self.num_envs} envs")
        return seeds

    def step(
        self, actions: Any
    ) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], Dict[str, Any]]:
        """Plays one action in every env."""
        if not self._is_reset:
            raise gymnasium.error.ResetNeeded("reset the environments first")
        if self._opponent:
            return self._step_singles(self._checked(actions))
        if self.autoreset_mode == AutoresetMode.DISABLED:
            self._need_reset(~self._envs.masks.any(axis=1))
        if self._illegal == "random":
            actions = self._replaced(self._checked(actions))
        movers = self._envs.to_play.astype(np.int64)
        self._envs.step(actions)
        rewards = self._envs.rewards[np.arange(self.num_envs), movers].astype(np.float64)
        terminated, truncated = self._envs.terminated, self._envs.truncated
        ended = terminated | truncated
        info = self._info()
        info["rewards"], info["_rewards"] = self._kept(self._envs.rewards), np.ones(self.num_envs, bool)
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            for i in map(int, np.flatnonzero(ended)):
                state = self._envs.final_state(i)
                assert state is not None
                mask = np.zeros(self.game.num_actions, np.int8)
                final = {"action_mask": mask, "to_play": state.to_play, "rewards": self._envs.rewards[i]}
                self._add_info(info, {"final_obs": state.observation(), "final_info": final}, i)
        return self._observations(), rewards, terminated.copy(), truncated.copy(), info

    def _need_reset(self, ended: Any) -> None:
        if ended.any():
            env = int(ended.argmax())
            raise gymnasium.error.ResetNeeded(f"env {env}: the game is over: reset it with options['reset_mask']")

    def _checked(self, actions: Any) -> np.ndarray[Any, Any]:
        """The actions as integers `[num_envs]`."""
        given = np.asarray(actions)
        if given.shape != (self.num_envs,):
            raise ValueError(f"actions have the shape {given.shape}, not ({self.num_envs},)")
        has_bool = isinstance(actions, (list, tuple)) and any(isinstance(each, (bool, np.bool_)) for each in actions)
        if has_bool or given.dtype.kind not in "iu":
            raise TypeError(f"actions must be integers, not {'bool' if has_bool else given.dtype}")
        return given.astype(np.int64)

    def _is_legal(self, mask: np.ndarray[Any, Any], action: int) -> bool:
        return 0 <= action < len(mask) and bool(mask[action])

    def _replaced(self, actions: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The actions, with a random legal one in place of each that is illegal."""
        for i, mask in enumerate(self._envs.masks):
            if not self._is_legal(mask, actions[i]) and mask.any():
                actions[i] = self._rngs[i].choice(np.flatnonzero(mask))
        return actions

    def _step_singles(
        self, actions: np.ndarray[Any, Any]
    ) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], Dict[str, Any]]:
        resets = self._ended & (self.autoreset_mode == AutoresetMode.NEXT_STEP)
        self._need_reset(self._ended & ~resets)
        for i in map(int, np.flatnonzero(~resets)):  # before anything is played
            position = self._singles[i].position
            assert position is not None
            if self._illegal == "raise" and not self._is_legal(position.legal_mask(), actions[i]):
                try:
                    position.play(int(actions[i]))
                except IllegalActionError as error:
                    raise IllegalActionError(f"env {i}: {error}") from None
        rewards = np.zeros(self.num_envs)
        terminated, truncated = np.zeros(self.num_envs, bool), np.zeros(self.num_envs, bool)
        infos: Dict[str, Any] = {}
        for i, env in enumerate(self._singles):
            if resets[i]:
                _, info = env.reset(options={"seat": self._next_seat(i, None)})
                self._ended[i] = False
            else:
                observation, rewards[i], terminated[i], truncated[i], info = env.step(actions[i])
                self._ended[i] = terminated[i] or truncated[i]
                if self._ended[i] and self.autoreset_mode == AutoresetMode.SAME_STEP:
                    self._add_info(infos, {"final_obs": observation, "final_info": info}, i)
                    _, info = env.reset(options={"seat": self._next_seat(i, None)})
                    self._ended[i] = False
            if "illegal_action" in info:
                self._add_info(infos, {"illegal_action": info["illegal_action"]}, i)
        return self._observations(), rewards, terminated, truncated, {**infos, **self._info()}

    def _next_seat(self, i: int, seed: int | None) -> Any:
        if self._seat != "alternate":
            return self._seat
        env = self._singles[i]
        return (i + (0 if seed is not None else env._games)) % 2

    def action_masks(self) -> np.ndarray[Any, Any]:
        """The legal actions, bool `[num_envs, actions]`."""
        if self._opponent:
            masks = np.stack([env.action_masks() for env in self._singles])
            masks[self._ended] = self.autoreset_mode == AutoresetMode.NEXT_STEP
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
            to_play = np.array([env.to_play for env in self._singles], np.uint8)
        else:
            to_play = self._kept(self._envs.to_play)
        return {
            "action_mask": self.action_masks().view(np.int8),
            "_action_mask": everywhere,
            "to_play": to_play,
            "_to_play": everywhere,
        }

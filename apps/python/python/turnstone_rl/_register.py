"""Ids of the games in the registries of Gymnasium and PettingZoo."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from ._turnstone import Game, games

__all__ = ["aec_id", "env_id", "register_envs"]


def env_id(game: str) -> str:
    """The id of a game in Gymnasium's registry: `mu_torere` is `turnstone/MuTorere-v1`."""
    return f"turnstone/{''.join(part.capitalize() for part in game.split('_'))}-v{Game(game).version}"


def aec_id(game: str) -> str:
    """The id of a game in PettingZoo's registries: `mu_torere` is `turnstone/mu_torere-v1`."""
    return f"turnstone/{game}-v{Game(game).version}"


def register_envs() -> None:
    """Registers every game in Gymnasium, and in PettingZoo from 1.27 on. `import turnstone_rl` does it where they are installed."""
    import gymnasium

    for game in games():
        name = env_id(game)
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="turnstone_rl.gym:TurnstoneEnv",
                vector_entry_point="turnstone_rl.gym:TurnstoneVectorEnv",
                kwargs={"game": game},
            )
    if find_spec("pettingzoo") is not None:
        _register_in_pettingzoo()


def _register_in_pettingzoo() -> None:
    import pettingzoo

    register: Any = getattr(pettingzoo, "register", None)
    if register is None:
        return  # before 1.27 there is no registry
    for game in games():
        name = aec_id(game)
        if name not in pettingzoo.aec_registry:
            register("aec", name, entry_point="turnstone_rl.aec:env", kwargs={"game": game})
        if name not in pettingzoo.parallel_registry:
            register("parallel", name, entry_point="turnstone_rl.aec:parallel_env", kwargs={"game": game})

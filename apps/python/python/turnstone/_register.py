"""Ids of the games in Gymnasium's registry."""

from __future__ import annotations

from ._turnstone import Game, games

__all__ = ["env_id", "register_envs"]


def env_id(game: str) -> str:
    """The id of a game in Gymnasium's registry: `mu_torere` is `turnstone/MuTorere-v1`."""
    return f"turnstone/{''.join(part.capitalize() for part in game.split('_'))}-v{Game(game).version}"


def register_envs() -> None:
    """Registers every game in Gymnasium. `import turnstone` does it where Gymnasium is installed."""
    import gymnasium

    for game in games():
        name = env_id(game)
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="turnstone.gym:TurnstoneEnv",
                vector_entry_point="turnstone.gym:TurnstoneVectorEnv",
                kwargs={"game": game},
            )

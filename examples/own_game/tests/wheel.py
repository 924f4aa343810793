"""Every door of the package opens for the game, the agent and the network that the wheel was built with: `python wheel.py`, where it is installed."""

import pickle
import tempfile

import gymnasium
from pettingzoo.test import api_test

import turnstone_rl as turnstone
from turnstone_rl import aec

NAME = "connect_four"

state = turnstone.State(NAME).play("4").play("4")
assert state.legal_moves() == list("1234567"), state.legal_moves()
envs = turnstone.VecEnv(NAME, 8)
envs.reset(seed=1)
for _ in range(100):
    envs.step(envs.sample())
api_test(aec.env(NAME), num_cycles=200)
env = gymnasium.make("turnstone/ConnectFour-v2")
observation, info = env.reset(seed=1)
assert observation.shape == turnstone.Game(NAME).observation_shape, observation.shape
analysis = turnstone.Agent(NAME, "alphabeta:depth=6").analyse(state)
assert analysis.move_text in list("1234567"), analysis
evaluate = "uniform"
assert turnstone.Search(NAME, evaluate, simulations=16).run([state])[0].action < 7
assert len(next(turnstone.SelfPlay(NAME, evaluate, simulations=8)).observations) > 0
match = turnstone.arena(NAME, ["alphabeta:depth=4", "random"], games=20)
assert match.agents[0] == "alphabeta:depth=4", match
with tempfile.TemporaryDirectory() as folder:
    config = {"game": {"name": NAME}, "run": {"iterations": 1}, "self_play": {"games_per_iteration": 8}}
    turnstone.train(config, run=f"{folder}/run", progress=False)
    az = turnstone.Agent(NAME, f"az:{folder}/run,sims=8")
    assert pickle.loads(pickle.dumps(az)).analyse(state).move_text in list("1234567")
    config["net"] = {"kind": "overview", "blocks": 1, "channels": 8}
    turnstone.train(config, run=f"{folder}/overview", progress=False)
    agents = [f"az:{folder}/overview,sims=8", "careful:plies=1"]
    assert turnstone.arena(NAME, agents, games=4).agents == agents
print("every door opens for", turnstone.Game(NAME))

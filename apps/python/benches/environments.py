#!/usr/bin/env python3
"""Environment steps per second beside pgx, PettingZoo and OpenSpiel, all in one run on one thread.

    pip install pgx jax open_spiel "pettingzoo[classic]" gymnasium turnstone
    python environments.py [--batch 1024] [--rounds 3]

Every contestant plays uniformly random legal actions; games that end start anew. Actions are chosen inside NumPy for
`VecEnv`, inside the compiled step for pgx, and by the loops of PettingZoo and OpenSpiel as their documentation does it.
Contestants that are not installed are left out. The process is pinned to one processor where the system allows it, and
its processor time is measured, so that other load on the machine counts little; the rounds alternate all the same.
"""

import os

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # JAX starts threads of its own whatever it is told
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

import argparse  # noqa: E402
import random  # noqa: E402
import statistics  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402

import turnstone  # noqa: E402


def vec_env(name, batch):
    envs, rng = turnstone.VecEnv(name, batch, threads=1), np.random.default_rng(1)
    envs.reset(seed=1)

    def steps(count):
        for _ in range(count):
            places = (rng.random(batch, np.float32) * envs.legal_counts).astype(np.int64)
            envs.step(envs.legal_actions[envs.legal_starts[:-1] + places])
        return count * batch

    return steps


def pgx_env(name, batch):
    import jax
    import pgx
    from pgx.experimental import auto_reset

    if len(jax.devices()) > 1 or jax.devices()[0].platform != "cpu":
        raise ImportError("the comparison is for one CPU")
    env = pgx.make(name)
    init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def many(state, key):
        def one(carry, _):
            state, key = carry
            key, own = jax.random.split(key)
            logits = jax.numpy.where(state.legal_action_mask, 0.0, -1e9)
            actions = jax.random.categorical(own, logits, axis=1)
            return (step(state, actions, jax.random.split(own, batch)), key), None

        (state, key), _ = jax.lax.scan(one, (state, key), None, 20)
        return state, key

    key = jax.random.PRNGKey(0)
    carry = [jax.jit(init)(jax.random.split(key, batch)), key]
    carry[:] = many(*carry)  # compiles

    def steps(count):
        for _ in range(max(count // 20, 1)):
            carry[:] = many(*carry)
        jax.block_until_ready(carry[0].observation)
        return max(count // 20, 1) * 20 * batch

    return steps


def pettingzoo_env(_, batch):
    from pettingzoo.classic import connect_four_v3

    env, rng = connect_four_v3.env(), np.random.default_rng(1)

    def steps(count):
        plies = 0
        while plies < count:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
                plies += 1
        return plies

    return steps


def open_spiel_env(name, batch):
    import pyspiel

    game, rng = pyspiel.load_game(name), random.Random(1)
    states = [game.new_initial_state() for _ in range(batch)]

    def steps(count):
        for _ in range(count):
            for i, state in enumerate(states):
                state.apply_action(rng.choice(state.legal_actions()))
                if state.is_terminal():
                    states[i] = game.new_initial_state()
                else:
                    state.observation_tensor()
        return count * batch

    return steps


CONTESTANTS = [
    *((f"turnstone {name}", vec_env, name, 200) for name in turnstone.games()),
    *((f"pgx {name}", pgx_env, name, 20) for name in ("tic_tac_toe", "connect_four", "othello", "hex")),
    ("PettingZoo connect_four_v3", pettingzoo_env, "connect_four", 2000),
    ("OpenSpiel mancala", open_spiel_env, "mancala", 10),
    ("OpenSpiel connect_four", open_spiel_env, "connect_four", 10),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement, at least")
    parser.add_argument("--only", default="", help="contestants whose title contains one of these, separated by commas")
    options = parser.parse_args()
    made, rates = {}, {}
    for title, make, name, count in CONTESTANTS:
        if not any(part in title for part in options.only.split(",")):
            continue
        try:
            made[title] = (make(name, options.batch), count)
            made[title][0](count)
        except (ImportError, AttributeError, ValueError, AssertionError) as error:
            print(f"{title}: left out ({type(error).__name__}: {str(error)[:80]})")
            made.pop(title, None)
    for _ in range(options.rounds):
        for title, (steps, count) in made.items():
            done, began = 0, time.process_time()
            while time.process_time() - began < options.seconds:
                done += steps(count)
            rates.setdefault(title, []).append(done / (time.process_time() - began))
            print(f"  {title}: {rates[title][-1]:,.0f} steps/s", flush=True)
    best = {title: statistics.median(values) for title, values in rates.items()}
    peers = [value for title, value in best.items() if not title.startswith("turnstone")]
    top = max(peers, default=float("nan"))
    print(f"\n{'steps/s, batch ' + str(options.batch):<32} {'median':>12} {'lowest':>12} {'highest':>12}   of the best peer")
    for title, values in rates.items():
        print(f"{title:<32} {best[title]:>12,.0f} {min(values):>12,.0f} {max(values):>12,.0f}   {best[title] / top:.2f}")


if __name__ == "__main__":
    main()

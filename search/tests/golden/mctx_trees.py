"""Writes the golden trees of this folder: small game trees, and what a search must find in them.

Every search runs in `reference.Reference`. Where DeepMind's mctx means the same it runs there as well, the two have to
agree, and mctx's numbers are the ones that are written. README.md says how to run this, and where they differ on purpose.
"""

import json
import pathlib
import random
import sys
from importlib.metadata import version

import jax
import jax.numpy as jnp
import mctx
import numpy as np
from mctx._src.seq_halving import get_sequence_of_considered_visits
from reference import CHECKPOINT, TINY, Evaluations, RealGame, Reference, Toy, grown, halving, shares

HERE = pathlib.Path(__file__).parent
# Room for actions in the trees of mctx; more than any position here has.
WIDTH = 24


# ---- mctx ------------------------------------------------------------------------------------------------------------


def first_play_urgency(reduction):
    """A q transform for `mctx.muzero_policy`: the values as they are, and KataGo's first-play urgency."""

    def transform(tree, node):
        n, prior = tree.children_visits[node], jax.nn.softmax(tree.children_prior_logits[node])
        seen = jnp.sum(jnp.where(n > 0, prior, 0.0))
        urgency = jnp.maximum(tree.node_values[node] - reduction * jnp.sqrt(seen), -1.0)
        # mctx masks illegal actions only at the root.
        legal = tree.children_prior_logits[node] > -1e8
        return jnp.where(legal, jnp.where(n > 0, tree.qvalues(node), urgency), -1e9)

    return transform


def run_mctx(world, evaluations, method, stage, draw_value):
    """What mctx finds at each checkpoint. The tree is an environment whose embedding is the number of a position; the
    discount is 1 where the same side moves again, -1 where the other does, 0 where the game is over."""
    numbers, positions = {}, []

    def number(position):
        if position not in numbers:
            numbers[position] = len(positions)
            positions.append(position)
        return numbers[position]

    def evaluated(position):
        value, draw, priors = evaluations(position)
        sign = world.expand(position)[0]
        logits = np.full(WIDTH, -1e9, np.float32)
        logits[: len(priors)] = np.log(np.maximum(priors, TINY))
        return logits, np.float32(sign * (value + draw_value * draw))

    def play(action, embedding):
        sign, result, after = world.expand(positions[int(embedding[0])])
        if result is not None:  # below the end of a game: worth nothing, and not counted by discount 0 above it
            flat = np.zeros((1, WIDTH), np.float32)
            return np.zeros(1, np.float32), np.ones(1, np.float32), flat, np.zeros(1, np.float32), embedding
        child = after[int(action[0])]
        child_sign, result, _ = world.expand(child)
        embedding = np.array([number(child)], np.int32)
        if result is not None:
            reward = np.array([sign * (result + draw_value * (result == 0))], np.float32)
            flat = np.zeros((1, WIDTH), np.float32)
            return reward, np.zeros(1, np.float32), flat, np.zeros(1, np.float32), embedding
        logits, value = evaluated(child)
        discount = np.array([1.0 if sign == child_sign else -1.0], np.float32)
        return np.zeros(1, np.float32), discount, logits[None], value[None], embedding

    def recurrent(params, key, action, embedding):
        one, flat = jax.ShapeDtypeStruct((1,), jnp.float32), jax.ShapeDtypeStruct((1, WIDTH), jnp.float32)
        shapes = (one, one, flat, one, jax.ShapeDtypeStruct((1,), jnp.int32))
        reward, discount, logits, value, embedding = jax.pure_callback(play, shapes, action, embedding)
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value), embedding

    logits, value = evaluated(world.start)
    legal = len(world.expand(world.start)[2])
    if noise := stage.get("noise"):
        f = method["noise_fraction"]
        mixed = (1 - f) * np.exp(logits[:legal].astype(np.float64)) + f * np.array(noise)
        logits[:legal] = np.log(mixed)
    root = mctx.RootFnOutput(
        prior_logits=jnp.array(logits)[None],
        value=jnp.array(value)[None],
        embedding=jnp.array([number(world.start)], jnp.int32),
    )
    invalid = jnp.array([[0.0] * legal + [1.0] * (WIDTH - legal)])
    simulations = stage["simulations"]
    key = jax.random.PRNGKey(stage.get("key", 0))

    def search(done):
        loop = lambda first, last, body, state: jax.lax.fori_loop(first, done, body, state)
        if method["kind"] == "puct":
            return mctx.muzero_policy(
                None, key, root, recurrent, simulations, invalid, loop_fn=loop,
                qtransform=first_play_urgency(method["fpu_reduction"]), dirichlet_fraction=0.0,
                pb_c_init=method["c_puct"], pb_c_base=1e12,
            )
        transform = lambda tree, node: mctx.qtransform_completed_by_mix_value(
            tree, node, value_scale=method["c_scale"] / 2, maxvisit_init=method["c_visit"], rescale_values=False)
        return mctx.gumbel_muzero_policy(
            None, key, root, recurrent, simulations, invalid, loop_fn=loop, qtransform=transform,
            max_num_considered_actions=method["considered"], gumbel_scale=stage.get("gumbel_scale", 0.0),
        )

    search = jax.jit(search)
    after = []
    for done in [*range(CHECKPOINT, simulations, CHECKPOINT), simulations]:
        output = search(done)
        summary = output.search_tree.summary()
        found = {
            "simulations": done,
            "visits": [int(n) for n in summary.visit_counts[0][:legal]],
            "policy": [float(p) for p in output.action_weights[0][:legal]],
        }
        if draw_value == 0.0:
            found["q"] = [float(q) if n else 0.0 for q, n in zip(summary.qvalues[0][:legal], found["visits"])]
        if method["kind"] == "gumbel":
            found["choice"] = int(output.action[0])
            gumbels = np.array(output.search_tree.extra_data.root_gumbel[0][:legal])
            np.testing.assert_allclose(gumbels, stage["gumbels"][:legal], atol=1e-6)
        elif draw_value == 0.0:
            found["value"] = float(world.expand(world.start)[0] * summary.value[0])
        after.append(found)
    return after


def mctx_gumbels(key, scale):
    """The Gumbel noise that `mctx.gumbel_muzero_policy` draws from this key."""
    _, noise = jax.random.split(jax.random.PRNGKey(key))
    return [float(x) for x in scale * jax.random.gumbel(noise, (1, WIDTH), jnp.float32)[0]]


# ---- Writing ---------------------------------------------------------------------------------------------------------


def puct(c_puct=1.25, fpu_reduction=0.2, forced_playouts=0.0, noise_fraction=0.0):
    return dict(kind="puct", c_puct=c_puct, fpu_reduction=fpu_reduction, forced_playouts=forced_playouts,
                noise_fraction=noise_fraction)


def gumbel(considered=16, c_visit=50.0, c_scale=0.7):
    return dict(kind="gumbel", considered=considered, c_visit=c_visit, c_scale=c_scale)


def compared(ours, theirs):
    """The reference's report with mctx's numbers in it, after a check that they agree."""
    for key, value in theirs.items():
        if key in ("visits", "choice", "simulations"):
            assert ours[key] == value, (key, ours, theirs)
        else:
            np.testing.assert_allclose(ours[key], value, atol=2e-4, err_msg=key)
    return ours | theirs


def searched(world, evaluations, method, stages, draw_value=0.0, with_mctx=True):
    """One search of a file: its stages, each from where the one before left the tree."""
    legal = len(world.expand(world.start)[2])
    if method["kind"] == "gumbel":
        for stage in stages:
            stage.setdefault("gumbels", mctx_gumbels(stage.get("key", 0), stage.get("gumbel_scale", 0.0)))
    reference = Reference(world, evaluations, method, draw_value)
    written = []
    for stage in stages:
        after = reference.run(stage)
        if with_mctx:
            after = [compared(a, b) for a, b in zip(after, run_mctx(world, evaluations, method, stage, draw_value),
                                                    strict=True)]
        legal = len(after[0]["visits"])
        part = {"simulations": stage["simulations"]}
        if method["kind"] == "gumbel":
            part["gumbels"] = stage["gumbels"][:legal]
        if "noise" in stage:
            part["noise"] = stage["noise"]
        part["after"] = after
        if "advance" in stage:
            part["advance"] = after[-1]["choice"]
            reference.advance(part["advance"])
        written.append(part)
    return {
        "source": f"mctx {version('mctx')}" if with_mctx else "reference",
        "method": method,
        "draw_value": draw_value,
        "stages": written,
    }


def text_of(value, indent=0):
    """JSON with one line per search result and per position."""
    pad = " " * indent
    if isinstance(value, dict) and indent < 12 and not {"kind", "visits"} & value.keys():
        inner = ",\n".join(f"{pad} {json.dumps(k)}: {text_of(v, indent + 1)}" for k, v in value.items())
        return f"{{\n{inner}\n{pad}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"{pad} {text_of(v, indent + 1)}" for v in value) + f"\n{pad}]"
    return json.dumps(value)


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


def write(name, about, world, evaluations, searches):
    """Runs the searches and writes the file, unless other names were given on the command line."""
    if name not in (sys.argv[1:] or [name]):
        return
    found = [searched(world, evaluations, **search) for search in searches]
    file = {"game": world.game, "start": world.start_text, "about": about, "searches": found,
            "evaluations": evaluations.used}
    (HERE / f"{name}.json").write_text(text_of(rounded(file)) + "\n")
    print(f"{name}: {len(found)} searches, {len(evaluations.used)} positions")


def noise(name, count, alpha=0.5):
    rng = random.Random(name)
    return shares([rng.gammavariate(alpha, 1.0) for _ in range(count)])


def schedules():
    """mctx's schedules of sequential halving, as `considered simulations: visits`."""
    rows = {}
    for considered in range(1, 17):
        for simulations in (1, 2, 3, 5, 8, 13, 16, 24, 32, 50, 64):
            turns = list(get_sequence_of_considered_visits(considered, simulations))
            assert turns == halving(considered, simulations)
            rows[f"{considered} {simulations}"] = turns
    lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items())
    (HERE / "schedules.json").write_text("{\n" + lines + "\n}\n")


def alternating(rng, ply):
    return 1 + ply % 2


def second_begins(rng, ply):
    return 2 - ply % 2


def any_order(rng, ply):
    return 2 if ply == 0 else rng.choice((1, 2))


def one(simulations=24, **more):
    return [dict(simulations=simulations, **more)]


def search(method, stages=None, draw_value=0.0, with_mctx=True):
    return dict(method=method, stages=stages or one(), draw_value=draw_value, with_mctx=with_mctx)


def toys():
    tail = 30
    world = Toy(grown(random.Random(1), [4, 3, 3, 2], tail, alternating))
    write("alternating", ["The sides alternate; nothing is proven. The plain case of all formulas."],
          world, Evaluations(world, "alternating"), [
              search(puct()),
              search(puct(c_puct=2.5, fpu_reduction=0.0)),
              search(puct(c_puct=0.6, fpu_reduction=0.7)),
              search(gumbel()),
              search(gumbel(considered=2, c_scale=1.0)),
              search(gumbel(considered=3, c_visit=20.0, c_scale=0.3), one(gumbel_scale=1.0, key=7)),
          ])

    world = Toy(grown(random.Random(2), [4, 3, 3, 2, 2], tail, any_order))
    write("double_moves", ["Player 2 begins, and either side may move several times in a row. In mctx that is a discount",
                           "of 1 instead of -1."],
          world, Evaluations(world, "double_moves"), [
              search(puct()),
              search(puct(fpu_reduction=0.5, noise_fraction=0.25), one(noise=noise("double_moves", 4))),
              search(gumbel()),
              search(gumbel(considered=3, c_scale=0.4), one(gumbel_scale=1.0, key=3)),
          ])

    world = Toy(grown(random.Random(3), [13, 3, 2], tail, alternating))
    write("wide", ["Thirteen actions at the root: noise given as numbers, unvisited actions (whose value is the mixed",
                   "one), and sequential halving from 2, 4, 5 and 13 considered actions.",
                   "Forced playouts and their pruning are KataGo's; mctx has neither, so the reference alone counts."],
          world, Evaluations(world, "wide", spread=0.6), [
              search(puct(noise_fraction=0.25), one(32, noise=noise("wide", 13))),
              search(puct(noise_fraction=0.25, forced_playouts=2.0), one(40, noise=noise("wide", 13)), with_mctx=False),
              search(puct(c_puct=0.8, noise_fraction=0.5, forced_playouts=4.0), one(40, noise=noise("other", 13)),
                     with_mctx=False),
              search(gumbel(considered=4, c_scale=0.1), one(32, gumbel_scale=1.0, key=1)),
              search(gumbel(considered=5), one(32, gumbel_scale=0.5, key=2)),
              search(gumbel(c_visit=5.0, c_scale=0.2), one(40, gumbel_scale=1.0, key=4)),
              search(gumbel(considered=2, c_visit=10.0, c_scale=0.1), one(10, gumbel_scale=1.0, key=5)),
          ])

    world = Toy(grown(random.Random(4), [5, 4, 2], tail, second_begins))
    given = {"0": [0.3, 0.0, [0.0, 0.97, 0.01, 0.02, 0.0]]}
    write("skewed", ["Nearly all of the prior on one bad action, and none on two of the five."],
          world, Evaluations(world, "skewed", given, sharp=4.0), [
              search(puct()),
              search(puct(c_puct=4.0, fpu_reduction=0.05)),
              search(puct(c_puct=4.0, noise_fraction=0.4, forced_playouts=1.0), one(noise=noise("skewed", 5)),
                     with_mctx=False),
              search(gumbel()),
              search(gumbel(considered=4, c_visit=10.0, c_scale=0.2), one(gumbel_scale=1.0, key=5)),
          ])

    bushes = [grown(random.Random(seed), [3, 2, 2], tail, any_order) for seed in (51, 52, 53)]
    world = Toy(f"1({bushes[0]} 0 {bushes[1]} 2({bushes[2]} 0 +1))")
    write("draws", ["A drawn game one ply away, a draw and a loss two plies away, and draws in the evaluations. Where a draw",
                    "has a value of its own, mctx's values and rewards contain it; ours are asked for without it, and q is",
                    "then the reference's."],
          world, Evaluations(world, "draws", draws=True, spread=0.5), [
              search(puct()),
              search(puct(), draw_value=0.5),
              search(puct(), draw_value=-0.5),
              search(gumbel()),
              search(gumbel(c_scale=0.3), draw_value=0.5),
              search(gumbel(c_scale=0.3), draw_value=-0.5),
          ])

    bush = grown(random.Random(61), [3, 2, 2], tail, any_order)
    world = Toy(f"2({bush} 2(1(2({bush} +1) +1) 2(2(+1 0 -1) 1(-1 +1))) 1(-1 2(+1 -1) 0))")
    given = {"0": [0.1, 0.0, [0.5, 0.3, 0.2]]}
    write("proven_win", ["Player 2 begins and wins by three moves of their own in a row; the other lines are a bush without",
                         "results and one that player 1 can hold. Proofs are ours alone: mctx averages results that it meets",
                         "again and again, ours ends when the root is proven, and the winning action gets the whole policy."],
          world, Evaluations(world, "proven_win"), [
              search(puct(), one(40), with_mctx=False),
              search(puct(c_puct=3.0, noise_fraction=0.25, forced_playouts=2.0), one(40, noise=[0.1, 0.2, 0.7]),
                     with_mctx=False),
              search(gumbel(c_scale=0.2), one(40), with_mctx=False),
              search(gumbel(c_scale=0.2), one(40, gumbels=[0.3, -0.2, 1.1]), with_mctx=False),
          ])

    world = Toy(f"1(2(-1 +1) 2({bush} 2(1(-1 -1) 0)) 1(-1 2(-1 0)) 2(1(-1 0) 1(-1 +1)))")
    given = {"0": [0.2, 0.0, [0.4, 0.1, 0.3, 0.2]]}
    write("proven_loss", ["Some actions of player 1 turn out to be lost: they are passed over and have no share of the policy,",
                          "and their visits stay. Ours alone, see proven_win."],
          world, Evaluations(world, "proven_loss", given), [
              search(puct(c_puct=2.0), one(32), with_mctx=False),
              search(puct(c_puct=2.0, forced_playouts=2.0), one(32), with_mctx=False),
              search(gumbel(c_scale=0.2), one(32), with_mctx=False),
              search(gumbel(considered=3, c_scale=0.1), one(32, gumbels=[1.5, -0.5, 0.7, 0.1]), with_mctx=False),
          ])

    world = Toy("2(1(2(-1 +1) +1) 1(0 2(0 +1)) 1(-1 +1))")
    write("solved", ["Small enough to be proven whole: player 2 has a draw at best. The search ends there; the policy keeps the",
                     "drawing actions."],
          world, Evaluations(world, "solved", {"0": [0.0, 0.2, [0.5, 0.2, 0.3]]}, spread=0.3), [
              search(puct(c_puct=3.0), one(40), with_mctx=False),
              search(gumbel(c_visit=2.0, c_scale=0.1), one(40), with_mctx=False),
          ])

    world = Toy(grown(random.Random(8), [4, 3, 3, 2], 60, any_order))
    evaluations = Evaluations(world, "tree_reuse")
    write("tree_reuse", ["16 simulations, then the root moves along an action and 24 more run in the tree that is kept. Gumbel search",
                        "counts only the visits of the search at hand in its halving, all visits in its values. mctx keeps no tree."],
          world, evaluations, [
              search(puct(noise_fraction=0.25), [
                  dict(simulations=16, noise=noise("a", 4), advance=None),
                  dict(simulations=24, noise=noise("b", 3)),
              ], with_mctx=False),
              search(gumbel(considered=3, c_scale=0.2), [
                  dict(simulations=16, gumbels=[0.4, 1.2, -0.3, 0.8], advance=None),
                  dict(simulations=24, gumbels=[0.7, -0.1, 0.5]),
              ], with_mctx=False),
          ])

    world = Toy(grown(random.Random(9), [5, 3, 2], tail, alternating))
    flat = Evaluations(world, "equal", {str(n): [0.0, 0.0, [1 / len(a)] * len(a)] for n, (_, r, a) in
                                        enumerate(world.nodes) if r is None})
    write("equal", ["Equal priors and values of 0: among equals the first action is taken. (mctx breaks ties of PUCT at random.)"],
          world, flat, [search(puct(), with_mctx=False)])


def games():
    def walked(game, seed, plies):
        rng = random.Random(seed)
        world = RealGame(game, "start")
        position = world.start
        for _ in range(plies):
            position = rng.choice(world.expand(position)[2])
        return RealGame(game, position)

    for game, seed, plies in (("mancala", 1, 7), ("konane", 2, 14), ("morabaraba", 3, 30), ("morris", 4, 24)):
        world = walked(game, seed, plies)
        actions = len(world.expand(world.start)[2])
        write(game, [f"A position {plies} random plies after the start; the evaluations are arbitrary numbers, fixed per position."],
              world, Evaluations(world, game), [
                  search(puct(noise_fraction=0.25), one(32, noise=noise(game, actions))),
                  search(puct(noise_fraction=0.25, forced_playouts=2.0), one(32, noise=noise(game, actions)),
                         with_mctx=False),
                  search(gumbel(), one(32)),
                  search(gumbel(considered=4, c_scale=0.3), one(32, gumbel_scale=1.0, key=seed)),
              ])


if __name__ == "__main__":
    schedules()
    toys()
    games()

#!/usr/bin/env python3
"""Measures Turnstone beside its peers on this machine: `apps/cli/benches/beside_peers.py [--venv FOLDER]`.

    inference     the shipped networks' ONNX exports in onnxruntime (floats, integers) and PyTorch (jit), one thread
    environments  pgx and OpenSpiel with an observation per step, and OpenSpiel's random bots in C++, one thread
    search        mctx on pgx's connect four with a network of the same cost; OpenSpiel's MCTS with random playouts
    self-play     OpenSpiel's C++ AlphaZero on its mancala, one process pinned to each processor, if `--alpha-zero` names it

Turnstone and its peers alternate, round after round. The tables have the medians of rates, and in the column of a peer how
many times as fast Turnstone is: median, lowest and highest of the rounds, each a ratio of two measurements of one round.
Programs are built with cargo unless `--build` names the folder of a build; packages come from the index that pip is set up
for (its PyTorch for Linux on x86-64 brings CUDA's libraries, 2 to 3 GB that nothing here uses). What cannot be had is left
out with a line. By default all takes about five minutes, without building and installing.
"""

import argparse
import json
import logging
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
PARTS = ["inference", "environments", "search", "self-play"]
GAMES = ["mu_torere", "mancala", "morris", "konane", "morabaraba"]
BATCHES = [1, 128]
# Games side by side in environments and in mctx's searches.
TOGETHER = 1024
# pip's names and the modules that are imported, installed one by one so that one that fails takes no other along.
PACKAGES = ["numpy", "onnx", "onnxruntime", "torch", "jax", "pgx", "mctx", "open_spiel"]
# OpenSpiel's Mancala.
ITS_MANCALA = {"empty_capture": "false", "end_rule": "either_side_empty"}
# Of peers that can be told not to use AVX-512. onnxruntime cannot.
LIMITS = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path, default=cache(), help="virtual environment, made if it is not there")
    parser.add_argument("--build", type=pathlib.Path, help="folder of a release build [default: build]")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part; may be repeated")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="of each measurement, about")
    parser.add_argument("--instructions", choices=["avx2", "portable"], help="limit Turnstone, PyTorch and JAX to these")
    parser.add_argument("--alpha-zero", type=pathlib.Path, help="OpenSpiel's alpha_zero_torch_example")
    parser.add_argument("--wheel", type=pathlib.Path, help="of the Python package, whose environments take part then")
    parser.add_argument("--smoke", action="store_true", help="Turnstone alone, once and briefly: whether this script runs")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.simulations, options.playouts = 100, 20_000
    if options.smoke:
        options.rounds, options.seconds, options.simulations, options.playouts = 1, 0.02, 8, 1000
    if options.build is None:
        options.build = build()
    if options.inside or options.smoke:
        compare(options)
        return
    environment = os.environ | ONE_THREAD | (LIMITS if options.instructions else {})
    environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    if options.instructions:
        environment["XLA_FLAGS"] += " --xla_cpu_max_isa=AVX2"
    inside = [prepare(options.venv, options.wheel), __file__, "--inside", "--build", options.build, *sys.argv[1:]]
    sys.exit(subprocess.run(inside, env=environment).returncode)


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "turnstone" / "peers"


def build():
    """Builds the program and the example game."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    environment = os.environ | {"CARGO_TARGET_DIR": str(target)}
    for folder, program in [(ROOT, "turnstone"), (ROOT / "examples/own_game", "own_game")]:
        command = ["cargo", "build", "--quiet", "--release", "-p", program, "--bin", program]
        subprocess.run(command, cwd=folder, env=environment, check=True)
    return target / "release"


def prepare(venv, wheel):
    """Makes the virtual environment and installs what it lacks; returns its interpreter."""
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = lambda *words: subprocess.run([python, "-m", "pip", "--quiet", *words], capture_output=True).returncode == 0
    for package in PACKAGES:
        if not pip("show", package) and not pip("install", package):
            print(f"left out: pip cannot install {package}")
    if wheel and not pip("install", "--force-reinstall", "--no-deps", wheel):
        print(f"left out: pip cannot install {wheel}")
    return python


class Contest:
    """Contestants on one task: each a name and a function that measures its rate once."""

    def __init__(self, task, unit):
        self.task, self.unit, self.ours, self.peers, self.beside, self.rates = task, unit, {}, {}, {}, {}

    def round(self):
        for name, measure in (self.ours | self.peers).items():
            self.rates.setdefault(name, []).append(measure())

    def peer(self, name, make, beside=None):
        """Adds a peer, which `make` prepares, to be compared with these of ours or with all; or says why it is left out."""
        try:
            measure = make()
            measure()
            self.peers[name], self.beside[name] = measure, beside or list(self.ours)
        except Exception as error:  # whatever an installed version stumbles over concerns its own cells only
            reason = str(error).strip().split("\n")[0][:100]
            print(f"left out: {self.task}: {name} ({type(error).__name__}: {reason})", flush=True)

    def row(self, name, columns):
        """One of ours, and in a column for each peer its rate and how many times as fast ours is."""
        row = [f"{self.task}, {name}", f"{statistics.median(self.rates[name]):,.0f} {self.unit}"]
        for peer in columns:
            if name not in self.beside.get(peer, []):
                row.append("")
                continue
            ratios = [a / b for a, b in zip(self.rates[name], self.rates[peer])]
            spread = f"{statistics.median(ratios):.3g} [{min(ratios):.3g}, {max(ratios):.3g}]"
            row.append(f"{statistics.median(self.rates[peer]):,.0f}: {spread}")
        return row


class Together:
    """Several rates that one start of a program measures; each is asked for once a round."""

    def __init__(self, measure):
        self.measure, self.rates = measure, {}

    def __call__(self, name):
        def measure():
            if name not in self.rates:
                self.rates = self.measure()
            return self.rates.pop(name)

        return measure


def compare(options):
    warnings.simplefilter("ignore")  # PyTorch deprecates what its users still run
    logging.disable(logging.WARNING)  # onnxruntime advises on its quantisation
    began, makers = time.perf_counter(), dict(zip(PARTS, [inference, environments, search, self_play]))
    print(f"{processor()}\n{versions(options)}", flush=True)
    everywhere = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else None
    with tempfile.TemporaryDirectory() as folder:
        for part in options.only or PARTS:
            if everywhere:  # JAX starts threads of its own whatever it is told
                os.sched_setaffinity(0, everywhere if part == "self-play" else {min(everywhere)})
            contests = makers[part](options, pathlib.Path(folder))
            for _ in range(options.rounds):
                for contest in contests:
                    contest.round()
            report(part, contests)
    print(f"\n{options.rounds} rounds, {time.perf_counter() - began:.0f} s")


def report(part, contests):
    peers = list(dict.fromkeys(peer for contest in contests for peer in contest.peers))
    print(f"\n| {part} | Turnstone |", *[f"{peer} |" for peer in peers])
    print("|---|---|" + "---|" * len(peers))
    for contest in contests:
        for name in contest.ours:
            print("|", " | ".join(contest.row(name, peers)), "|", flush=True)


def processor():
    """The processor's name and those of its instruction sets that matter here."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    name = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*: (.*)$", text, re.MULTILINE)
    wanted = r"fma|avx|avx2|avx_vnni|avx512[fv]|avx512bw|avx512_(?:vnni|bf16)|amx_.*|asimd|asimddp|i8mm|bf16|sve2?"
    sets = [flag for flag in (flags[1].split() if flags else []) if re.fullmatch(wanted, flag)]
    return f"{name[1] if name else platform.machine()}, {os.cpu_count()} processors: {' '.join(sets)}"


def versions(options):
    from importlib import metadata

    found = [run([options.build / "turnstone", "--version"]).strip()]
    if options.instructions:
        found[0] += f" limited to {options.instructions}"
    for package in [] if options.smoke else PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            pass
    return ", ".join(found)


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def rate(f, seconds):
    """Calls per second: the best of short runs, which a neighbour on the processor seldom disturbs all."""
    best, end = 0.0, time.perf_counter() + seconds
    while True:
        calls, start = 0, time.perf_counter()
        while True:
            f()
            calls += 1
            elapsed = time.perf_counter() - start
            if elapsed > 0.003:
                break
        best = max(best, calls / elapsed)
        if time.perf_counter() > end:
            return best


def limit(options):
    return ["--instructions", options.instructions] if options.instructions else []


# ---- inference ---------------------------------------------------------------------------------------------------------


def inference(options, folder):
    contests = []
    for game in GAMES:
        checkpoint, onnx = ROOT / f"games/src/{game}/agent.safetensors", folder / game / "model.onnx"
        run([options.build / "turnstone", "export", checkpoint, "--format", "onnx", "--out", onnx.parent])
        for batch in BATCHES:
            contest = Contest(f"{game}, batch {batch}", "evaluations/s")
            for precision in ("f32", "i8"):
                contest.ours[precision] = lambda task=(game, batch, precision): our_evaluations(options, *task)
            contests.append(contest)
            if options.smoke:
                continue
            contest.peer("onnxruntime", lambda: onnxruntime(onnx, batch, options.seconds))
            contest.peer("onnxruntime i8", lambda: onnxruntime(quantised(onnx), batch, options.seconds), beside=["i8"])
            contest.peer("PyTorch jit", lambda: pytorch(onnx, batch, options.seconds))
    return contests


def our_evaluations(options, game, batch, precision):
    """By the network of the game's config: the best of short measurements, as those of `rate`."""
    slices = 20
    batches, seconds = ",".join(slices * [str(batch)]), str(options.seconds / slices)
    command = [options.build / "turnstone", "bench", "inference", ROOT / f"configs/{game}.toml", "--json", *limit(options)]
    command += ["--batch", batches, "--seconds", seconds, "--set", f'self_play.precision="{precision}"']
    return max(row["evaluations_per_second"] for row in json.loads(run(command)))


def observations(shape, rows):
    """Flags, most of them 0."""
    import numpy

    return (numpy.random.default_rng(2).normal(size=(rows, *shape)) > 0.8).astype("float32")


def onnxruntime(path, batch, seconds):
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    rows = observations(session.get_inputs()[0].shape[1:], batch)
    return lambda: batch * rate(lambda: session.run(None, {"observation": rows}), seconds)


def quantised(path):
    """onnxruntime's own integers, statically quantised: unsigned activations, signed weights with a scale per output."""
    from onnxruntime import InferenceSession, quantization

    out = path.with_suffix(".i8.onnx")
    if out.exists():
        return out
    shape = InferenceSession(str(path), providers=["CPUExecutionProvider"]).get_inputs()[0].shape[1:]

    class Reader(quantization.CalibrationDataReader):
        batches = iter([{"observation": observations(shape, 512)}])

        def get_next(self):
            return next(self.batches, None)

    types = quantization.QuantType
    quantization.quantize_static(
        str(path),
        str(out),
        Reader(),
        quant_format=quantization.QuantFormat.QDQ,
        activation_type=types.QUInt8,
        weight_type=types.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul"],
    )
    return out


def pytorch(path, batch, seconds):
    """The operators of the ONNX file in PyTorch, traced and optimised for inference."""
    import torch

    sys.path.insert(0, str(ROOT / "apps/cli/tests"))
    from export import forward, read_steps

    tensors, steps = read_steps(path)
    rows = observations(json.loads((path.parent / "manifest.json").read_text())["observation"]["shape"], batch)
    weights = {name: x if isinstance(x, list) else torch.from_numpy(x.copy()) for name, x in tensors.items()}

    class Network(torch.nn.Module):
        def forward(self, observation):
            values = weights | {"observation": observation}
            for operator, inputs, output, attributes in steps:
                values[output] = torch_operator(operator, attributes)(*[values[name] for name in inputs])
            return values["policy_logits"], values["value_logits"]

    torch.set_num_threads(1)
    x = torch.from_numpy(rows)
    with torch.no_grad():
        # A traced module specialises on the shapes it sees, so each batch has its own.
        module = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(Network().eval(), x)))
    with torch.inference_mode():
        for found, wanted in zip(module(x), forward(path, rows).values()):
            assert abs(found.numpy() - wanted).max() < 1e-3 * max(1, abs(wanted).max()), "computes something else"

    def run():
        with torch.inference_mode():
            module(x)

    for _ in range(3):
        run()
    return lambda: batch * rate(run, seconds)


def torch_operator(operator, attributes):
    """One of the ONNX operators that exports consist of, on PyTorch's tensors; shapes and indices are lists."""
    import torch

    axes = attributes.get("axes")
    return {
        "MatMul": torch.matmul,
        "Add": torch.add,
        "Relu": torch.relu,
        "Reshape": lambda x, shape: x.reshape([n or x.shape[axis] for axis, n in enumerate(shape)]),
        "Transpose": lambda x: x.permute(attributes["perm"]),
        "ReduceMean": lambda x: x.mean(axes, keepdim=bool(attributes["keepdims"])),
        "ReduceMax": lambda x: x.amax(axes, keepdim=bool(attributes["keepdims"])),
        "Concat": lambda *parts: torch.cat(parts, attributes["axis"]),
        "Gather": lambda x, indices: x.index_select(attributes["axis"], torch.tensor(indices)),
        "Slice": lambda x, begin, end, axes: x[:, begin[0] : end[0], begin[1] : end[1]],
        "Expand": lambda x, shape: x.expand([max(n, m) for n, m in zip(shape, x.shape)]),
        "Pad": lambda x, pads: torch.nn.functional.pad(x, [n for axis in (2, 1, 0) for n in (pads[axis], pads[axis + 3])]),
    }[operator]


# ---- environments ------------------------------------------------------------------------------------------------------


def environments(options, _folder):
    """Steps with observations and masks, and bare random playouts; actions are uniformly random legal ones."""
    contests = []
    for program, game, theirs in [
        ("own_game", "connect_four", "connect_four"),
        ("turnstone", "mancala", "mancala"),
        ("turnstone", "morabaraba", "nine_mens_morris"),  # other rules on 24 points as well
    ]:
        if not (options.build / program).exists():
            print(f"left out: {game} ({program} is not built)")
            continue
        contest = Contest(game if game == theirs else f"{game} beside {theirs}", "plies/s")
        command = [options.build / program, "bench", "env", game, "--envs", str(TOGETHER), "--json"]
        command += ["--seconds", str(options.seconds)]
        ours = Together(lambda command=command: json.loads(run(command))[0])
        contest.ours = {"VecEnv": ours("steps_per_second"), "playouts": ours("plies_per_second")}
        contests.append(contest)
        if options.smoke:
            continue
        contest.peer("OpenSpiel, C++ bots", lambda: openspiel_playouts(theirs, options.seconds), beside=["playouts"])
        steps = ["VecEnv"]
        if options.wheel and program == "turnstone":
            steps.append("VecEnv in Python")
            contest.ours[steps[1]] = vec_env(game, options.seconds)
        contest.peer("OpenSpiel, Python", lambda: openspiel_steps(theirs, options.seconds), beside=steps)
        if theirs == "connect_four":
            contest.peer("pgx", lambda: pgx_steps(theirs, options.seconds), beside=steps)
    return contests


def vec_env(name, seconds):
    import turnstone_rl as turnstone

    envs = turnstone.VecEnv(name, TOGETHER, threads=1)
    envs.reset(seed=1)
    return lambda: TOGETHER * rate(lambda: envs.step(envs.sample()), seconds)


def pgx_steps(name, seconds):
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def many(state, key):
        def one(carry, _):
            state, key = carry
            key, own = jax.random.split(key)
            logits = jax.numpy.where(state.legal_action_mask, 0.0, -1e9)
            actions = jax.random.categorical(own, logits, axis=1)
            return (step(state, actions, jax.random.split(own, TOGETHER)), key), None

        return jax.lax.scan(one, (state, key), None, 20)[0]

    key = jax.random.PRNGKey(0)
    carry = [jax.jit(init)(jax.random.split(key, TOGETHER)), key]

    def run():
        carry[:] = many(*carry)
        jax.block_until_ready(carry[0].observation)

    run()  # compiles
    return lambda: 20 * TOGETHER * rate(run, seconds)


def openspiel_steps(name, seconds):
    import random

    import pyspiel

    game, rng = pyspiel.load_game(name), random.Random(1)
    states = [game.new_initial_state() for _ in range(TOGETHER)]

    def run():
        for i, state in enumerate(states):
            state.apply_action(rng.choice(state.legal_actions()))
            if state.is_terminal():
                states[i] = game.new_initial_state()
            else:
                state.observation_tensor()

    return lambda: TOGETHER * rate(run, seconds)


def openspiel_playouts(name, seconds):
    """Games of OpenSpiel's random bots in C++, whose mean length is that of games played from here."""
    import random

    import pyspiel

    game, rng, plies, sample = pyspiel.load_game(name), random.Random(1), 0, 500
    for _ in range(sample):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            plies += 1
    bots = [pyspiel.make_uniform_random_bot(player, 1) for player in range(2)]
    play = lambda: pyspiel.evaluate_bots(game.new_initial_state(), bots, rng.randrange(1 << 30))
    return lambda: plies / sample * rate(play, seconds)


# ---- search ------------------------------------------------------------------------------------------------------------


def search(options, _folder):
    contests = []
    own_game = options.build / "own_game"
    if own_game.exists():
        contest = Contest(f"connect_four, Gumbel, {options.simulations} simulations, MLP 2x128", "simulations/s")
        for precision in ("f32", "i8"):
            settings = {"net.kind": '"residual_mlp"', "net.blocks": 2, "net.width": 128, "search.method": '"gumbel"'}
            command = bench_self_play(options, own_game, "connect_four", settings, precision, 1, 64, options.seconds)
            ours = Together(lambda command=command: json.loads(run(command))[0])
            contest.ours[precision] = ours("simulations_per_second")
        if not options.smoke:
            contest.peer("mctx on pgx", lambda: mctx_simulations(options.simulations, options.seconds))
        contests.append(contest)
    else:
        print("left out: search with a network on connect_four (own_game is not built)")
    for program, game, parameters in [("turnstone", "mancala", ITS_MANCALA), ("own_game", "connect_four", {})]:
        if not (options.build / program).exists():
            continue
        contest = Contest(f"{game}, random playouts", "simulations/s")
        contest.ours["tree"] = Engine(options.build / program, game, parameters, options.playouts).simulations_per_second
        if not options.smoke:
            contest.peer("OpenSpiel MCTSBot, C++", lambda: openspiel_mcts(game, options.playouts // 4, compiled=True))
            contest.peer("OpenSpiel MCTSBot, Python", lambda: openspiel_mcts(game, options.playouts // 100, compiled=False))
        contests.append(contest)
    return contests


def bench_self_play(options, program, game, settings, precision, threads, games, seconds):
    """The command that measures self-play; an iteration that has begun is finished."""
    settings = settings | {
        "search.simulations": options.simulations,
        "self_play.games_per_iteration": 8 if options.smoke else games,
        "self_play.precision": f'"{precision}"',
    }
    command = [program, "bench", "self-play", game, "--threads", str(threads), "--seconds", str(seconds), "--json"]
    return [*command, *limit(options), *(word for key, value in settings.items() for word in ("--set", f"{key}={value}"))]


def mctx_simulations(simulations, seconds):
    """Self-play of `TOGETHER // 4` games in one compiled step: a Gumbel search for each, and its move. The network is the
    residual MLP of 2 blocks of 128 with random weights, on pgx's observation of 84 numbers; ours has 252 and so a quarter
    more multiply-adds."""
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx
    from pgx.experimental import auto_reset

    env, games, key = pgx.make("connect_four"), TOGETHER // 4, jax.random.PRNGKey(0)
    sizes = [(84, 128), *[(128, 128)] * 4, (128, 7), (128, 64), (64, 3)]
    keys = jax.random.split(key, len(sizes))
    weights = [jax.random.normal(k, size) * math.sqrt(2 / size[0]) for k, size in zip(keys, sizes)]
    start, step = jax.vmap(env.init), jax.vmap(env.step)
    step_on = jax.vmap(auto_reset(env.step, env.init))

    def network(observation):
        x = jax.nn.relu(observation.reshape(games, -1).astype(jnp.float32) @ weights[0])
        for first, second in (weights[1:3], weights[3:5]):
            x = jax.nn.relu(x + jax.nn.relu(x @ first) @ second)
        outcomes = jax.nn.softmax(jax.nn.relu(x @ weights[6]) @ weights[7])
        return x @ weights[5], outcomes[:, 0] - outcomes[:, 2]

    def masked(logits, state):
        return jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min)

    def recurrent(_params, _key, action, state):
        mover, state = state.current_player, step(state, action)
        logits, value = network(state.observation)
        value = jnp.where(state.terminated, 0.0, value)
        discount = jnp.where(state.terminated, 0.0, -1.0)
        reward = state.rewards[jnp.arange(games), mover]
        prior = masked(logits, state)
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=prior, value=value), state

    @jax.jit
    def move(state, key):
        key, own, other = jax.random.split(key, 3)
        logits, value = network(state.observation)
        root = mctx.RootFnOutput(prior_logits=masked(logits, state), value=value, embedding=state)
        illegal = ~state.legal_action_mask
        found = mctx.gumbel_muzero_policy((), own, root, recurrent, simulations, invalid_actions=illegal)
        return step_on(state, found.action, jax.random.split(other, games)), key

    carry = [jax.jit(start)(jax.random.split(key, games)), key]

    def run():
        carry[:] = move(*carry)
        jax.block_until_ready(carry[0].observation)

    run()  # compiles
    return lambda: simulations * games * rate(run, seconds)


def openspiel_mcts(name, simulations, compiled):
    """One search from the start with a rollout per leaf, solved positions recognised."""
    import numpy
    import pyspiel
    from open_spiel.python.algorithms import mcts

    game = pyspiel.load_game(name)
    start, rng = game.new_initial_state(), numpy.random.RandomState(1)
    if compiled:
        bot = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, simulations, 1000, True, 1, False)
    else:
        bot = mcts.MCTSBot(game, 2.0, simulations, mcts.RandomRolloutEvaluator(1, rng), solve=True, random_state=rng)

    def measure():
        began = time.perf_counter()
        bot.step(start)
        return simulations / (time.perf_counter() - began)

    return measure


class Engine:
    """A search of ours from the start, through the protocol for programs."""

    def __init__(self, program, game, parameters, simulations):
        words = [word for key, value in parameters.items() for word in ("--param", f"{key}={value}")]
        command = [program, "engine", game, "--agent", f"mcts:sims={simulations}", *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.simulations = simulations
        self.ask("ugi", "ugiok")

    def ask(self, lines, answer):
        print(lines, file=self.process.stdin, flush=True)
        while not self.process.stdout.readline().startswith(answer):
            if self.process.poll() is not None:
                raise RuntimeError("the engine has ended")

    def simulations_per_second(self):
        self.ask("uginewgame\nposition startpos\nisready", "readyok")
        began = time.perf_counter()
        self.ask("go", "bestmove")
        return self.simulations / (time.perf_counter() - began)


# ---- self-play ---------------------------------------------------------------------------------------------------------


def self_play(options, folder):
    """Mancala by OpenSpiel's rules. `net.blocks=2` costs what OpenSpiel's MLP of 4 layers of 128 does. Rates by the clock, and
    by processor time, which other programs on the machine disturb less."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    task = f"mancala, PUCT, {options.simulations} simulations, MLP 2x128, {cores} threads"
    contests = [Contest(task, "positions/s"), Contest(task, "positions per processor second")]
    settings = {"net.kind": '"residual_mlp"', "net.blocks": 2, "net.width": 128, "search.method": '"puct"'}
    settings |= {f"game.{key}": value if value == "false" else f'"{value}"' for key, value in ITS_MANCALA.items()}
    settings |= {"self_play.opening_plies": 6}
    for precision in ("f32", "i8"):
        command = bench_self_play(options, options.build / "turnstone", "mancala", settings, precision, cores, 1024, 0.05)
        ours = Together(lambda command=command: our_positions(command))
        for contest in contests:
            contest.ours[precision] = ours(contest.unit)
    if options.alpha_zero:
        theirs = Together(lambda: alpha_zero(options, folder))
        for contest in contests:
            contest.peer("OpenSpiel AlphaZero, C++", lambda contest=contest: theirs(contest.unit))
    elif not options.smoke:
        print("left out: self-play: OpenSpiel's C++ AlphaZero has to be built; --alpha-zero names its program")
    return contests


def our_positions(command):
    """The program's start and its look at the bare network count as processor time as well; they are a hundredth of it."""
    before = os.times()
    [row] = json.loads(run(command))
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return rates(row["positions_per_second"], row["positions"], processor)


def rates(by_clock, positions, processor_seconds):
    return {"positions/s": by_clock, "positions per processor second": positions / max(processor_seconds, 1e-9)}


def alpha_zero(options, folder):
    """Its self-play: after a collection of 4,096 positions to warm up, three more, in a process on each processor. Nothing is
    learned: the batch is larger than the buffer."""
    steps, running = 4, []
    for core in sorted(os.sched_getaffinity(0)):
        path = pathlib.Path(tempfile.mkdtemp(dir=folder))
        flags = dict(game="mancala", path=path, nn_model="mlp", nn_width=128, nn_depth=4)
        flags |= dict(max_simulations=options.simulations)
        flags |= dict(actors=64, inference_batch_size=64, inference_threads=1, evaluators=0, max_steps=steps)
        flags |= dict(replay_buffer_size=12_288, replay_buffer_reuse=3, train_batch_size=1 << 20)
        command = [options.alpha_zero, *(f"--{key}={value}" for key, value in flags.items())]
        pin = lambda core=core: os.sched_setaffinity(0, {core})
        quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running.append((path / "learner.jsonl", subprocess.Popen(command, **quiet, preexec_fn=pin), []))
    while any(len(times) < steps for _, _, times in running):
        time.sleep(0.01)
        for log, process, times in running:
            finished = log.read_text().count("\n") if log.exists() else 0
            if finished > len(times):
                times.extend([processor_seconds(process.pid)] * (finished - len(times)))
            elif process.poll() is not None and finished < steps:
                raise RuntimeError(f"{options.alpha_zero} ended with {process.returncode}")
    collected = []
    for log, process, times in running:
        process.wait()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        seconds = lines[-1]["time_rel"] - lines[0]["time_rel"]
        collected.append((lines[-1]["total_states"] - lines[0]["total_states"], seconds, times[-1] - times[0]))
    positions = sum(states for states, _, _ in collected)
    by_clock = sum(states / seconds for states, seconds, _ in collected)
    return rates(by_clock, positions, sum(processor for _, _, processor in collected))


def processor_seconds(process):
    """What this process has used so far; Linux only."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()

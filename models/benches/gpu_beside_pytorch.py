#!/usr/bin/env python3
"""Measures networks of convolutions on a GPU, on the processor and in PyTorch.

    cargo build --release --features cuda        # or wgpu
    models/benches/gpu_beside_pytorch.py --device gpu

For Konane 8x8 and each network (64x6 and 128x10, channels by blocks): positions per second of self-play and steps per second
of the learner, on the GPU and on the processor; evaluations and learner steps per second of the same network in PyTorch, on
the same GPU if PyTorch finds one (`--torch-device`); and the GPU's utilisation during self-play and learning, if nvidia-smi is
there. Prints a Markdown table and, with --json FILE, all numbers. Programs alternate; rates are the best of the rounds.
Without a GPU, `--device cpu` measures what is left.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
POINTS, PLANES, ACTIONS = 64, 5, 448  # Konane 8x8: three planes of points, two for the whole board
HEAD, VALUE = 8, 64  # channels of a head, hidden units of the value head
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def main():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=target / "release" / "turnstone")
    parser.add_argument("--device", default="gpu", help="of turnstone: gpu, gpu:1, cpu (default: gpu)")
    parser.add_argument("--torch-device", help="of PyTorch: cuda, mps, xpu, cpu (default: the first that it has)")
    parser.add_argument("--networks", nargs="+", default=["64x6", "128x10"], metavar="CHANNELSxBLOCKS")
    parser.add_argument("--batch", type=int, default=1024, help="positions of a learner step (default: 1024)")
    parser.add_argument("--inference-batch", type=int, default=4096, help="positions of an evaluation (default: 4096)")
    parser.add_argument("--games", type=int, default=2048, help="games that each worker plays at once on a GPU")
    parser.add_argument("--simulations", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement (default: 5)")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    results = []
    for network in options.networks:
        channels, blocks = map(int, network.split("x"))
        results += measure(options, channels, blocks)
    print("\n| network | what | where | per second | GPU busy |\n|---|---|---|---|---|")
    for row in results:
        busy = f"{row['busy']:.0f} %" if row["busy"] is not None else ""
        print(f"| {row['network']} | {row['what']} | {row['where']} | {row['rate']:.1f} | {busy} |")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


def measure(options, channels, blocks):
    """All rates of a network, the best of the rounds."""
    tasks = []
    for device in dict.fromkeys([options.device, "cpu"]):
        for what in ("self-play positions", "learner steps", "evaluations"):
            tasks.append((what, f"turnstone, {device}", ours(options, what, device, channels, blocks)))
    if not options.no_torch:
        tasks += peers(options, channels, blocks)
    best = {}
    for turn in range(options.rounds):
        for what, where, task in tasks:
            print(f"{channels}x{blocks}, round {turn + 1}: {what}, {where}", file=sys.stderr, flush=True)
            with Utilisation() as utilisation:
                rate = task()
            row = {"rate": rate, "busy": utilisation.mean() if not where.endswith("cpu") else None}
            if rate > best.get((what, where), {"rate": 0.0})["rate"]:
                best[what, where] = row
    return [
        {"network": f"{channels}x{blocks}", "what": what, "where": where, **row} for (what, where), row in best.items()
    ]


def ours(options, what, device, channels, blocks):
    """A function that runs `turnstone bench` and returns its rate."""
    on_gpu = device != "cpu"
    sets = {
        "net.kind": '"residual_conv"',
        "net.channels": channels,
        "net.blocks": blocks,
        "self_play.device": f'"{device}"',
        "self_play.precision": '"auto"',
        "learn.device": f'"{device}"',
        "learn.batch": options.batch,
        "search.simulations": options.simulations,
    }
    if on_gpu:
        sets |= {"self_play.concurrent_games": options.games, "self_play.games_per_iteration": 2 * options.games}
    else:
        sets |= {"self_play.concurrent_games": 24, "self_play.games_per_iteration": 24 * CORES}
    part, key = {
        "self-play positions": ("self-play", "positions_per_second"),
        "learner steps": ("learner", "steps_per_second"),
        "evaluations": ("inference", "evaluations_per_second"),
    }[what]
    command = [options.program, "bench", part, "konane", "--json", "--seconds", str(options.seconds)]
    if part == "inference":
        command += ["--batch", str(options.inference_batch if on_gpu else 64)]
    else:
        command += ["--threads", str(CORES)]
    for name, value in sets.items():
        command += ["--set", f"{name}={value}"]

    def run():
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))} failed with status {done.returncode}")
        rate = json.loads(done.stdout)[-1][key]
        # The processor's inference is of one thread.
        return rate * (CORES if part == "inference" and not on_gpu else 1)

    return run


def peers(options, channels, blocks):
    """The same network in PyTorch: evaluations and learner steps, with floats of 32 bits and mixed."""
    try:
        import torch
        from torch import nn
        from torch.nn import functional
    except ImportError:
        print("PyTorch is not installed, so it is not measured", file=sys.stderr)
        return []
    name = options.torch_device or next(
        (name for name in ("cuda", "mps", "xpu") if getattr(torch, name, None) and getattr(torch, name).is_available()), "cpu"
    )
    device = torch.device(name)
    wait = getattr(getattr(torch, device.type, None), "synchronize", lambda: None)

    def conv(inputs, outputs, size):
        return nn.Conv2d(inputs, outputs, size, padding=size // 2)

    class Tower(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = conv(PLANES, channels, 3)
            self.first = nn.ModuleList(conv(channels, channels, 3) for _ in range(blocks))
            self.second = nn.ModuleList(conv(channels, channels, 3) for _ in range(blocks))
            self.policy_points, self.policy = conv(channels, HEAD, 1), nn.Linear(HEAD * POINTS, ACTIONS)
            self.value_points, self.value_hidden = conv(channels, HEAD, 1), nn.Linear(HEAD * POINTS, VALUE)
            self.value = nn.Linear(VALUE, 3)

        def forward(self, x):
            x = functional.relu(self.stem(x))
            for first, second in zip(self.first, self.second):
                x = functional.relu(x + second(functional.relu(first(x))))
            policy = self.policy(functional.relu(self.policy_points(x)).flatten(1))
            hidden = functional.relu(self.value_hidden(functional.relu(self.value_points(x)).flatten(1)))
            return policy, self.value(hidden)

    tasks = []
    for label, dtype in (("f32", None), ("bf16", torch.bfloat16)):
        net = Tower().to(device).to(memory_format=torch.channels_last)
        optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4)
        mixed = lambda dtype=dtype: torch.autocast(device.type, dtype=dtype or torch.bfloat16, enabled=dtype is not None)
        rows = lambda count: torch.rand(count, PLANES, 8, 8).to(device).to(memory_format=torch.channels_last)
        learned, evaluated = rows(options.batch), rows(options.inference_batch if device.type != "cpu" else 64)
        legal = (torch.rand(options.batch, ACTIONS) < 0.05).to(device)
        legal[:, 0] = True
        policy_target = legal / legal.sum(1, keepdim=True)
        value_target = torch.tensor([0.5, 0.25, 0.25]).expand(options.batch, 3).to(device)

        def step(net=net, optimiser=optimiser, mixed=mixed, x=learned):
            with mixed():
                policy, value = net(x)
            policy = policy.float().masked_fill(~legal, -1e9).log_softmax(1)
            loss = -(policy * policy_target).sum(1).mean() - (value.float().log_softmax(1) * value_target).sum(1).mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()

        def evaluate(net=net, mixed=mixed, x=evaluated):
            with torch.inference_mode(), mixed():
                return [tensor.float().cpu() for tensor in net(x)]

        timed = lambda f, count: lambda: count * rate(f, wait, options.seconds)
        where = f"PyTorch {label}, {device.type}"
        tasks.append(("learner steps", where, timed(step, 1)))
        tasks.append(("evaluations", where, timed(evaluate, len(evaluated))))
    return tasks


def rate(f, wait, seconds):
    """Calls per second, after a few that warm up."""
    for _ in range(3):
        f()
    wait()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        f()
        calls += 1
        wait()
    return calls / (time.perf_counter() - start)


class Utilisation:
    """Samples the GPU's utilisation with nvidia-smi, where it is."""

    def __enter__(self):
        self.samples, self.over = [], threading.Event()
        self.thread = threading.Thread(target=self.sample, daemon=True)
        if shutil.which("nvidia-smi"):
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()

    def sample(self):
        query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        while not self.over.wait(0.5):
            done = subprocess.run(query, stdout=subprocess.PIPE, text=True)
            if done.returncode == 0:
                self.samples.append(max(float(line) for line in done.stdout.split()))

    def mean(self):
        return sum(self.samples) / len(self.samples) if self.samples else None


if __name__ == "__main__":
    main()

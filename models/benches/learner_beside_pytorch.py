#!/usr/bin/env python3
"""Measures learner steps beside PyTorch: `models/benches/learner_beside_pytorch.py [--program FILE] [--other FILE] [game]...`

For each game, the network of its trained agent: forward pass, masked losses, backward pass and AdamW on 256 positions. The
weights are loaded from the agent's file, so both programs train the same network. Needs torch; a build of the program is
taken from `target/release` unless --program names one. With --other, another build of the program (an earlier version,
say) is measured in turn. Rates are the best of all rounds, in which the programs alternate.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import time

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH = 256


def main():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=["konane", "morris", "morabaraba", "mancala"])
    parser.add_argument("--program", default=target / "release" / "turnstone")
    parser.add_argument("--other")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    programs = {"turnstone": options.program} | ({"other": options.other} if options.other else {})
    print("| network | threads |", *[f"{name} |" for name in [*programs, "PyTorch"]], "turnstone / PyTorch |", end="")
    print(" turnstone / other |" if options.other else "")
    print("|---|---|" + "---|" * (len(programs) + 2 + bool(options.other)))
    for game in options.games:
        torch.manual_seed(1)
        file = Checkpoint(ROOT / "games" / "src" / game / "agent.safetensors")
        step, best = trainer(file), {}
        for _ in range(options.rounds):
            for threads in [1, 2]:
                rates = {name: ours(program, game, file, threads, options.seconds) for name, program in programs.items()}
                torch.set_num_threads(threads)
                rates["PyTorch"] = rate(step, options.seconds)
                for name, value in rates.items():
                    best[name, threads] = max(best.get((name, threads), 0.0), value)
        for threads in [1, 2]:
            cells = [f"{best[name, threads]:.1f} |" for name in [*programs, "PyTorch"]]
            peers = ["PyTorch"] + (["other"] if options.other else [])
            cells += [f"{best['turnstone', threads] / best[peer, threads]:.2f} |" for peer in peers]
            print(f"| {game}, {file.name()} | {threads} |", *cells, flush=True)


def ours(program, game, file, threads, seconds):
    """Steps per second of `turnstone bench learner`."""
    sets = [f"net.{key}={json.dumps(value)}" for key, value in file.network.items()] + [f"learn.batch={BATCH}"]
    command = [program, "bench", "learner", game, "--json", "--threads", str(threads), "--seconds", str(seconds)]
    command += [word for assignment in sets for word in ("--set", assignment)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[0]["steps_per_second"]


def rate(f, seconds):
    """Calls per second."""
    f()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        f()
        calls += 1
    return calls / (time.perf_counter() - start)


class Checkpoint:
    """A network as its file describes it."""

    def __init__(self, path):
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        about = header.pop("__metadata__")
        self.network = json.loads(about["turnstone.network"])
        self.inputs, self.actions = int(about["turnstone.inputs"]), int(about["turnstone.actions"])
        self.board = json.loads(about.get("turnstone.board", "null"))
        self.tensors = {}
        for name, tensor in header.items():
            start, end = (8 + length + offset for offset in tensor["data_offsets"])
            numbers = torch.frombuffer(bytearray(data[start:end]), dtype=torch.float32)
            self.tensors[name] = numbers.reshape(tensor["shape"])

    def name(self):
        return " ".join(str(value) for value in self.network.values())

    def linear(self, name):
        """A layer with the file's weights."""
        weight, bias = self.tensors.pop(f"{name}.weight"), self.tensors.pop(f"{name}.bias")
        layer = nn.Linear(*weight.shape)
        with torch.no_grad():
            layer.weight.copy_(weight.T)
            layer.bias.copy_(bias)
        return layer


class Mlp(nn.Module):
    def __init__(self, file):
        super().__init__()
        self.stem = file.linear("stem")
        names = [f"blocks.{block}" for block in range(file.network["blocks"])]
        self.first = nn.ModuleList(file.linear(f"{name}.first") for name in names)
        self.second = nn.ModuleList(file.linear(f"{name}.second") for name in names)
        self.policy, self.hidden, self.value = map(file.linear, ["policy", "value_hidden", "value"])

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for first, second in zip(self.first, self.second):
            x = torch.relu(x + second(torch.relu(first(x))))
        return self.policy(x), self.value(torch.relu(self.hidden(x)))


class Graph(Mlp):
    """A residual graph network. The neighbours of all points are gathered by one index; beyond a line's end lies a point of
    zeros."""

    def __init__(self, file):
        super().__init__(file)
        assert file.network["neighbourhood"] == "lines", "the trained agents read along lines"
        self.policy_points, self.value_points = file.linear("policy_points"), file.linear("value_points")
        self.planes, self.points = file.board["point_planes"], file.board["points"]
        taps = []
        for point in range(self.points):
            taps.append(point)
            for direction in file.board["directions"]:
                at = point
                for _ in range(file.network["reach"]):
                    at = None if at is None else direction[at]
                    taps.append(self.points if at is None else at)
        self.register_buffer("taps", torch.tensor(taps))

    def forward(self, x):
        own, common = x[:, : self.planes * self.points], x[:, self.planes * self.points :]
        own = own.reshape(-1, self.planes, self.points).transpose(1, 2)
        x = torch.cat([own, common[:, None].expand(-1, self.points, -1)], 2)
        x = torch.relu(self.stem(x))
        zeros = x.new_zeros(x.shape[0], 1, x.shape[2])
        for first, second in zip(self.first, self.second):
            around = torch.cat([x, zeros], 1).index_select(1, self.taps).reshape(*x.shape[:2], -1)
            x = torch.relu(x + second(torch.relu(first(around))))
        policy = self.policy(torch.relu(self.policy_points(x)).flatten(1))
        hidden = self.hidden(torch.relu(self.value_points(x)).flatten(1))
        return policy, self.value(torch.relu(hidden))


def trainer(file):
    """A training step on random positions, of whose actions one in eight is legal."""
    module = {"residual_mlp": Mlp, "residual_graph": Graph}[file.network["kind"]](file)
    assert not file.tensors, f"no layer uses {list(file.tensors)}"
    optimiser = torch.optim.AdamW(module.parameters(), lr=1e-4, weight_decay=1e-4)
    x = torch.randn(BATCH, file.inputs)
    illegal = torch.rand(BATCH, file.actions) > 1 / 8
    illegal[:, 0] = False
    policy = (~illegal).float() / (~illegal).sum(1, keepdim=True)
    value = torch.tensor([0.5, 0.25, 0.25]).expand(BATCH, 3)
    cross_entropy = nn.functional.cross_entropy

    def step():
        policy_logits, value_logits = module(x)
        loss = cross_entropy(policy_logits.masked_fill(illegal, -1e9), policy) + cross_entropy(value_logits, value)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return step


if __name__ == "__main__":
    main()

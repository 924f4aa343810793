#!/usr/bin/env python3
"""Measures this crate beside PyTorch and onnxruntime: `models/benches/side_by_side.py [--venv FOLDER] [--rounds N]`.

Two networks with random weights, one thread each, all programs in turn round after round, the best of all rounds:
- mlp: 128 inputs, stem and 3 residual blocks of width 128, 64 policy logits, value head of 64 hidden and 3 outcomes;
- tower: 8x8 board of 8 planes, stem and 4 residual blocks of 64 channels 3x3, small heads. The peers have batch norm in
  evaluation mode, which the two that optimise the graph fold away; here there is none.
Training is the mlp at batch 256 with Adam and the same losses. A virtual environment is made in a temporary folder, or
in FOLDER, and used from there again.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCHES = [1, 8, 32, 128]
# Operations of one evaluation; taps that lie beyond the board's edge count, since the peers compute them too.
OPERATIONS = {
    "mlp": 2 * (7 * 128 * 128 + 128 * (64 + 64) + 64 * 3),
    "tower": 2 * (64 * 9 * (8 * 64 + 8 * 64 * 64) + 64 * 64 * 3 + 128 * 64 + 64 * 64 + 64 * 3),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        compare(options.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        python = prepare(options.venv or pathlib.Path(folder) / "venv")
        subprocess.run([python, __file__, "--inside", "--rounds", str(options.rounds)], check=True)


def prepare(venv):
    """Makes the virtual environment if it is not there; returns its interpreter."""
    python, done = venv / "bin" / "python", venv / "complete"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        install = [python, "-m", "pip", "install", "--quiet"]
        # All from the package index that pip is set up for. Its PyTorch for Linux on x86-64 brings CUDA's libraries too,
        # 2 to 3 GB that nothing here uses.
        subprocess.run(install + ["numpy", "onnx", "onnxruntime", "torch"], check=True)
        done.touch()
    return python


def rate(f, seconds=0.33):
    """Calls per second: the best of short runs."""
    f()
    best, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        calls, start = 0, time.perf_counter()
        while True:
            f()
            calls += 1
            elapsed = time.perf_counter() - start
            if elapsed > 0.003:
                break
        best = max(best, calls / elapsed)
    return best


def networks():
    """The two networks in PyTorch, in evaluation mode, and the shapes of their inputs."""
    import torch
    from torch import nn

    class Residual(nn.Module):
        def __init__(self, first, second):
            super().__init__()
            self.first, self.second = first, second

        def forward(self, x):
            return torch.relu(x + self.second(torch.relu(self.first(x))))

    class Heads(nn.Module):
        def __init__(self, body, policy, value):
            super().__init__()
            self.body, self.policy, self.value = body, policy, value

        def forward(self, x):
            x = self.body(x)
            return self.policy(x), self.value(x)

    def convolution(inputs, outputs, size):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs)
        )

    linear, relu = nn.Linear, nn.ReLU
    mlp = Heads(
        nn.Sequential(linear(128, 128), relu(), *[Residual(linear(128, 128), linear(128, 128)) for _ in range(3)]),
        linear(128, 64),
        nn.Sequential(linear(128, 64), relu(), linear(64, 3)),
    )
    block = lambda: Residual(convolution(64, 64, 3), convolution(64, 64, 3))
    tower = Heads(
        nn.Sequential(convolution(8, 64, 3), relu(), *[block() for _ in range(4)]),
        nn.Sequential(convolution(64, 2, 1), relu(), nn.Flatten(), linear(128, 64)),
        nn.Sequential(convolution(64, 1, 1), relu(), nn.Flatten(), linear(64, 64), relu(), linear(64, 3)),
    )
    return {"mlp": (mlp.eval(), (128,)), "tower": (tower.eval(), (8, 8, 8))}


def peers(folder):
    """Pairs of (name, batch) and a function to call."""
    import onnxruntime
    import torch

    torch.manual_seed(1)
    cells = {}
    for net, (module, shape) in networks().items():
        example = torch.randn(2, *shape)
        path = str(pathlib.Path(folder) / f"{net}.onnx")
        names = dict(input_names=["x"], output_names=["policy", "value"])
        torch.onnx.export(module, (example,), path, dynamo=False, dynamic_axes={"x": {0: "batch"}}, **names)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        with torch.inference_mode():
            expected = module(example)
        for found, wanted in zip(session.run(None, {"x": example.numpy()}), expected):
            assert abs(found - wanted.numpy()).max() < 1e-4, f"{net}: the exported network computes something else"
        for batch in BATCHES:
            x = torch.randn(batch, *shape)

            # A traced module specialises on the shapes it sees, so each batch has its own.
            with torch.no_grad():
                traced = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(module, x)))

            def eager(module=module, x=x):
                with torch.inference_mode():
                    module(x)

            def jit(module=traced, x=x):
                with torch.inference_mode():
                    module(x)

            def ort(session=session, x=x.numpy()):
                session.run(None, {"x": x})

            for _ in range(3):
                jit()
            cells |= {
                (f"{net}/PyTorch eager", batch): eager,
                (f"{net}/PyTorch jit", batch): jit,
                (f"{net}/onnxruntime", batch): ort,
            }
    return cells


def trainer():
    """One training step of the mlp in PyTorch."""
    import torch

    module, _ = networks()["mlp"]
    module.train()
    optimiser = torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=1e-4)
    x = torch.randn(256, 128)
    policy, value = torch.full((256, 64), 1 / 64), torch.tensor([0.5, 0.25, 0.25]).expand(256, 3)
    cross_entropy = torch.nn.functional.cross_entropy

    def step():
        policy_logits, value_logits = module(x)
        loss = cross_entropy(policy_logits, policy) + cross_entropy(value_logits, value)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return step


def compare(rounds):
    import torch

    warnings.simplefilter("ignore")  # PyTorch deprecates what its users still run
    package = ["-p", "turnstone-models", "--features", "train", "--example", "rates"]
    build = ["cargo", "build", "--quiet", "--release", "--offline", *package]
    subprocess.run(build, cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    ours = target / "release" / "examples" / "rates"
    best = {}

    def note(name, batch, per_second):
        best[name, batch] = max(best.get((name, batch), 0.0), per_second)

    with tempfile.TemporaryDirectory() as folder:
        cells, step = peers(folder), trainer()
        for _ in range(rounds):
            # Batch by batch, so that what stands in one column of a table was measured within seconds.
            for batch in BATCHES:
                lines = subprocess.run([ours, "--batch", str(batch)], check=True, capture_output=True, text=True).stdout
                for line in map(json.loads, lines.splitlines()):
                    note(line["name"], line["batch"], line["per_second"])
                torch.set_num_threads(1)
                for (name, of), f in cells.items():
                    if of == batch:
                        note(name, batch, batch * rate(f))
            for threads in [1, 2]:
                torch.set_num_threads(threads)
                note(f"training/PyTorch, {threads} thread{'s'[:threads - 1]}", 1, rate(step))
    report(best)


def report(best):
    peak = max(rate for (name, _), rate in best.items() if name.startswith("peak/"))
    print("| peak of one core | GFLOP/s |\n|---|---|")
    for (name, _), per_second in best.items():
        if name.startswith("peak/"):
            print(f"| {name[5:]} | {per_second / 1e9:.0f} |")
    for net, operations in OPERATIONS.items():
        print(f"\n| {net}, evaluations/s (in brackets: turnstone relative to it) |", *[f"batch {b} |" for b in BATCHES])
        print("|---|" + "---|" * len(BATCHES))
        for name in dict.fromkeys(name for name, _ in best if name.startswith(f"{net}/")):
            mine = [best[f"{net}/turnstone", batch] for batch in BATCHES]
            theirs = [best[name, batch] for batch in BATCHES]
            ratio = lambda a, b: "" if name == f"{net}/turnstone" else f" ({a / b:.2f}x)"
            print(f"| {name.split('/')[1]} |", *[f"{b:,.0f}{ratio(a, b)} |" for a, b in zip(mine, theirs)])
        shares = [f"{100 * best[f'{net}/turnstone', batch] * operations / peak:.0f} % |" for batch in BATCHES]
        print("| turnstone, share of the peak |", *shares)
    print("\n| training, batch 256 | steps/s |\n|---|---|")
    for (name, _), per_second in best.items():
        if name.startswith("training/"):
            print(f"| {name.split('/')[1]} | {per_second:.0f} |")


if __name__ == "__main__":
    main()

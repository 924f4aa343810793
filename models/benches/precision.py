#!/usr/bin/env python3
"""Measures inference in floats and in integers of eight bits, here and in onnxruntime, on one thread each:
`models/benches/precision.py [--venv FOLDER] [--rounds N]`.

The networks are the MLPs of `side_by_side.py` with random weights: 128 inputs, stem and 3 or 4 residual blocks of width
128, 64 policy logits, value head of 64 hidden and 3 outcomes. onnxruntime quantises its own statically, with unsigned
activations and signed weights with a scale per output (its fastest form on x86), calibrated on the rows it is measured
with. All programs take turns, round after round; the best of all rounds counts. A virtual environment is made in a
temporary folder, or in FOLDER, and used from there again.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = [3, 4]
BATCHES = [1, 8, 32, 128]
WIDTH, POLICY, HIDDEN, OUTCOMES = 128, 64, 64, 3


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
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "onnx", "onnxruntime"], check=True)
    return python


def rate(f, seconds=0.2):
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


def network(blocks, path):
    """Writes an MLP with random weights."""
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = numpy.random.default_rng(1)
    nodes, tensors = [], []

    def linear(x, name, inputs, outputs, scale=1.0):
        weight = random.normal(0, scale * (2 / inputs) ** 0.5, (inputs, outputs)).astype("float32")
        bias = numpy.zeros(outputs, "float32")
        tensors.extend([numpy_helper.from_array(weight, f"{name}.w"), numpy_helper.from_array(bias, f"{name}.b")])
        nodes.append(helper.make_node("Gemm", [x, f"{name}.w", f"{name}.b"], [name]))
        return name

    def op(kind, *inputs):
        name = f"{kind}{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [name]))
        return name

    x = op("Relu", linear("x", "stem", WIDTH, WIDTH))
    for block in range(blocks):
        inner = op("Relu", linear(x, f"first{block}", WIDTH, WIDTH))
        x = op("Relu", op("Add", x, linear(inner, f"second{block}", WIDTH, WIDTH, (2 * blocks) ** -0.5)))
    policy = linear(x, "policy", WIDTH, POLICY)
    value = linear(op("Relu", linear(x, "hidden", WIDTH, HIDDEN)), "value", HIDDEN, OUTCOMES)
    info = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", width])
    graph = helper.make_graph(nodes, "mlp", [info("x", WIDTH)], [info(policy, POLICY), info(value, OUTCOMES)], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def quantise(path, out, rows):
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.batches = iter([{"x": rows}])

        def get_next(self):
            return next(self.batches, None)

    quantization.quantize_static(
        path,
        out,
        Reader(),
        quant_format=quantization.QuantFormat.QDQ,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
        per_channel=True,
    )


def peers(folder):
    """Pairs of (name, batch) and a function to call."""
    import numpy
    import onnxruntime

    rows = (numpy.random.default_rng(2).normal(size=(512, WIDTH)) > 0.8).astype("float32")
    cells = {}
    for blocks in BLOCKS:
        name = f"mlp-{blocks}x{WIDTH}"
        paths = {p: str(pathlib.Path(folder) / f"{name}.{p}.onnx") for p in ["f32", "i8"]}
        network(blocks, paths["f32"])
        quantise(paths["f32"], paths["i8"], rows)
        sessions = {}
        for precision, path in paths.items():
            settings = onnxruntime.SessionOptions()
            settings.intra_op_num_threads = settings.inter_op_num_threads = 1
            settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
            settings.log_severity_level = 3
            sessions[precision] = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        expected, found = [sessions[p].run(None, {"x": rows})[0] for p in ["f32", "i8"]]
        assert abs(found - expected).max() < 0.2 * abs(expected).max(), "the quantised network computes something else"
        for batch in BATCHES:
            for precision, session in sessions.items():
                cells[f"{name}/onnxruntime {precision}", batch] = (
                    lambda session=session, x=rows[:batch]: session.run(None, {"x": x})
                )
    return cells


def compare(rounds):
    package = ["-p", "turnstone-models", "--example", "precision"]
    subprocess.run(["cargo", "build", "--quiet", "--release", *package], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    ours = target / "release" / "examples" / "precision"
    best = {}

    def note(name, batch, per_second):
        best[name, batch] = max(best.get((name, batch), 0.0), per_second)

    with tempfile.TemporaryDirectory() as folder:
        cells = peers(folder)
        for _ in range(rounds):
            for blocks in BLOCKS:
                name = f"mlp-{blocks}x{WIDTH}"
                for batch in BATCHES:
                    command = [ours, "--batch", str(batch), name]
                    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    for line in map(json.loads, lines.splitlines()):
                        note(line["name"], line["batch"], line["per_second"])
                    for (peer, of), f in cells.items():
                        if of == batch and peer.startswith(name + "/"):
                            note(peer, batch, batch * rate(f))
    report(best)


def report(best):
    """A table per network: evaluations per second, and how many times as fast the best integer kernel is."""
    for blocks in BLOCKS:
        name = f"mlp-{blocks}x{WIDTH}"
        rows = list(dict.fromkeys(row for row, _ in best if row.startswith(name + "/")))
        integer = next(row for row in rows if row.startswith(f"{name}/i8 "))
        print(f"\n| {name}, evaluations/s (in brackets: {integer[len(name) + 1:]} relative to it) |", end="")
        print(*[f"batch {batch} |" for batch in BATCHES])
        print("|---|" + "---|" * len(BATCHES))
        for row in rows:
            mine, theirs = [[best[r, batch] for batch in BATCHES] for r in (integer, row)]
            cells = [f"{b:,.0f} ({a / b:.2f}x) |" for a, b in zip(mine, theirs)]
            print(f"| {row[len(name) + 1:]} |", *cells)


if __name__ == "__main__":
    main()

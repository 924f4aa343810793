#!/usr/bin/env python3
"""Compares exports with the program: `apps/cli/tests/export.py --build target/release [--venv FOLDER]`.

For every game and kind of network: the ONNX file passes the official checker, and onnxruntime, the operators in numpy, burn
and the inference engine agree to 1e-5 on a thousand positions. FOLDER/examples must hold export_reference, which `cargo
test` builds. A virtual environment is made in a temporary folder, or in FOLDER and used from there again.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

TOLERANCE = 1e-5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="target/release")
    parser.add_argument("--venv", type=pathlib.Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.inside:
            check_all(options.build, pathlib.Path(folder))
        else:
            python = prepare(options.venv or pathlib.Path(folder) / "venv")
            if python is not None:
                subprocess.run([python, __file__, "--inside", "--build", options.build], check=True)


def prepare(venv):
    """Makes the virtual environment if it is not there; returns its interpreter, or None if it cannot be filled."""
    python, done = venv / "bin" / "python", venv / "complete"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        if subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "onnx", "onnxruntime"]).returncode:
            print("skipped: pip cannot install numpy, onnx and onnxruntime, so exports are not checked")
            return None
        done.touch()
    return python


def check_all(build, folder):
    subprocess.run([build / "examples" / "export_reference", folder], check=True)
    cases = sorted(folder.iterdir())
    assert cases, "no reference was written"
    for case in cases:
        networks = sorted(path for path in case.iterdir() if path.is_dir())
        assert networks, f"{case.name} has no networks"
        for network in networks:
            errors = check_network(case, network)
            listed = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
            print(f"{case.name:<13} {network.name:<13} {listed}")
            assert all(error <= TOLERANCE for error in errors.values()), f"{case.name} {network.name} disagrees"


def observations(case, manifest):
    import numpy

    return numpy.fromfile(case / "observations.f32", numpy.float32).reshape(-1, *manifest["observation"]["shape"])


def check_network(case, export):
    """The largest differences from burn and the engine, each relative to the largest logit or 1."""
    import numpy
    import onnx
    import onnxruntime

    manifest = json.loads((export / "manifest.json").read_text())
    texts, blocks = manifest["actions"]["texts"], manifest["actions"]["blocks"]
    assert sum(block["count"] for block in blocks) == manifest["actions"]["count"] == len(texts) == len(set(texts))
    path = export / manifest["onnx"]["file"]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == manifest["onnx"]["sha256"]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert {entry.version for entry in model.opset_import} == {manifest["onnx"]["opset"]}
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    for key, value in manifest.items():
        assert key == "onnx" or json.loads(metadata[key]) == value, f"{export}: {key}"
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for found, described in [(session.get_inputs(), "inputs"), (session.get_outputs(), "outputs")]:
        assert {one.name: one.shape for one in found} == manifest["onnx"][described], f"{export}: {described}"
    rows = observations(case, manifest)
    outputs = list(manifest["onnx"]["outputs"])
    run = lambda rows: dict(zip(outputs, session.run(outputs, {"observation": rows})))
    together = run(rows)
    errors = {}
    for name, other in [
        ("burn", reference(case / f"{export.name}.burn.f32", together)),
        ("engine", reference(case / f"{export.name}.engine.f32", together)),
        ("numpy", forward(path, rows)),
        ("batch of 1", run(rows[:1])),
        ("batch of 7", run(rows[:7])),
    ]:
        difference = lambda output: numpy.abs(other[output] - together[output][: len(other[output])]).max()
        size = lambda output: max(1, numpy.abs(other[output]).max())
        errors[name] = max(float(difference(output) / size(output)) for output in outputs)
    return errors


def reference(path, shapes):
    """Logits of policy and value, one after the other."""
    import numpy

    numbers = numpy.fromfile(path, numpy.float32)
    policy, value = shapes["policy_logits"].shape, shapes["value_logits"].shape
    split = policy[0] * policy[1]
    return {"policy_logits": numbers[:split].reshape(policy), "value_logits": numbers[split:].reshape(value)}


def read_steps(path):
    """The tensors of an ONNX file by name, integers as lists, and its steps: operator, inputs, output, attributes."""
    import onnx

    graph = onnx.load(path).graph
    tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    tensors = {name: x if x.dtype == "float32" else x.tolist() for name, x in tensors.items()}
    attributes = lambda node: {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    steps = [(node.op_type, list(node.input), node.output[0], attributes(node)) for node in graph.node]
    return tensors, steps


def forward(path, observation):
    """Runs the operators of an ONNX file in numpy."""
    import numpy

    operators = {
        "MatMul": numpy.matmul,
        "Add": numpy.add,
        "Relu": lambda x: numpy.maximum(x, 0),
        "Reshape": lambda x, shape: x.reshape([n or x.shape[axis] for axis, n in enumerate(shape)]),
        "Transpose": lambda x, perm: x.transpose(perm),
        "ReduceMean": lambda x, axes, keepdims: x.mean(tuple(axes), keepdims=bool(keepdims)),
        "ReduceMax": lambda x, axes, keepdims: x.max(tuple(axes), keepdims=bool(keepdims)),
        "Concat": lambda *parts, axis: numpy.concatenate(parts, axis),
        "Gather": lambda x, indices, axis: x.take(indices, axis),
        "Slice": lambda x, starts, ends, axes: x[:, slice(starts[0], ends[0]), slice(starts[1], ends[1])],
        "Expand": lambda x, shape: numpy.broadcast_to(x, numpy.broadcast_shapes(x.shape, shape)),
        "Pad": lambda x, pads: numpy.pad(x, list(zip(pads[: x.ndim], pads[x.ndim :]))),
    }
    tensors, steps = read_steps(path)
    values = dict(tensors, observation=observation)
    for operator, inputs, output, attributes in steps:
        values[output] = operators[operator](*(values[name] for name in inputs), **attributes)
    return {name: values[name] for name in ("policy_logits", "value_logits")}


if __name__ == "__main__":
    main()

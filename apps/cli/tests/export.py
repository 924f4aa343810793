#!/usr/bin/env python3
"""Holds exports against the program: `apps/cli/tests/export.py --build target/release [--venv FOLDER]`.

For every game and kind of network: the ONNX file passes the official checker, and onnxruntime, the list of operators in
the safetensors file (here in numpy), burn and the inference engine agree to 1e-5 on a thousand positions; the rules in
Python say of each position what the game says; the example plays a game that the program finds legal. FOLDER/examples
must hold export_reference, which `cargo test` builds. A virtual environment is made in a temporary folder, or in FOLDER
and used from there again.
"""

import argparse
import importlib.util
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
        positions = [json.loads(line) for line in (case / "positions.jsonl").read_text().splitlines()]
        check_rules(case, networks[0], positions)
        check_perft(build, networks[0])
        for network in networks:
            errors = check_network(case, network, len(positions))
            listed = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
            print(f"{case.name:<13} {network.name:<13} {listed}")
            assert all(error <= TOLERANCE for error in errors.values()), f"{case.name} {network.name} disagrees"
        if case.name.endswith("-0"):  # other parameters may have no limits, so that a game need not end
            check_example(build, networks[0])
    check_pretrained(build, folder / "pretrained")


def load(path):
    """A Python file as a module of its own, with the files beside it in reach; those of other bundles are forgotten."""
    for name in ("rules", "mills"):
        sys.modules.pop(name, None)
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(path.parent))


def observations(case, manifest):
    import numpy

    return numpy.fromfile(case / "observations.f32", numpy.float32).reshape(-1, *manifest["observation"]["shape"])


def check_rules(case, bundle, positions):
    """Follows the games that the program played, and compares all that is known of each position."""
    import numpy

    manifest = json.loads((bundle / "manifest.json").read_text())
    rules, example = load(bundle / "rules.py"), load(bundle / "example.py")
    game = rules.Game(manifest["game"]["params"])
    texts = manifest["actions"]["texts"]
    assert sum(block["count"] for block in manifest["actions"]["blocks"]) == manifest["actions"]["count"] == len(texts)
    state, endings = game.start(), 0
    for known, observed in zip(positions, observations(case, manifest), strict=True):
        legal = sorted(game.legal(state), key=texts.index)
        found = game.position(state), game.mover(state), legal, game.outcome(state)
        expected = known["position"], known["mover"], known["legal"], known["outcome"]
        assert found == expected, f"{case.name}: {found}, not {expected}"
        entries = [example.policy_entry(manifest, game, state, action) for action in legal]
        assert entries == known["policy_entries"], f"{case.name}: entries at {known['position']}"
        difference = numpy.abs(example.observe(manifest, game, state) - observed).max()
        assert difference <= 1e-6, f"{case.name}: observation of {known['position']}"
        endings += known["played"] is None
        state = game.play(state, known["played"]) if known["played"] else game.start()
    print(f"{case.name:<13} rules: {len(positions)} positions, {endings} ends of games")


def check_perft(build, bundle, depth=3):
    """Counts the sequences of plies from the start."""
    described = json.loads((bundle / "manifest.json").read_text())["game"]
    game = load(bundle / "rules.py").Game(described["params"])

    def count(state, depth):
        legal = game.legal(state)
        return len(legal) if depth == 1 else sum(count(game.play(state, action), depth - 1) for action in legal)

    command = [build / "turnstone", "show", described["name"], "--perft", str(depth), *params(described)]
    expected = int(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
    assert count(game.start(), depth) == expected, f"{described}: perft"


def params(described):
    """The parameters of a game as arguments of the program."""
    return [argument for key, value in described["params"].items() for argument in ("--param", f"{key}={value}")]


def check_network(case, bundle, count):
    """The largest differences from burn and the engine, each relative to the largest logit or 1."""
    import numpy
    import onnx
    import onnxruntime

    manifest = json.loads((bundle / "manifest.json").read_text())
    tensors, metadata = read_safetensors(bundle / "model.safetensors")
    path = bundle / manifest["onnx"]["file"]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert {entry.version for entry in model.opset_import} == {manifest["onnx"]["opset"]}
    told = {entry.key: entry.value for entry in model.metadata_props}
    for key, value in manifest.items():
        for metadata_ in (metadata, told):
            assert key == "onnx" or json.loads(metadata_[key]) == value, f"{bundle}: {key}"
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for found, described in [(session.get_inputs(), "inputs"), (session.get_outputs(), "outputs")]:
        assert {one.name: one.shape for one in found} == manifest["onnx"][described], f"{bundle}: {described}"
    rows = observations(case, manifest)
    outputs = list(manifest["onnx"]["outputs"])
    run = lambda rows: dict(zip(outputs, session.run(outputs, {"observation": rows})))
    together = run(rows)
    errors = {}
    for name, other in [
        ("burn", reference(case / f"{bundle.name}.burn.f32", together)),
        ("engine", reference(case / f"{bundle.name}.engine.f32", together)),
        ("numpy", forward(json.loads(metadata["forward"]), tensors, rows)),
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


def read_safetensors(path):
    """The tensors by name, and the metadata."""
    import numpy

    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    metadata = header.pop("__metadata__")
    tensor = lambda entry: numpy.frombuffer(data[begin:][slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
    return {name: tensor(entry) for name, entry in header.items()}, metadata


def forward(described, tensors, observation):
    """Runs a list of operators in numpy."""
    import numpy

    operators = {
        "MatMul": numpy.matmul,
        "Add": numpy.add,
        "Relu": lambda x: numpy.maximum(x, 0),
        "Reshape": lambda x, shape: x.reshape([n or x.shape[axis] for axis, n in enumerate(shape)]),
        "Transpose": lambda x, perm: x.transpose(perm),
        "Mul": numpy.multiply,
        "Sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
        "ReduceMean": lambda x, axes, keepdims: x.mean(tuple(axes), keepdims=bool(keepdims)),
        "ReduceMax": lambda x, axes, keepdims: x.max(tuple(axes), keepdims=bool(keepdims)),
        "Concat": lambda *parts, axis: numpy.concatenate(parts, axis),
        "Gather": lambda x, indices, axis: x.take(indices, axis),
        "Slice": lambda x, starts, ends, axes: x[:, slice(starts[0], ends[0]), slice(starts[1], ends[1])],
        "Expand": lambda x, shape: numpy.broadcast_to(x, numpy.broadcast_shapes(x.shape, shape)),
        "Pad": lambda x, pads: numpy.pad(x, list(zip(pads[: x.ndim], pads[x.ndim :]))),
    }
    values = dict(tensors, observation=observation) | described["constants"]
    for step in described["steps"]:
        inputs = [values[name] for name in step["inputs"]]
        values[step["output"]] = operators[step["operator"]](*inputs, **step.get("attributes", {}))
    return {name: values[name] for name in ("policy_logits", "value_logits")}


def check_example(build, bundle, arguments=("--seed", "3")):
    """Runs the example as a stranger would, from elsewhere, and has the program replay its game."""
    command = [sys.executable, bundle / "example.py", *arguments]
    printed = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
    *plies, result = printed.stdout.splitlines()
    moves = " ".join(line.split()[3] for line in plies)
    described = json.loads((bundle / "manifest.json").read_text())["game"]
    legal = [build / "turnstone", "show", described["name"], "--legal", "--json", "--moves", moves, *params(described)]
    answer = json.loads(subprocess.run(legal, check=True, text=True, stdout=subprocess.PIPE).stdout)
    assert answer["outcome"] and result == f"{answer['outcome']} after {len(plies)} plies: {answer['position']}", result
    print(f"{described['name']:<13} example: {result}")


def check_pretrained(build, bundle):
    command = [build / "turnstone", "export", "pretrained", "--game", "mu_torere", "--format", "bundle"]
    subprocess.run([*command, "--out", bundle], check=True, stdout=subprocess.DEVNULL)
    for seed in ("1", "2"):
        check_example(build, bundle, ("--seed", seed))


if __name__ == "__main__":
    main()

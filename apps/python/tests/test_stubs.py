"""The stubs that editors read: docstrings and arguments are those of the extension module.

    python test_stubs.py path/to/_turnstone.pyi

writes the module's docstrings into the stubs.
"""

import ast
import inspect
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

import turnstone_rl as turnstone
from turnstone_rl import _turnstone

STUB = pathlib.Path(_turnstone.__file__).with_name("_turnstone.pyi")


def definitions(body, owner):
    """The public classes, functions and properties of a stub, each with the object that it describes."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            described = getattr(owner, node.name)
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, described)
            yield node, described


def documented(stub):
    """The stub with the docstrings of the module."""
    lines = stub.splitlines()
    for node, described in sorted(definitions(ast.parse(stub).body, _turnstone), key=lambda each: -each[0].lineno):
        doc, first = inspect.getdoc(described), node.body[0]
        assert doc, f"{node.name} has no docstring"
        indent = " " * (node.col_offset + 4)
        shown = textwrap.indent(f'"""{doc}"""' if "\n" not in doc else f'"""{doc}\n"""', indent, lambda line: line.strip())
        has_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)  # or is `...`
        if has_doc:
            header = lines[first.lineno - 1][: first.col_offset].rstrip()
            lines[first.lineno - 1 : first.end_lineno] = ([header] if header else []) + shown.splitlines()
        else:
            start = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))])
            lines[start - 1 : start - 1] = [*shown.splitlines(), ""]
    return "\n".join(lines) + "\n"


def test_docstrings_are_those_of_the_module():
    assert documented(STUB.read_text()) == STUB.read_text(), f"write them with: python {__file__} {STUB.name}"


def attributes():
    """The attributes of the classes of the stub that have a docstring."""
    for node in ast.parse(STUB.read_text()).body:
        for field, after in zip(node.body, node.body[1:]) if isinstance(node, ast.ClassDef) else ():
            if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr):
                yield node.name, field.target.id, ast.literal_eval(after.value)


def test_docstrings_of_attributes_are_those_of_the_module():
    found = list(attributes())
    assert {"name", "num_actions", "observation_shape"} <= {name for _, name, _ in found}
    for cls, name, doc in found:
        assert inspect.getdoc(getattr(getattr(turnstone, cls), name)) == doc, name


EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"
# In the repository, and beside the tests that run away from it.
PAGES = [EXAMPLES.parents[2] / "docs/python-games.md"] if len(EXAMPLES.parents) > 2 else []
PAGE = next((page for page in [*PAGES, EXAMPLES.parent / "python-games.md"] if page.is_file()), None)

WRONG = """
import turnstone_rl as turnstone

turnstone.VecEnv("mancala", 2, autoreset_mode="never")
turnstone.env("mancala", render_mode="film")
turnstone.parallel_env("mancala", illegal="lose")
turnstone.arena("mancala", ["random", "random"], format="knockout")
turnstone.arena("mancala", ["random", "random"], out_of_time="win")
turnstone.grade("mancala", "random", phase="end")
"""


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_game_of_ones_own_is_clean(checker, tmp_path):
    pytest.importorskip(checker)
    for name in ("tic_tac_toe", "breakthrough"):
        (tmp_path / f"{name}.py").write_text((EXAMPLES / f"{name}.py").read_text())
    kept = "\n\ncells: int = Nim().heap()\n"
    method = "        return (np.arange(7) < state[0]).reshape(1, 1, 7)\n"
    page = re.search(r"```python\n(import numpy.*?)```", PAGE.read_text(), re.DOTALL)[1] if PAGE else ""
    if page:
        own = f"{method}\n    def heap(self) -> int:\n        return 7\n"
        (tmp_path / "nim.py").write_text(page.replace(method, own) + kept)
    wrong = tmp_path / "wrong.py"

    def check(*files):
        flags = ["--check-untyped-defs"] if checker == "mypy" else ["--pythonpath", sys.executable]
        command = [sys.executable, "-m", checker, *flags, *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        if not re.search(r"\d+ error|no issues", done.stdout):
            pytest.skip(f"{checker} does not run here: {done.stdout}{done.stderr}")
        return done

    done = check(*tmp_path.glob("*.py"))
    assert done.returncode == 0, done.stdout
    wrong.write_text(WRONG)
    done = check(wrong)
    lines = {int(line) for line in re.findall(r"wrong.py:(\d+)", done.stdout)}
    assert lines >= {number for number, line in enumerate(WRONG.splitlines(), 1) if "(" in line}, done.stdout


def constructors():
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ClassDef):
            for function in node.body:
                if isinstance(function, ast.FunctionDef) and function.name == "__new__":
                    yield node.name, function.args


@pytest.mark.parametrize(("name", "arguments"), list(constructors()))
def test_arguments_of_classes_are_those_of_the_module(name, arguments):
    shown = inspect.signature(getattr(turnstone, name)).parameters.values()
    positional = [each.name for each in shown if each.kind is each.POSITIONAL_OR_KEYWORD]
    keywords = {each.name: each.default for each in shown if each.kind is each.KEYWORD_ONLY}
    assert [each.arg for each in arguments.args[1:]] == positional
    defaults = [ast.literal_eval(default) for default in arguments.kw_defaults]
    assert dict(zip([each.arg for each in arguments.kwonlyargs], defaults)) == keywords
    assert [each.name for each in shown if each.kind is each.VAR_KEYWORD] == [
        each.arg for each in [arguments.kwarg] if each
    ]


def described(cls):
    """The entries of `Args:` in a docstring."""
    entries = {}
    for line in inspect.getdoc(cls).partition("Args:\n")[2].splitlines():
        if match := re.fullmatch(r"    (\w+): (.*)", line):
            name, entries[match[1]] = match[1], match[2]
        else:
            entries[name] += " " + line.strip()
    return entries


@pytest.mark.parametrize("name", ["VecEnv", "Search", "SelfPlay", "Agent"])
def test_every_argument_is_described(name):
    cls = getattr(turnstone, name)
    assert list(described(cls)) == list(inspect.signature(cls).parameters)


@pytest.mark.parametrize("cls", [turnstone.Search, turnstone.SelfPlay])
def test_settings_are_keyword_arguments(cls):
    first = cls("mancala", "uniform")
    shown = {each.name: each.default for each in inspect.signature(cls).parameters.values()}
    assert first.settings == {name: shown[name] for name in shown if name not in ("game", "evaluate", "seed")}
    changed = {"simulations": 7, "method": "puct", "c_puct": 2.5, "considered": 3, "cached_positions": 5}
    assert cls("mancala", "uniform", **changed).settings == {**first.settings, **changed}


def test_settings_make_another_of_the_same_kind():
    given = {"simulations": 6, "c_scale": 0.3, "concurrent_games": 7, "threads": 2, "temperature": 0.5}
    first = turnstone.SelfPlay("mu_torere", "uniform", seed=3, **given)
    assert first.settings.items() >= {**given, "concurrent_games": 8}.items()  # as many for each thread
    second = turnstone.SelfPlay("mu_torere", "uniform", seed=3, **first.settings)
    assert second.settings == first.settings and repr(second) == repr(first)
    settings = turnstone.Search("mu_torere", "uniform", simulations=50, considered=4).settings
    again = turnstone.Search("mu_torere", "uniform", **settings)
    assert again.settings == settings and again.simulations == 50


@pytest.mark.parametrize("cls", [turnstone.VecEnv, turnstone.Search, turnstone.SelfPlay])
def test_ranges_are_those_of_the_docstrings(cls):
    first = {turnstone.VecEnv: {"num_envs": 1}}.get(cls, {"evaluate": "uniform"})
    ranges = 0
    for name, text in described(cls).items():
        if match := re.search(r"\(([\d.]+) to ([\d.]+)\)", text):
            ranges += 1
            whole = not isinstance(inspect.signature(cls).parameters[name].default, float)
            for beyond in (float(match[1]) - 1, float(match[2]) + 1):
                with pytest.raises((ValueError, OverflowError)) as error:
                    cls("mancala", **{**first, name: int(beyond) if whole else beyond})
                assert beyond < 0 or f" from {match[1]} to {match[2]}" in str(error.value)
                assert name in str(error.value) or isinstance(error.value, OverflowError)
    assert ranges >= 2


def test_a_slip_is_answered_with_the_nearest_keyword():
    for cls, key, near in [
        (turnstone.SelfPlay, "temprature", "temperature"),
        (turnstone.SelfPlay, "thread", "threads"),
        (turnstone.SelfPlay, "concurrent_game", "concurrent_games"),
        (turnstone.Search, "simulation", "simulations"),
        (turnstone.Search, "considerd", "considered"),
    ]:
        with pytest.raises(TypeError, match=f"keyword argument '{key}' .did you mean '{near}'"):
            cls("mancala", "uniform", **{key: 1})
    # Keys of a run's config that mean nothing here.
    for key in ["games_per_iteration", "final_simulations", "play_proof_nodes", "precision", "device"]:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{key}'"):
            turnstone.SelfPlay("mancala", "uniform", **{key: 1})
    with pytest.raises(ValueError, match="simulations is 2.5, but must be a whole number from 1 to 1000000"):
        turnstone.SelfPlay("mancala", "uniform", simulations=2.5)


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    path.write_text(documented(path.read_text()))

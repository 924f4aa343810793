//! The exported example and rules under the oldest Python and onnxruntime that they are for, and the names of checkpoints.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{TURNSTONE, output, texts};

fn export(checkpoint: &str, game: &str, out: &Path) -> Command {
    let mut command = Command::new(TURNSTONE);
    command.args(["export", checkpoint, "--game", game, "--format", "bundle", "--out"]).arg(out);
    command
}

/// onnxruntime takes paths other than `str` from 1.15 on.
#[test]
fn the_example_opens_its_network_by_a_str() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = folder.path().join("bundle");
    texts(&mut export("az:pretrained", "mancala", &bundle));
    let runtime = "class InferenceSession:\n    def __init__(self, path, providers):\n        \
                   raise SystemExit(f'{type(path).__name__} {path[-10:]}')\n";
    fs::write(folder.path().join("onnxruntime.py"), runtime).expect("it is writable");
    fs::write(folder.path().join("numpy.py"), "").expect("it is writable");
    let mut command = Command::new("python3");
    command.arg(bundle.join("example.py")).env("PYTHONPATH", folder.path());
    let output = output(&mut command);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "str model.onnx\n");
}

/// Nothing in the grammar is younger than Python 3.7, and no dictionaries are joined by `|`, which is 3.9's.
#[test]
fn the_rules_are_for_python_3_7() {
    let program = r#"
import ast, pathlib, sys
root = pathlib.Path(sys.argv[1])
for path in [root / "apps/cli/src/export/example.py", *sorted(root.glob("games/src/*.py")), *sorted(root.glob("games/src/*/rules.py"))]:
    for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 7))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            sides = node.left, node.right
            assert not any(isinstance(side, (ast.Dict, ast.DictComp)) for side in sides), f"{path}:{node.lineno}"
    print(path.relative_to(root).as_posix())
"#;
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let (files, _) = texts(Command::new("python3").args(["-c", program, sources]));
    assert_eq!(files.lines().count(), 2 + turnstone_env::games::NAMES.len(), "{files}");
}

#[test]
fn an_agent_with_options_is_no_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = output(&mut export("az:pretrained,sims=100", "mancala", &folder.path().join("x")));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && complaint.contains("leave out `sims=100` after `pretrained`"), "{complaint}");
}

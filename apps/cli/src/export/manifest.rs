//! The manifest: a game and a network for other programs, in JSON: planes, actions, value, symmetries, inputs and outputs.

use serde_json::{Map, Value, json};
use turnstone_env::{Action, DynGame, Spec};
use turnstone_models::{CheckpointInfo, IR_VERSION, OBSERVATION, OPSET, OUTCOMES, POLICY_LOGITS, VALUE_LOGITS};

use super::readme::sha256;

/// Version of the manifest, increased when a key changes its meaning.
const VERSION: u32 = 1;
/// Key of the version, which also identifies an export of this program.
pub(super) const VERSION_KEY: &str = "turnstone_export";
/// The parts explained in words.
const PLANES: &str = "The board as the player to move (the mover) sees it, planes in this order. A plane per point has the \
                      number of point i in cell cells[i] (row * width + column) and 0 elsewhere; a plane per board has its \
                      number in every cell. RULES.md, where the game has a sheet, says what the \
                      planes count.";
const ACTIONS: &str = "The index of an action is the same in every position; texts[i] is the text of action i.";
const POLICY: &str = "A logit per action, legal or not. There is no input for a mask: take the logits of the legal actions \
                      and their softmax. Action i has entry i; where actions.turned is a list and player 2 is to move, it \
                      has entry turned[i].";
const VALUE: &str = "The softmax of the logits is the probability of each result for the player to move.";
/// Names of the value head's classes in order.
const CLASSES: [&str; OUTCOMES] = ["win", "draw", "loss"];

/// The parts of the manifest by key; docs/export.md documents them.
pub(super) fn describe(game: &dyn DynGame, info: &CheckpointInfo, parameters: usize) -> Map<String, Value> {
    let spec = game.spec();
    let start = game.start();
    let texts: Vec<String> = (0..spec.actions as u16).map(|action| game.action_text(&start, Action(action))).collect();
    let mut network = json!(info.network);
    network["description"] = json!(info.network.to_string());
    network["parameters"] = json!(parameters);
    let symmetry = |s: &turnstone_env::Symmetry| json!({ "points": s.points, "actions": s.actions });
    let parts = [
        (VERSION_KEY, json!(VERSION)),
        ("game", json!({ "name": game.name(), "version": game.version(), "params": game.params() })),
        ("observation", observation(spec)),
        (
            "actions",
            json!({
                "meaning": ACTIONS,
                "count": spec.actions,
                "blocks": blocks(spec),
                "texts": texts,
                "turned": spec.second_player_map,
            }),
        ),
        ("policy", json!({ "meaning": POLICY, "of": "mover" })),
        ("value", json!({ "meaning": VALUE, "classes": CLASSES, "of": "mover" })),
        ("symmetries", spec.symmetries.iter().map(symmetry).collect()),
        ("network", network),
        ("training", json!({ "steps": info.step, "written_by": info.created_by })),
    ];
    parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn observation(spec: &Spec) -> Value {
    let plane = |per: &'static str| move |name: &String| json!({ "name": name, "per": per });
    let planes = spec.point_planes.iter().map(plane("point")).chain(spec.scalars.iter().map(plane("board")));
    json!({
        "meaning": PLANES,
        "type": "float32",
        "axes": ["plane", "row", "column"],
        "shape": [spec.planes(), spec.lattice[0], spec.lattice[1]],
        "seen_by": "mover",
        "planes": planes.collect::<Vec<_>>(),
        "points": spec.points,
        "cells": spec.cells,
    })
}

fn blocks(spec: &Spec) -> Vec<Value> {
    let mut first = 0;
    let block = |&(name, count): &(&str, usize)| {
        let block = json!({ "name": name, "first": first, "count": count });
        first += count;
        block
    };
    spec.blocks.iter().map(block).collect()
}

/// Checksum of an ONNX file, and names and shapes of its inputs and outputs; the batch has any length.
pub(super) fn onnx_file(file: &str, bytes: &[u8], manifest: &Map<String, Value>) -> Value {
    let (shape, actions) = (&manifest["observation"]["shape"], &manifest["actions"]["count"]);
    json!({
        "file": file,
        "sha256": sha256(bytes),
        "opset": OPSET,
        "ir_version": IR_VERSION,
        "inputs": { OBSERVATION: ["batch", shape[0], shape[1], shape[2]] },
        "outputs": { POLICY_LOGITS: ["batch", actions], VALUE_LOGITS: ["batch", OUTCOMES] },
    })
}

/// Formats the manifest as JSON with one line per part and entry, and lists in one line.
pub(super) fn readable(manifest: &Map<String, Value>) -> String {
    let entry = |(key, value): (&String, &Value)| format!("    {}: {value}", json!(key));
    let part = |(key, value): (&String, &Value)| match value {
        Value::Object(entries) => {
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("  {}: {{\n{}\n  }}", json!(key), entries.join(",\n"))
        }
        value => format!("  {}: {value}", json!(key)),
    };
    let parts: Vec<String> = manifest.iter().map(part).collect();
    format!("{{\n{}\n}}\n", parts.join(",\n"))
}

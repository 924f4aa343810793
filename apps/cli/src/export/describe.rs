//! JSON description of a game and a network for other programs: planes, actions, symmetries, inputs and outputs.

use serde_json::{Map, Value, json};
use turnstone_env::{Action, DynGame, Spec};
use turnstone_models::{CheckpointInfo, IR_VERSION, OBSERVATION, OPSET, OUTCOMES, POLICY_LOGITS, VALUE_LOGITS};

/// Version of the description, increased when a key changes its meaning.
const VERSION: u32 = 1;
/// Key of the version, which also identifies an export of this program.
pub(super) const VERSION_KEY: &str = "turnstone_export";
/// Names of the value head's classes in order.
const CLASSES: [&str; OUTCOMES] = ["win", "draw", "loss"];

/// The parts of the description by key; docs/export.md documents them.
pub(super) fn describe(game: &dyn DynGame, info: &CheckpointInfo, parameters: usize) -> Map<String, Value> {
    let spec = game.spec();
    let texts: Vec<String> = (0..spec.actions as u16).map(|action| game.action_text(Action(action))).collect();
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
            json!({ "count": spec.actions, "blocks": blocks(spec), "texts": texts, "turned": spec.second_player_map }),
        ),
        ("value", json!({ "classes": CLASSES, "of": "mover" })),
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

/// Names and shapes of an ONNX file's inputs and outputs; the batch has any length.
pub(super) fn onnx_file(file: &str, description: &Map<String, Value>) -> Value {
    let (shape, actions) = (&description["observation"]["shape"], &description["actions"]["count"]);
    json!({
        "file": file,
        "opset": OPSET,
        "ir_version": IR_VERSION,
        "inputs": { OBSERVATION: ["batch", shape[0], shape[1], shape[2]] },
        "outputs": { POLICY_LOGITS: ["batch", actions], VALUE_LOGITS: ["batch", OUTCOMES] },
    })
}

/// Formats the description as JSON with one line per part and entry, and lists in one line.
pub(super) fn readable(description: &Map<String, Value>) -> String {
    let entry = |(key, value): (&String, &Value)| format!("    {}: {value}", json!(key));
    let part = |(key, value): (&String, &Value)| match value {
        Value::Object(entries) => {
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("  {}: {{\n{}\n  }}", json!(key), entries.join(",\n"))
        }
        value => format!("  {}: {value}", json!(key)),
    };
    let parts: Vec<String> = description.iter().map(part).collect();
    format!("{{\n{}\n}}\n", parts.join(",\n"))
}

//! Damage of a run's files is reported, and what can be made again is.

use super::*;

#[test]
fn what_an_interruption_leaves_is_removed() {
    let place = Place::new();
    let (whole, run) = (place.copy("whole", 5), place.copy("copy", 5));
    assert_eq!(resume(&whole).0, Some(0));
    fs::create_dir(run.join("tensorboard")).expect("writable");
    let strangers = ["tensorboard/.events.4711.0.tmp", ".state.safetensors.99.0.tmp", "replay/000000.shard"]
        .map(|name| run.join(name));
    strangers.iter().for_each(|path| fs::write(path, "half").expect("writable"));
    fs::write(run.join(".mine.tmp"), "somebody's").expect("writable");
    fs::remove_dir_all(run.join("checkpoints")).expect("it was there");
    let (code, output) = resume(&run);
    assert_eq!(code, Some(0), "{output}");
    assert!(strangers.iter().all(|path| !path.exists()) && run.join(".mine.tmp").exists());
    assert!(same_result(&run, &whole));
}

/// Numbers in a state that no run reaches would keep it busy for years.
#[test]
fn forged_standings_are_refused() {
    let place = Place::new();
    let (state, standing) =
        turnstone_models::load_state(&place.run.join("state.safetensors")).expect("the run has a state");
    let standing: serde_json::Value = serde_json::from_str(&standing).expect("JSON");
    for (key, value) in [
        ("iteration", serde_json::json!(10_000_000)),
        ("positions", serde_json::json!(1_000_000_000_000_000_u64)),
        ("positions", serde_json::json!(3_000_000_000_u64)),
        ("games", serde_json::json!(u64::MAX)),
        ("window_from", serde_json::json!(7)),
        ("best_score", serde_json::json!(1e300)),
    ] {
        let run = place.copy(&format!("{key}{value}"), 5);
        let mut forged = standing.clone();
        forged[key] = value.clone();
        turnstone_models::save_state(&run.join("state.safetensors"), &state, &forged.to_string()).expect("writable");
        let begun = std::time::Instant::now();
        let (code, output) = resume(&run);
        if key == "best_score" {
            assert_eq!(code, Some(0), "{output}"); // it is only compared with others
        } else {
            assert!(code == Some(1) && error((code, output.clone())).contains(text(&run)), "{key} {value}: {output}");
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{key} {value}");
    }
}

/// Valid checksums over tensors that no training leads to: one line names the file and its fault.
#[test]
fn forged_learners_are_refused() {
    use turnstone_models::{LearnerState, Weights};
    let place = Place::new();
    let (sound, standing) =
        turnstone_models::load_state(&place.run.join("state.safetensors")).expect("the run has a state");
    let with = |weights: &Weights, tensors: usize, number: f32| {
        let (layout, mut named) = (sound.network.layout(&sound.shape).expect("valid"), weights.tensors().to_vec());
        named.iter_mut().take(tensors).for_each(|tensor| tensor.data.fill(number));
        Weights::new(&layout, named).expect("finite")
    };
    let forged = [
        ("average", LearnerState { average: with(&sound.average, usize::MAX, 1e38), ..sound.clone() }, "not finite"),
        ("weights", LearnerState { weights: with(&sound.weights, 3, 1e38), ..sound.clone() }, "at step"),
        ("moment1", LearnerState { moment1: with(&sound.moment1, 3, 1e38), ..sound.clone() }, "at step"),
        ("moment2", LearnerState { moment2: with(&sound.moment2, 1, -1.0), ..sound.clone() }, "moment2/"),
        ("steps", LearnerState { steps: u64::MAX, ..sound.clone() }, "18446744073709551615 steps"),
    ];
    for (name, state, fault) in forged {
        let run = place.copy(name, 5);
        turnstone_models::save_state(&run.join("state.safetensors"), &state, &standing).expect("writable");
        let line = error(resume(&run));
        assert!(line.contains(fault) && line.contains(text(&run)), "{name}: {line}");
    }
}

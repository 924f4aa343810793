//! Faults while a run continues: full disks, removed folders, damaged state, two processes at once.

use super::*;

#[cfg(unix)]
#[test]
fn a_full_disk_stops_the_run_where_it_stood() {
    let place = Place::new();
    let (whole, full) = (place.copy("whole", 6), place.copy("full", 6));
    assert_eq!(resume(&whole).0, Some(0));
    let state = fs::read(full.join("state.safetensors")).expect("readable");
    let metrics = fs::read(full.join("metrics.jsonl")).expect("readable");
    let turnstone = env!("CARGO_BIN_EXE_turnstone");
    // Limits on the length of files in blocks of 512 bytes, so that different files fail.
    let mut failed = Vec::new();
    for blocks in [0, 8, 20, 40, 60, 80] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec '{turnstone}' train --resume '{}'", text(&full));
        let child = Command::new("sh").args(["-c", &script]).stderr(Stdio::piped()).spawn().expect("sh runs");
        let (code, output) = finish(child);
        if code == Some(0) {
            break; // every file is shorter
        }
        assert!(warnings(&output).len() <= 1, "only TensorBoard warns, once: {output}");
        let line = error((code, output));
        assert!(line.contains("File too large") && line.contains("the run remains at iteration 4"), "{line}");
        assert!(line.contains("continue with: turnstone train --resume"), "{line}");
        failed.push(line);
        assert!(fs::read(full.join("state.safetensors")).expect("readable") == state);
        assert!(fs::read(full.join("metrics.jsonl")).expect("readable") == metrics);
    }
    assert!(failed.len() >= 3, "{failed:#?}");
    let (code, output) = resume(&full);
    assert_eq!(code, Some(0), "{output}");
    assert!(same_result(&whole, &full));
}

#[test]
fn a_folder_that_vanishes_is_not_made_again() {
    let place = Place::new();
    for replaced in [false, true] {
        let run = place.copy(&format!("vanishing{replaced}"), 100_000);
        let child = train(&["--resume", text(&run)]);
        wait_for(&run.join("replay/000006.shard"));
        let away = run.with_extension("away");
        fs::rename(&run, &away).expect("it can be moved");
        if replaced {
            fs::create_dir_all(run.join("replay")).expect("writable");
        }
        let line = error(finish(child));
        assert!(line.contains("was removed or replaced during the run"), "{line}");
        assert!(run.exists() == replaced && !run.join("state.safetensors").exists());
        assert!(away.join("state.safetensors").is_file());
    }
}

#[test]
fn one_process_at_a_time() {
    let place = Place::new();
    let run = place.copy("busy", 100_000);
    let mut child = train(&["--resume", text(&run)]);
    wait_for(&run.join("replay/000005.shard"));
    let line = error(resume(&run));
    assert!(line.contains(&format!("is in use: process {} is writing in it", child.id())), "{line}");
    let config = place.folder.path().join("tiny.toml");
    let line = error(finish(train(&[text(&config), "--run", text(&run), "--overwrite"])));
    assert!(line.contains("is in use"), "{line}");
    // The lock of a killed process is released.
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let (code, output) = finish(train(&["--resume", text(&run), "--max-minutes", "0.001"]));
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = finish(train(&[text(&config), "--run", text(&run), "--overwrite"]));
    assert_eq!(code, Some(0), "{output}");
    assert!(same_result(&run, &place.run) && !run.join("replay/000005.shard").exists());
}

#[test]
fn damaged_shards_are_named() {
    let place = Place::new();
    let run = place.copy("damaged", 6);
    let shard = run.join("replay/000002.shard");
    let whole = fs::read(&shard).expect("readable");
    fs::write(&shard, &whole[..whole.len() / 2]).expect("writable");
    let line = error(resume(&run));
    assert!(line.contains("000002.shard") && line.contains("restore it from a copy"), "{line}");
    fs::remove_file(&shard).expect("it was there");
    assert!(error(resume(&run)).contains("000002.shard"));
    fs::write(&shard, whole).expect("writable");
    assert_eq!(resume(&run).0, Some(0));
}

#[test]
fn damaged_checkpoints_are_made_anew_or_named() {
    let place = Place::new();
    let (whole, run) = (place.copy("whole", 6), place.copy("damaged", 6));
    assert_eq!(resume(&whole).0, Some(0));
    for file in ["latest.safetensors", "best.safetensors"] {
        change(&run.join(file), |bytes| bytes.truncate(bytes.len() / 2));
    }
    fs::write(run.join("replay/.000005.shard.99.0.tmp"), "half").expect("writable");
    let (code, output) = resume(&run);
    let warnings = warnings(&output);
    assert!(code == Some(0) && warnings.len() == 2, "{output}");
    assert!(warnings[0].contains("latest.safetensors") && warnings[0].contains("written anew"), "{output}");
    // If the state is that of the best checkpoint, the checkpoint is written again from it.
    let way_out = ["next match", "written anew"].iter().any(|way| warnings[1].contains(way));
    assert!(warnings[1].contains("best.safetensors") && way_out, "{output}");
    assert!(!run.join("replay/.000005.shard.99.0.tmp").exists());
    for file in ["state.safetensors", "latest.safetensors"] {
        let read = |run: &Path| fs::read(run.join(file)).expect("readable");
        // The state contains the best score, which starts again after the damage.
        assert!(file == "state.safetensors" || read(&run) == read(&whole), "{file}");
    }

    change(&run.join("state.safetensors"), |bytes| bytes.truncate(bytes.len() / 2));
    let line = error(resume(&run));
    assert!(line.contains("state.safetensors") && line.contains("cannot continue"), "{line}");
    fs::remove_file(run.join("state.safetensors")).expect("it was there");
    let line = error(resume(&run));
    assert!(line.contains("state.safetensors") && line.contains("cannot continue"), "{line}");
}

#[test]
fn a_run_that_had_not_begun_begins() {
    let place = Place::new();
    let run = place.folder.path().join("begun");
    fs::create_dir(&run).expect("writable");
    fs::write(run.join("config.toml"), TINY).expect("writable");
    let (code, output) = resume(&run);
    assert_eq!(code, Some(0), "{output}");
    assert!(same_result(&run, &place.run));
}

#[test]
fn metrics_are_cut_to_whole_lines() {
    let place = Place::new();
    let run = place.copy("copy", 5);
    change(&run.join("metrics.jsonl"), |bytes| bytes.extend_from_slice(b"{\"iteration\":5,\"step\":\xff"));
    let (code, output) = resume(&run);
    assert!(code == Some(0) && warnings(&output).is_empty(), "{output}");
    let text = fs::read_to_string(run.join("metrics.jsonl")).expect("UTF-8");
    let numbers: Vec<u64> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["iteration"].as_u64().expect("one"))
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
}

#[test]
fn training_goes_on_without_tensorboard() {
    let place = Place::new();
    let run = place.copy("copy", 5);
    fs::write(run.join("tensorboard"), "a file where the folder should be").expect("writable");
    let (code, output) = resume(&run);
    assert!(code == Some(0) && output.contains("finished"), "{output}");
    let warnings = warnings(&output);
    assert!(warnings.len() == 1 && warnings[0].contains("TensorBoard events are off"), "{output}");
}

#[cfg(unix)]
#[test]
fn training_goes_on_after_its_event_files_are_removed() {
    let place = Place::new();
    let (run, whole) = (place.copy("removed", 40), place.copy("whole", 40));
    let child = train(&["--resume", text(&run)]);
    wait_for(&run.join("replay/000006.shard"));
    fs::remove_dir_all(run.join("tensorboard")).expect("it is there");
    let (code, output) = finish(child);
    assert!(code == Some(0) && output.contains("finished") && !output.contains("panicked"), "{output}");
    let told = warnings(&output);
    assert!(told.len() == 1 && told[0].contains("TensorBoard events are off from here on"), "{output}");
    assert!(told[0].contains("the event file was removed") && !run.join("tensorboard").exists(), "{output}");
    assert_eq!(resume(&whole).0, Some(0));
    assert!(same_result(&whole, &run));

    let longer = fs::read_to_string(run.join("config.toml")).expect("readable");
    fs::write(run.join("config.toml"), longer.replace("iterations = 40", "iterations = 41")).expect("writable");
    let (code, output) = resume(&run);
    assert!(code == Some(0) && warnings(&output).is_empty(), "{output}");
    let events = run.join("tensorboard").read_dir().expect("a new folder").next().expect("a new file");
    assert!(events.expect("readable").metadata().expect("readable").len() > 500);
}

#[test]
fn a_loss_that_is_no_number_says_where_the_run_stands() {
    let place = Place::new();
    let run = place.copy("copy", 5);
    // The averages, which are used for play, are unchanged.
    let path = run.join("state.safetensors");
    let (mut state, standing) = turnstone_models::load_state(&path).expect("the run has a state");
    let mut weights = state.weights.tensors().to_vec();
    for tensor in weights.iter_mut().rev().take(4) {
        tensor.data.iter_mut().zip([3e38, -3e38].iter().cycle()).for_each(|(number, &large)| *number = large);
    }
    state.weights =
        turnstone_models::Weights::new(&state.network.layout(&state.shape).expect("valid"), weights).expect("finite");
    turnstone_models::save_state(&path, &state, &standing).expect("writable");
    let line = error(resume(&run));
    assert!(line.contains("at step") && line.contains("the run remains at iteration 4"), "{line}");
    assert!(line.contains("lower learn.learning_rate in"), "{line}");
}

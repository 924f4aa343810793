//! Faults while a run continues: removed folders, damaged state, two processes at once.

use super::*;

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

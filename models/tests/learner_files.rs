//! Files of a learner's state are read back bit for bit, and are no checkpoints.

use turnstone_models::{
    BoardShape, CheckpointInfo, CheckpointParams, Learner, LearnerState, NetworkConfig, OptimiserConfig, ResidualMlp,
    Shape, load, load_state, save, save_state,
};

const SHAPE: Shape = Shape::flat(3, 2);

fn network() -> NetworkConfig {
    ResidualMlp { blocks: 1, width: 4 }.into()
}

/// Two by three points; the lines are the rows.
fn board() -> BoardShape {
    BoardShape {
        point_planes: 2,
        points: 6,
        directions: vec![vec![Some(1), Some(2), None, Some(4), Some(5), None]],
        lattice: [2, 3],
        cells: (0..6).collect(),
    }
}

#[test]
fn states_of_all_networks_are_read_back() {
    let shape = Shape { board: board(), ..Shape::flat(13, 5) };
    let kinds = [
        r#"{"kind":"residual_mlp","blocks":1,"width":4}"#,
        r#"{"kind":"residual_graph","blocks":2,"channels":4,"reach":2}"#,
        r#"{"kind":"residual_graph","blocks":1,"channels":4,"neighbourhood":"square"}"#,
        r#"{"kind":"residual_conv","blocks":1,"channels":4,"global_pooling":true}"#,
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    for network in kinds.map(|text| serde_json::from_str::<NetworkConfig>(text).unwrap()) {
        let info = CheckpointInfo::new("ring", 1, CheckpointParams::new(), network.clone(), shape.clone(), 7);
        let learner = Learner::new(shape.clone(), &network, &OptimiserConfig::default(), 1).unwrap();
        save_state(&path, learner.state(), "extra").unwrap();
        let expected = (learner.state().clone(), "extra".to_owned());
        assert_eq!(load_state(&path).unwrap(), expected);
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(load_state(&path).unwrap_err().to_string().contains("its checksum does not fit its contents"));
        save(&path, &info, learner.averaged()).unwrap();
    }
}

#[test]
fn states_and_checkpoints_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    let learner = Learner::new(SHAPE, &network(), &OptimiserConfig::default(), 1).unwrap();
    save_state(&path, learner.state(), "").unwrap();
    let line = load(&path).unwrap_err().to_string();
    assert!(line.ends_with("this is a `learner` file, not a `checkpoint` file"), "{line}");
    let info = CheckpointInfo::new("ring", 1, CheckpointParams::new(), network(), SHAPE, 0);
    save(&path, &info, learner.averaged()).unwrap();
    let line = load_state(&path).unwrap_err().to_string();
    assert!(line.ends_with("this is a `checkpoint` file, not a `learner` file"), "{line}");
}

/// States that no training produces, under a valid checksum.
#[test]
fn forged_states_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    let optimiser = OptimiserConfig::default();
    let sound = Learner::new(SHAPE, &network(), &optimiser, 1).unwrap().state().clone();
    let steps = LearnerState { steps: u64::MAX, ..sound.clone() };
    let moments = LearnerState { moment2: sound.weights.clone(), ..sound.clone() }; // some weights are negative
    for (forged, fault) in [(steps, "18446744073709551615 steps"), (moments, "holds a negative number")] {
        save_state(&path, &forged, "").unwrap();
        let line = load_state(&path).unwrap_err().to_string();
        assert!(line.starts_with(path.to_str().unwrap()) && line.contains(fault), "{line}");
        assert!(Learner::from_state(forged, &optimiser).unwrap_err().to_string().contains(fault));
    }
    assert!(Learner::from_state(sound, &optimiser).is_ok());
}

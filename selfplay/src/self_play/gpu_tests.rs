//! Self-play on a GPU beside self-play on the processor. In a build without GPUs the error that says so.

use turnstone_env::games::Konane;
use turnstone_env::{Params, Rules};
use turnstone_models::{ComputeDevice, DeviceError, NetworkConfig, Precision, ResidualConv, Weights, gpus};

use super::*;
use crate::config::{SearchConfig, SelfPlayConfig};

fn played(precision: Precision, device: ComputeDevice, stopped: bool) -> Result<Option<SelfPlayGames>, Fault> {
    let game = Konane::default().with_params(&Params::new().with("size", 6)).expect("valid");
    let network = NetworkConfig::from(ResidualConv { blocks: 1, channels: 8, global_pooling: true });
    let weights = Weights::random(&network.layout(&shape(&game.spec())).expect("a small network"), 1);
    let self_play = SelfPlayConfig {
        games_per_iteration: 21,
        concurrent_games: 5,
        threads: 3,
        precision,
        device,
        ..SelfPlayConfig::default()
    };
    let task = Task::new(
        GameSettings { simulations: 8, ..GameSettings::new(&SearchConfig::default(), &self_play, 1, 1) },
        &network,
        &weights,
    );
    let stop = Stop::default();
    if stopped {
        stop.raise();
    }
    play(&game, &task, &SelfPlayCounters::default(), &stop)
}

#[test]
fn a_gpu_plays_the_games_of_the_processor() {
    let gpu = |number| ComputeDevice::Gpu(number);
    let Ok(all) = gpus() else {
        let fault = played(Precision::F32, gpu(0), false).expect_err("there is no GPU in this build");
        assert_eq!(fault.downcast_ref(), Some(&NetworkError::Device(DeviceError::NotBuilt)));
        return;
    };
    assert!(!all.is_empty(), "this test needs a GPU, or Debian's mesa-vulkan-drivers");
    let expected = played(Precision::F32, ComputeDevice::Cpu, false).expect("sound").expect("not stopped");
    let found = played(Precision::F32, gpu(0), false).expect("sound").expect("not stopped");
    assert_eq!(found.ends.len(), 21);
    // Rounding may turn a game, but hardly many of so few.
    let same = found.ends.iter().zip(&expected.ends).filter(|(found, expected)| found == expected).count();
    assert!(same >= 18, "{same} of 21 games");
    assert!(found.stats.cache.batches > 0 && found.stats.positions > 100);
    let half = played(Precision::Auto, gpu(0), false).expect("sound").expect("not stopped");
    assert_eq!(half.ends.len(), 21);
    assert!(played(Precision::F32, gpu(0), true).expect("sound").is_none(), "it was stopped");
    let fault = played(Precision::F32, gpu(all.len()), false).expect_err("there is no such GPU");
    assert!(fault.to_string().contains("the last one is gpu"), "{fault}");
}

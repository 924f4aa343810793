//! Self-play with a quantised network.

use turnstone_env::Rules;
use turnstone_search::Stop;

use turnstone_env::games::Mancala;
use turnstone_models::{NetworkConfig, Precision, ResidualMlp, Weights};

use super::*;
use crate::config::{SearchConfig, SelfPlayConfig};

#[test]
fn the_samples_of_a_task_decide_the_quantisation() {
    let game = Mancala::default();
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 16 });
    let weights = Weights::random(&network.layout(&shape(&game.spec())).expect("a small network"), 1);
    let self_play = SelfPlayConfig { games_per_iteration: 2, precision: Precision::I8, ..SelfPlayConfig::default() };
    let random = random_observations(&game);
    let widened: Vec<f32> = random.iter().map(|x| 3.0 * x).collect();
    let played = |samples: &[f32]| {
        let mut task = Task::new(
            GameSettings { simulations: 6, ..GameSettings::new(&SearchConfig::default(), &self_play, 1, 1) },
            &network,
            &weights,
        );
        task.samples = samples.to_vec();
        play(&game, &task, &SelfPlayCounters::default(), &Stop::default()).expect("sound").expect("not stopped").shard
    };
    assert_eq!(played(&[]), played(&random), "without samples, positions of random games");
    assert_ne!(played(&[]), played(&widened));
}

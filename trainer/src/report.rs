//! Report of a run as one self-contained HTML page: strength, sample games, curves, throughput, config.
//!
//! The page is a function of the run's files and of [`Settings`] only.

mod history;
mod games;
mod strength;
mod overview;
mod curves;
mod live;
mod comparison;
mod side_by_side;

pub use comparison::{MOST_RUNS, comparison};
pub use history::{HistoryError, parse as parse_metrics};
pub use live::LiveRun;
pub use side_by_side::side_by_side;
use turnstone_base::files::read_text;
use turnstone_base::machine::cores;
use turnstone_base::terminal::Reporter;

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use turnstone_models::NetworkConfig;

use crate::config::{Config, LONGEST_CONFIG};
use crate::metrics::Metrics;
use crate::run_folder::RunFolder;
use turnstone_agents::shape;
use turnstone_agents::{Agent, LoadedNetwork, load_network};
use turnstone_arena::grading::{grade, known};
use turnstone_arena::page::{Boards, Page, Section, grouped, title};
use turnstone_selfplay::TrainableGame;

/// Settings of the sample games and of grading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Simulations per move of the sample games and of grading.
    pub simulations: u32,
    /// Whether the newest checkpoint is graded against exact values if the metrics contain no grade.
    pub grade: bool,
}

/// Returns the HTML page of a run, or `None` if `stop` was set before it was finished.
///
/// # Errors
/// A file of the run is damaged.
pub fn report(
    game: &dyn TrainableGame,
    config: &Config,
    folder: &RunFolder,
    settings: Settings,
    reporter: &Reporter,
    stop: &AtomicBool,
) -> Result<Option<String>> {
    let text = read_text(&folder.config(), LONGEST_CONFIG).with_context(|| folder.config().display().to_string())?;
    let history = history::read(&folder.metrics())?;
    let network = if folder.latest().is_file() { Some(load_network(&folder.latest(), game)?) } else { None };
    let mut parts = vec![strength::strength(config, &history)];
    if let Some(network) = network {
        let Some(games) = sample_games(game, config, &network, settings, reporter, stop)? else { return Ok(None) };
        parts.push(games);
        let Some(truth) = truth(game, config, network, &history, settings, reporter, stop)? else { return Ok(None) };
        parts.extend(truth);
    }
    if !history.is_empty() {
        parts.push(curves::learning(&history));
        parts.push(curves::throughput(&history));
    }
    parts.push(curves::config(&text, config));
    let name = title(game.name());
    let params: Vec<String> = game.params().iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let header = overview::header(&name, &params.join(", "), &network_in_words(game, &config.net)?, config, &history);
    let footer =
        format!("turnstone {} · rules of {} version {}", env!("CARGO_PKG_VERSION"), game.name(), game.version());
    let page = Page {
        title: &format!("{name}: a Turnstone run"),
        header: &header,
        parts: &parts,
        footer: &footer,
        script: include_str!("report/page.js"),
    };
    Ok(Some(page.html()))
}

fn sample_games(
    game: &dyn TrainableGame,
    config: &Config,
    network: &LoadedNetwork,
    settings: Settings,
    reporter: &Reporter,
    stop: &AtomicBool,
) -> Result<Option<Section>> {
    let bar = reporter.bar("games", games::GAMES);
    let (mut html, mut boards) = (String::new(), Boards::default());
    for number in 0..games::GAMES {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        html += &games::play(game, network, config, settings.simulations, number)?.card(number + 1, &mut boards);
        bar.inc(1);
    }
    bar.finish_and_clear();
    html += &boards.element();
    let lead = format!("The newest checkpoint (step {}) against itself.", network.info.step);
    Ok(Some(Section { id: "games", heading: "Sample games", lead, html }))
}

/// Returns the part with the newest grade of the metrics or, if there is none, of the newest checkpoint. The inner
/// option is `None` if there is nothing to grade against, the outer one if interrupted.
fn truth(
    game: &dyn TrainableGame,
    config: &Config,
    network: LoadedNetwork,
    history: &[Metrics],
    settings: Settings,
    reporter: &Reporter,
    stop: &AtomicBool,
) -> Result<Option<Option<Section>>> {
    if let Some((iteration, grade)) = history.iter().rev().find_map(|it| Some((it.iteration, it.grade.as_ref()?))) {
        let how = format!("Graded during the run after iteration {iteration}.");
        return Ok(Some(Some(strength::truth(grade, how, history))));
    }
    let set = if settings.grade { known(game)? } else { None };
    let Some(set) = set else { return Ok(Some(None)) };
    let how = format!(
        "The newest checkpoint (step {}) at {} simulations in {} positions whose exact value is known.",
        network.info.step,
        settings.simulations,
        set.positions.len()
    );
    let agent = Agent::from_network(network, "latest", settings.simulations, config.arena.method);
    let bar = reporter.bar("grading", set.positions.len() as u64);
    let grade = grade(game, &agent, &set, config.seed, cores(), &|| bar.inc(1), stop)?;
    bar.finish_and_clear();
    Ok(grade.map(|grade| Some(strength::truth(&grade, how, history))))
}

fn network_in_words(game: &dyn TrainableGame, network: &NetworkConfig) -> Result<String> {
    let parameters = network.cost(&shape(game.spec()))?.parameters;
    let (mut words, rest) = (network.to_string(), format!(", {} parameters", grouped(parameters as u64)));
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Ok(words + &rest)
}

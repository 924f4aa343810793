//! Report of a run as one self-contained HTML page: strength, sample games, curves, throughput, config.
//!
//! The page is a function of the run's files only.

mod history;
mod games;
mod strength;
mod overview;
mod curves;
mod cluster;
mod live;
mod readme;
mod comparison;

pub use comparison::{MOST_RUNS, comparison, comparison_page};
pub(crate) use history::newest_score;
pub use live::LiveRun;
pub use readme::readme_sections;

use anyhow::Result;
use turnstone_agents::{Agent, LoadedNetwork, load_network};
use turnstone_arena::grading::{grade, known};
use turnstone_arena::page::{Page, Section, title};
use turnstone_base::machine::cores;
use turnstone_base::terminal::Reporter;
use turnstone_search::Stop;
use turnstone_selfplay::TrainableGame;

use crate::run_folder::RunFolder;

/// Simulations per move of the sample games and of grading.
const SIMULATIONS: u32 = 64;

/// Returns the HTML page of a run, or `None` if `stop` was raised before it was finished. If the metrics contain no grade and
/// `grades` is set, the newest checkpoint is graded against exact values.
///
/// # Errors
/// The newest checkpoint is damaged.
pub fn report(
    game: &dyn TrainableGame,
    run: &LiveRun,
    folder: &RunFolder,
    grades: bool,
    reporter: &Reporter,
    stop: &Stop,
) -> Result<Option<String>> {
    let mut parts = run.parts();
    if folder.latest().is_file() {
        let network = load_network(&folder.latest(), game)?;
        let bar = reporter.bar("games", games::GAMES);
        let games = run.sample_games(game, &network, SIMULATIONS, &|| bar.inc(1), stop)?;
        bar.finish_and_clear();
        let Some(games) = games else { return Ok(None) };
        let Some(truth) = truth(game, run, network, grades, reporter, stop)? else { return Ok(None) };
        // After the strength.
        parts.splice(1..1, [games].into_iter().chain(truth));
    }
    let footer =
        format!("turnstone {} · rules of {} version {}", env!("CARGO_PKG_VERSION"), game.name(), game.version());
    let page = Page {
        title: &format!("{}: a Turnstone run", title(game.name())),
        header: &run.header(game)?,
        parts: &parts,
        footer: &footer,
    };
    Ok(Some(page.html()))
}

/// Returns the part with the newest grade of the metrics or, if there is none, of the newest checkpoint. The inner
/// option is `None` if there is nothing to grade against, the outer one if interrupted.
fn truth(
    game: &dyn TrainableGame,
    run: &LiveRun,
    network: LoadedNetwork,
    grades: bool,
    reporter: &Reporter,
    stop: &Stop,
) -> Result<Option<Option<Section>>> {
    let LiveRun { config, history, .. } = run;
    if let Some((iteration, grade)) = history.iter().rev().find_map(|it| Some((it.iteration, it.grade.as_ref()?))) {
        let how = format!("Graded during the run after iteration {iteration}.");
        return Ok(Some(Some(strength::truth(grade, how, history))));
    }
    let set = if grades { known(game)? } else { None };
    let Some(set) = set else { return Ok(Some(None)) };
    let how = format!(
        "The newest checkpoint (step {}) at {} simulations in {} positions whose exact value is known.",
        network.info.step,
        SIMULATIONS,
        set.positions.len()
    );
    let agent = Agent::from_network(network, "latest", SIMULATIONS, config.arena.method);
    let bar = reporter.bar("grading", set.positions.len() as u64);
    let grade = grade(game, &agent, &set, config.seed, cores(), &|| bar.inc(1), stop)?;
    bar.finish_and_clear();
    Ok(grade.map(|grade| Some(strength::truth(&grade, how, history))))
}

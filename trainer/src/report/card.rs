//! The card of an agent: a Markdown page with the head that model hubs read.

use std::fmt::Write;
use std::time::Duration;

use serde::Deserialize;
use turnstone_arena::grading::Share;
use turnstone_arena::page::title;
use turnstone_base::times::duration;
use turnstone_models::CheckpointInfo;

use super::LiveRun;
use super::history::{matches, opponents};
use crate::metrics::Metrics;
use crate::run_folder::Provenance;

/// A file of measured results, in TOML.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultsFile {
    results: Vec<Measured>,
}

/// A measured result of an agent.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// What the agent was measured against, such as `alpha-beta depth 8, 1,000 games`.
    pub against: String,
    /// What was measured, such as `score`.
    pub measure: String,
    /// The result, in `unit`.
    pub value: f64,
    /// Its 95 % interval; absent where every case was measured.
    pub interval: Option<[f64; 2]>,
    /// `%` or `Elo`.
    pub unit: String,
    /// How it was measured: a command without the program's name, or a place in the run.
    pub how: String,
}

impl Measured {
    /// Parses a file of results.
    ///
    /// # Errors
    /// The first fault, in one line.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let file: ResultsFile =
            toml::from_str(text).map_err(|e| e.to_string().lines().collect::<Vec<_>>().join(" ").trim().to_owned())?;
        for (number, result) in (1..).zip(&file.results) {
            let fault = |what: &str| Err(format!("result {number}: {what}"));
            let Self { value, interval, unit, .. } = result;
            if !matches!(unit.as_str(), "%" | "Elo") {
                return fault(&format!("unit is `{unit}`, but must be `%` or `Elo`"));
            }
            if !value.is_finite() || unit == "%" && !(0.0..=100.0).contains(value) {
                return fault(&format!("value is {value}"));
            }
            if interval.is_some_and(|[low, high]| !(low <= *value && *value <= high)) {
                return fault(&format!("the interval does not contain the value {value}"));
            }
        }
        Ok(file.results)
    }

    fn percent(measure: &str, against: &str, how: &str, value: f64, interval: [f64; 2]) -> Self {
        Self {
            against: against.to_owned(),
            measure: measure.to_owned(),
            value: 100.0 * value,
            interval: Some(interval.map(|end| 100.0 * end)),
            unit: "%".to_owned(),
            how: how.to_owned(),
        }
    }

    fn of_share(measure: &str, how: &str, share: &Share) -> Self {
        let against = format!("exact values, {} positions", share.positions);
        Self::percent(measure, &against, how, share.value(), share.interval)
    }

    /// The result with its unit and interval: `96.8 % [94.7, 98.2]`.
    fn text(&self) -> String {
        let number = |value: f64| if self.unit == "%" { format!("{value:.1}") } else { format!("{value:.0}") };
        let value = if self.unit == "%" { number(self.value) + " %" } else { "Elo ".to_owned() + &number(self.value) };
        match self.interval {
            Some([low, high]) => format!("{value} [{}, {}]", number(low), number(high)),
            None => value,
        }
    }
}

/// What a card is made from.
#[derive(Clone, Copy, Debug)]
pub struct Card<'a> {
    /// The metadata of the checkpoint.
    pub info: &'a CheckpointInfo,
    /// Name of the checkpoint's file.
    pub file: &'a str,
    /// Its size in bytes.
    pub bytes: usize,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: &'a str,
    /// Config and metrics of the run, if they are known. A config alone has no metrics.
    pub run: Option<&'a LiveRun>,
    /// Which programs trained.
    pub provenance: &'a [Provenance],
    /// Results that were measured after the run.
    pub results: &'a [Measured],
    /// The licence, as an identifier of model hubs.
    pub license: Option<&'a str>,
}

impl Card<'_> {
    /// The text of the card.
    #[must_use]
    pub fn text(&self) -> String {
        let results = [self.results, &self.run.map(|run| of_run(&run.history)).unwrap_or_default()].concat();
        let game = &self.info.game;
        let mut text = self.head(&results);
        text += &format!("\n# {}: an agent trained by self-play\n\n", title(game));
        text += &format!(
            "A network that plays `{game}` with a tree search, trained by self-play with Turnstone. The file describes itself: \
             `turnstone play {game} --p2 az:{0}` plays against it, `turnstone arena {game} az:{0} random` measures it, and \
             `turnstone.Agent(\"{game}\", \"az:{0}\")` is the agent in Python.\n\n",
            self.file
        );
        text += &self.model();
        text += &strength(&results);
        text += &self.training();
        text + LIMITS
    }

    /// The head in YAML. Strings are written as JSON, which YAML contains.
    fn head(&self, results: &[Measured]) -> String {
        let game = &self.info.game;
        let mut yaml = String::from("---\nlibrary_name: turnstone\npipeline_tag: reinforcement-learning\n");
        if let Some(license) = self.license {
            yaml += &format!("license: {}\n", quoted(license));
        }
        yaml += "tags:\n";
        for tag in ["reinforcement-learning", "self-play", "alphazero", "board-games", game] {
            yaml += &format!("- {}\n", quoted(tag));
        }
        if results.is_empty() {
            return yaml + "---\n";
        }
        yaml += &format!("model-index:\n- name: {}\n  results:\n", quoted(&format!("turnstone-{game}")));
        for result in results {
            let name = match result.interval {
                Some([low, high]) => {
                    format!("{}, {} (95 % interval {low:.1} to {high:.1})", result.measure, result.unit)
                }
                None => format!("{}, {}", result.measure, result.unit),
            };
            yaml += &format!(
                "  - task:\n      type: reinforcement-learning\n      name: reinforcement-learning\n    dataset:\n      \
                 type: {}\n      name: {}\n    metrics:\n    - type: {}\n      name: {}\n      value: {:.1}\n",
                quoted(game),
                quoted(&result.against),
                quoted(&result.measure.replace([' ', ','], "_")),
                quoted(&name),
                result.value
            );
        }
        yaml + "---\n"
    }

    fn model(&self) -> String {
        let info = self.info;
        let params: Vec<String> = info.params.iter().map(|(key, value)| format!("{key} = {}", plain(value))).collect();
        let parameters = info.network.cost(&info.shape).map(|cost| format!(", {} parameters", cost.parameters));
        let mut rows = vec![
            ("game", format!("`{}`, version {} of its rules", info.game, info.game_version)),
            ("its parameters", params.join(", ")),
            ("network", format!("{}{}", info.network, parameters.unwrap_or_default())),
            (
                "inputs and outputs",
                format!("{} features; {} actions and a value", info.shape.inputs, info.shape.actions),
            ),
            ("learner steps", info.step.to_string()),
        ];
        rows.extend(info.extra.iter().map(|(key, value)| match key.as_str() {
            "config" => ("checksum of the settings", format!("`{value}`")),
            "search" => ("search settings", format!("`{value}`")),
            key => (key, format!("`{value}`")),
        }));
        rows.extend([
            ("written by", info.created_by.clone()),
            ("file", format!("`{}`, {} bytes", self.file, self.bytes)),
            ("SHA-256", format!("`{}`", self.sha256)),
        ]);
        let rows: String = rows.iter().map(|(name, value)| row(&[name, value])).collect();
        format!("## Model\n\n{}{rows}\n", row(&["", ""]) + "|---|---|\n")
    }

    fn training(&self) -> String {
        let mut text = String::from("## Training\n\n");
        let Some(run) = self.run else {
            return text + "The config of the run is not known.\n\n";
        };
        write!(text, "Seed {}, {} iterations planned", run.config.seed, run.config.run.iterations).expect("a string");
        if let Some(last) = run.history.last() {
            let seconds = run.history.iter().map(|iteration| iteration.timing.seconds).sum();
            let time = duration(Duration::try_from_secs_f64(seconds).unwrap_or_default());
            write!(
                text,
                "; {} done with {} games of self-play, {} positions and {} learner steps in {time}",
                last.iteration, last.games, last.positions, last.step
            )
            .expect("a string");
        }
        text += ". The same program with this config repeats the run bit for bit on one machine.\n\n";
        if !self.provenance.is_empty() {
            text += "| from iteration | program | config | devices | begun with |\n|---|---|---|---|---|\n";
            for line in self.provenance {
                let or =
                    |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
                let from = or(&line.from, "random weights");
                let devices = or(&line.devices, "processor");
                text +=
                    &row(&[&line.iteration.to_string(), &line.program, &format!("`{}`", line.config), &devices, &from]);
            }
            text.push('\n');
        }
        let fence = "`".repeat(1 + longest_run(&run.text).max(2));
        text + &format!("{fence}toml\n{}\n{fence}\n\n", run.text.trim_end())
    }
}

const LIMITS: &str = "## Limits

The agent plays this game with these parameters only. Its strength depends on the number of simulations; matches begin with
random openings, so some are decided before the first move. Moves are not explained, and the value that it states is the
network's estimate unless the search has proven it.
";

fn strength(results: &[Measured]) -> String {
    let mut text = String::from("## Strength\n\n");
    if results.is_empty() {
        return text + "Not measured.\n\n";
    }
    text += "Intervals are 95 %.\n\n| against | measure | result | how |\n|---|---|---|---|\n";
    for result in results {
        text += &row(&[&result.against, &result.measure, &result.text(), &format!("`{}`", result.how)]);
    }
    text + "\n"
}

/// The newest results in the metrics of a run.
fn of_run(history: &[Metrics]) -> Vec<Measured> {
    let mut results = Vec::new();
    let at = |iteration: &Metrics| format!("iteration {} of the run", iteration.iteration);
    for opponent in opponents(history) {
        if let Some((iteration, result)) = matches(history, &opponent).last() {
            let against = format!("{opponent}, {} games", result.games());
            results.push(Measured::percent("score", &against, &at(iteration), result.score, result.score_interval));
        }
    }
    let newest = history.iter().rev().find_map(|iteration| Some((iteration, iteration.ladder.as_ref()?)));
    results.extend(newest.map(|(iteration, ladder)| Measured {
        against: format!("the game's ladder, {} games", ladder.games),
        measure: "rating".to_owned(),
        value: ladder.elo,
        interval: Some(ladder.interval),
        unit: "Elo".to_owned(),
        how: at(iteration),
    }));
    if let Some((iteration, grade)) = history.iter().rev().find_map(|line| Some((line, line.grade.as_ref()?))) {
        let how = at(iteration);
        results.push(Measured::of_share("moves that preserve the value", &how, &grade.all));
        results.push(Measured::of_share("the same where some move loses it", &how, &grade.critical));
    }
    results
}

/// A row of a table.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// A value of a parameter without quotation marks.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The most backticks in a row.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

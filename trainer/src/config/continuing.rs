//! Which keys may change when a run continues, and why the others may not.

use turnstone_env::{DynGame, Games};

use super::{Config, Override};

/// The keys that may not change when a run continues, or the beginnings of their paths, each with the reason and what to do
/// instead. All others may. `configs/README.md` has the same list.
const FIXED: [(&str, &str); 13] = [
    ("seed", "every random stream of the run depends on it; start another run"),
    ("game.", "its positions and its network belong to this game; start another run"),
    ("net.", "its weights are those of this network; start another run"),
    ("learn.batch", STEPS_DUE),
    ("learn.samples_per_position", STEPS_DUE),
    ("learn.optimiser", "its state has the moments of this optimiser; start another run"),
    ("learn.targets", "its state has the heads of these targets; start another run"),
    ("arena.simulations", SCORES),
    ("arena.method", SCORES),
    ("arena.opening_plies", SCORES),
    ("arena.opponents", SCORES),
    ("arena.ladder_games", SCORES),
    ("run.from", "the run began with that network; start another run with --from"),
];

const STEPS_DUE: &str = "the number of steps that are due counts all positions of the run; start another run";
const SCORES: &str = "scores before and after would not compare; start another run, or play matches with `arena`";

/// Why a key may not change, and what to do.
fn why_fixed(key: &str) -> Option<&'static str> {
    let is_this = |fixed: &str| if fixed.ends_with('.') { key.starts_with(fixed) } else { key == fixed };
    FIXED.iter().find(|(fixed, _)| is_this(fixed)).map(|(_, reason)| *reason)
}

impl Config {
    /// Returns the configuration of a run that continues, with some values replaced. Where `run.iterations` changes,
    /// `run.schedule_iterations` becomes what it was, unless it is replaced too: the schedules remain those of the run so far.
    ///
    /// # Errors
    /// The errors of [`Config::with`] and of [`Config::confirm_continues`].
    pub fn continued_with<T: DynGame + ?Sized>(
        &self,
        changes: &[Override],
        finished: u64,
        games: &Games<T>,
    ) -> Result<Self, String> {
        let mut config = self.with(changes, games)?;
        let names_schedule = changes.iter().any(|change| change.sets("run", "schedule_iterations"));
        if config.run.iterations != self.run.iterations && !names_schedule {
            config.run.schedule_iterations = self.run.scheduled();
        }
        config.confirm_continues(self, finished)?;
        Ok(config)
    }

    /// Checks that a run with `finished` iterations, last trained with the config `before`, can continue with this one.
    ///
    /// # Errors
    /// One line that names a key that may not change, or one whose change would have no effect, and why.
    pub fn confirm_continues(&self, before: &Self, finished: u64) -> Result<(), String> {
        let changed = differing(before, self);
        for key in &changed {
            if let Some(reason) = why_fixed(key) {
                return Err(format!("{key} cannot change when a run continues, as {reason}"));
            }
        }
        let iterations = self.run.iterations;
        if iterations < finished {
            return Err(format!("run.iterations is {iterations}, but {finished} are finished already"));
        }
        let (next, scheduled) = (finished + 1, self.run.scheduled());
        let is_over = self.run.progress(next) >= 1.0;
        let ended = |key: &str, last: &str| {
            let fault = format!(
                "{key} changes nothing from iteration {next} on, as its schedule of {scheduled} iterations is over: set \
                 {last}, or a longer run.schedule_iterations"
            );
            if is_over && changed.iter().any(|changed| changed == key) { Err(fault) } else { Ok(()) }
        };
        ended("learn.learning_rate", "learn.final_learning_rate")?;
        if self.search.final_simulations > 0 {
            ended("search.simulations", "search.final_simulations")?;
        }
        Ok(())
    }

    /// The keys with other values than in the config `before`, as `learn.batch 16 -> 32`.
    #[must_use]
    pub(crate) fn changes_from(&self, before: &Self) -> Vec<String> {
        let (old, new) = (before.by_path(), self.by_path());
        let value = |values: &toml::Table, key: &str| values.get(key).map_or("none".to_owned(), ToString::to_string);
        let changed = differing(before, self).into_iter();
        changed.map(|key| format!("{key} {} -> {}", value(&old, &key), value(&new, &key))).collect()
    }
}

/// The keys whose values differ, as `learn.batch`.
fn differing(before: &Config, after: &Config) -> Vec<String> {
    let (before, after) = (before.by_path(), after.by_path());
    let removed = before.keys().filter(|key| !after.contains_key(*key));
    let changed = after.iter().filter(|(key, value)| before.get(*key) != Some(value)).map(|(key, _)| key);
    changed.chain(removed).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::games::built_in;

    fn set(config: &Config, changes: &[&str]) -> Result<Config, String> {
        let changes: Vec<Override> = changes.iter().map(|text| text.parse().expect("an override")).collect();
        config.continued_with(&changes, 0, &built_in())
    }

    fn config() -> Config {
        Config::parse("[game]\nname = \"mancala\"\n[run]\niterations = 60", &built_in()).expect("valid")
    }

    #[test]
    fn every_fixed_key_is_a_key() {
        let all = Config::default().by_path();
        let is_known = |fixed: &str| fixed == "game." || all.keys().any(|key| key == fixed || key.starts_with("net."));
        assert!(FIXED.iter().all(|(fixed, _)| is_known(fixed)), "{FIXED:?}");
        assert_eq!(all.keys().filter(|key| why_fixed(key).is_some()).count(), 14, "{all:?}");
    }

    #[test]
    fn the_page_lists_the_keys_that_may_not_change() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/README.md");
        let page = std::fs::read_to_string(page).expect("readable");
        let (_, section) = page.split_once("## Keys that may not change when a run continues").expect("the section");
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let listed: Vec<&str> =
            rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2)).collect();
        let sections =
            |key: &str| key.strip_suffix('.').map_or_else(|| key.to_owned(), |section| format!("[{section}]"));
        assert_eq!(listed, FIXED.map(|(key, _)| sections(key)));
    }

    #[test]
    fn keys_that_may_not_change_are_refused_by_name() {
        let refused = |change: &str| set(&config(), &[change]).expect_err("it is refused");
        assert_eq!(
            refused("learn.batch=512"),
            "learn.batch cannot change when a run continues, as the number of steps that are due counts all positions \
             of the run; start another run"
        );
        let fixed = "seed=3|game.stones=3|net.width=64|net.kind=residual_graph|arena.opponents=[]|arena.ladder_games=2|\
            arena.simulations=5|arena.method=puct|arena.opening_plies=[0, 2]|run.from=00000000|learn.samples_per_position=2|\
            learn.optimiser=muon";
        for change in fixed.split('|') {
            let key = change.split_once('=').map_or(change, |(key, _)| key);
            let fault = refused(change);
            assert!(fault.starts_with(&format!("{key} cannot change when a run continues, as ")), "{change}: {fault}");
        }
        // A whole section at once is no way around it.
        assert!(
            refused("learn={batch=512}").starts_with("learn.batch cannot change"),
            "{}",
            refused("learn={batch=512}")
        );
        assert_eq!(refused("learn.bach=8"), "unknown key `learn.bach` (did you mean `learn.batch`?)");
        assert_eq!(set(&config(), &["learn.batch=256"]), Ok(config()), "what stays as it is changes nothing");
    }

    #[test]
    fn more_iterations_leave_the_schedules_as_they_are() {
        let longer = set(&config(), &["run.iterations=120"]).expect("valid");
        assert_eq!((longer.run.iterations, longer.run.schedule_iterations), (120, 60));
        assert_eq!(set(&longer, &["run.iterations=200"]).expect("valid").run.schedule_iterations, 60);
        let asked = set(&longer, &["run.iterations=200", "run.schedule_iterations=0"]).expect("valid");
        assert_eq!((asked.run.iterations, asked.run.schedule_iterations), (200, 0));
        assert_eq!(set(&config(), &["learn.threads=2"]).expect("valid").run, config().run);
    }

    /// Changes of what the next iteration does not look at are refused, rather than said to apply.
    #[test]
    fn values_of_a_schedule_that_is_over_are_refused() {
        let text =
            "[game]\nname = \"mancala\"\n[search]\nsimulations = 32\nfinal_simulations = 96\n[run]\niterations = 6";
        let config = Config::parse(text, &built_in()).expect("valid");
        let set = |finished, changes: &str| {
            let changes: Vec<Override> = changes.split(' ').map(|text| text.parse().expect("an override")).collect();
            config.continued_with(&changes, finished, &built_in())
        };
        for change in ["learn.learning_rate=1e-3", "search.simulations=40"] {
            let (longer, key) = (format!("run.iterations=12 {change}"), change.split('=').next().expect("a key"));
            let fault = set(6, &longer).expect_err("it changes nothing");
            assert!(
                fault.starts_with(&format!("{key} changes nothing from iteration 7 on, as its schedule of 6 ")),
                "{fault}"
            );
            let stretched = format!("{longer} run.schedule_iterations=12");
            assert_ne!(set(6, &stretched).expect("it applies").by_path().get(key), config.by_path().get(key));
            set(5, &longer).expect("the schedule is not over");
        }
        set(6, "run.iterations=12 learn.final_learning_rate=1e-4").expect("it applies");
        assert_eq!(set(6, "run.iterations=4").expect_err("too few"), "run.iterations is 4, but 6 are finished already");
        let longer = set(6, "run.iterations=12 learn.threads=2").expect("valid");
        let changes = ["learn.threads 0 -> 2", "run.iterations 6 -> 12", "run.schedule_iterations 0 -> 6"];
        assert_eq!(longer.changes_from(&config), changes);
    }

    /// The rate is 1e-4 at the end of 60 iterations, and 1.05e-3 again if the schedule is stretched to 120.
    #[test]
    fn an_annealed_rate_and_grown_searches_stay() {
        let at = |config: &Config, iteration| {
            let progress = config.run.progress(iteration);
            let rate = crate::learn::learning_rate(&config.learn, 1000, progress);
            ((rate * 1e6).round() / 1e6, config.search.simulations_at(progress))
        };
        let text = "[game]\nname = \"mancala\"\n[search]\nsimulations = 32\nfinal_simulations = 96\n[learn]\n\
            learning_rate = 2e-3\nfinal_learning_rate = 1e-4\n[run]\niterations = 60";
        let config = Config::parse(text, &built_in()).expect("valid");
        assert_eq!((at(&config, 1), at(&config, 31)), ((2e-3, 32), (1.05e-3, 64)));
        let longer = set(&config, &["run.iterations=120"]).expect("valid");
        assert_eq!(at(&longer, 31), (1.05e-3, 64));
        for iteration in [61, 90, 120] {
            assert_eq!(at(&longer, iteration), (1e-4, 96), "iteration {iteration}");
        }
        let stretched = set(&config, &["run.iterations=120", "run.schedule_iterations=120"]).expect("valid");
        assert_eq!(at(&stretched, 61), (1.05e-3, 64));
    }
}

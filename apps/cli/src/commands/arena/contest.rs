//! Game, agents and options of a match or tournament, from the command line and an optional file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use turnstone_base::files::read_text;
use turnstone_base::settings;
use turnstone_base::settings::{Fault, Settings};
use turnstone_base::text::shell_path;
use turnstone_env::Params;

use turnstone_agents::AgentSpec;
use turnstone_arena::{MatchOptions, OpeningSource, in_one_line};
use turnstone_selfplay::{Games, TrainableGame};
use turnstone_trainer::config::{Config, LONGEST_CONFIG, game_of_table, given, in_text};

/// Game, agents and options of a tournament.
pub(super) struct Contest {
    pub(super) game: Arc<dyn TrainableGame>,
    pub(super) agents: Vec<AgentSpec>,
    pub(super) options: MatchOptions,
}

settings! {
    /// `[arena]` in the file of a tournament.
    #[derive(Clone, Debug)]
    struct Tournament {
        /// Agents, two or more.
        agents: Vec<AgentSpec>;
        /// Options of the matches.
        options: MatchOptions;
    }
}

impl Contest {
    /// Reads a tournament's file or a run's config. Agents and options from the command line take precedence.
    ///
    /// # Errors
    /// One line that names the file and the fault.
    pub(super) fn read(
        path: &Path,
        agents: &[AgentSpec],
        params: &Params,
        options: MatchOptions,
        games: &Games,
    ) -> Result<Self> {
        let named = || path.display().to_string();
        if params.iter().next().is_some() {
            bail!("{}: the file contains the game's parameters, so --param cannot be given", named());
        }
        let text = read_text(path, LONGEST_CONFIG).with_context(named)?;
        let table: toml::Table =
            text.parse().map_err(|error| anyhow!("{}: {}", named(), in_one_line(&text, &error)))?;
        let own = table.get("arena").and_then(|arena| arena.get("agents")).is_some();
        let mut contest =
            if own { Self::of_file(&text, table, path.parent(), games) } else { Self::of_run(path, games) }
                .with_context(named)?;
        if !agents.is_empty() {
            contest.agents = agents.to_vec();
        } else if !own
            && let Some(checkpoint) = contest.agents.first().and_then(|agent| agent.traits().checkpoint)
            && !checkpoint.exists()
        {
            let (run, config) = (checkpoint.display(), shell_path(path));
            bail!("there is no run {run} yet: train it first (turnstone train {config}), or name agents");
        }
        contest.options = options.or(&contest.options);
        Ok(contest)
    }

    /// The contest of a tournament's file, from whose folder its relative paths are taken.
    fn of_file(text: &str, mut table: toml::Table, folder: Option<&Path>, games: &Games) -> Result<Self> {
        let folder = folder.unwrap_or(Path::new(""));
        let mut section = |name: &str| match table.remove(name) {
            Some(toml::Value::Table(section)) => Ok(section),
            _ => Err(anyhow!("there is no section [{name}]")),
        };
        let (game, mut arena) = (section("game")?, section("arena")?);
        if let Some(other) = table.keys().next() {
            bail!(in_text(text, Fault::unknown(other, ["game", "arena"].into_iter())));
        }
        let game = game_of_table(&game, games).map_err(anyhow::Error::msg)?;
        if let Some(toml::Value::String(openings)) = arena.get_mut("openings")
            && openings.contains(|letter| !matches!(letter, '0'..='9' | '-'))
        {
            *openings = folder.join(&*openings).to_string_lossy().into_owned();
        }
        let mut tournament = Tournament::default();
        for (key, value) in arena {
            tournament.set(&key, &given(value)).map_err(|fault| anyhow!(in_text(text, fault.in_section("arena"))))?;
        }
        let Tournament { agents, mut options } = tournament;
        options.opening_filter = options.opening_filter.map(|agent| agent.in_folder(folder));
        Ok(Self { game, agents: agents.iter().map(|agent| agent.in_folder(folder)).collect(), options })
    }

    /// The contest of a run's config: the run's newest checkpoint against the opponents of its matches.
    fn of_run(path: &Path, games: &Games) -> Result<Self> {
        let config = Config::read(path, games)?;
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        let beside = path.parent().filter(|folder| folder.join("latest.safetensors").is_file()).map(Path::to_owned);
        let name = path.file_stem().unwrap_or(path.as_os_str());
        let checkpoint = beside.unwrap_or_else(|| PathBuf::from("runs").join(name));
        let newest = AgentSpec::network(checkpoint, config.arena.simulations, config.arena.method.into());
        let agents = std::iter::once(newest).chain(config.arena.opponents.clone()).collect();
        let options = MatchOptions {
            games: Some(config.arena.final_games),
            openings: Some(OpeningSource::Random(config.arena.opening_plies)),
            seed: Some(config.seed),
            ..MatchOptions::default()
        };
        Ok(Self { game, agents, options })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn read(text: &str) -> Result<Contest> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("cup.toml");
        std::fs::write(&path, text).expect("writable");
        let agents = [AgentSpec::random()];
        let given = if text.contains("opponents") { &agents[..] } else { &[] };
        Contest::read(
            &path,
            given,
            &Params::new(),
            MatchOptions::default(),
            &turnstone_games::list!(turnstone_selfplay::row),
        )
    }

    #[test]
    fn a_tournament_has_a_file_of_its_own() {
        let text = "[game]\nname = \"mancala\"\nstones = 3\n[arena]\nagents = [\"random\", \"mcts:sims=9\"]\ngames = 6\n\
                    format = \"gauntlet\"\nclock = \"2s\"\nsprt = \"0,10\"\nopenings = \"1-3\"\nout_of_time = \"lose\"\n";
        let contest = read(text).expect("valid");
        assert_eq!((contest.agents.len(), contest.game.params().iter().any(|(_, value)| value == "3")), (2, true));
        let MatchOptions { games, clock, .. } = contest.options;
        assert_eq!((games, clock), (Some(6), Some(Duration::from_secs(2))));
        let fault = |from: &str, to: &str| format!("{:#}", read(&text.replace(from, to)).err().expect("a fault"));
        assert!(fault("games", "gams").contains("unknown key `arena.gams` (did you mean `arena.games`?)"));
        assert!(fault("\"2s\"", "\"2\"").contains("line 8: arena.clock is \"2\", but must be a time such as"));
        assert!(fault("\"gauntlet\"", "\"swiss\"").contains("swiss"));
        assert!(fault("random", "rando").contains("line 5") && fault("random", "rando").contains("did you mean"));
        assert!(fault("mancala", "mancla").contains("did you mean `mancala`"));
        assert!(fault("[game]", "[game").contains("line 1"));
    }

    #[test]
    fn paths_in_a_file_are_relative_to_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("book.txt"), "B4\n").expect("writable");
        let path = folder.path().join("cup.toml");
        let text = "[game]\nname = \"mancala\"\n[arena]\nagents = [\"az:a.safetensors,sims=9\", \"az:pretrained\"]\n\
                    openings = \"book.txt\"\nopening_filter = \"exact:solved\"\n";
        std::fs::write(&path, text).expect("writable");
        let games = turnstone_games::list!(turnstone_selfplay::row);
        let contest = Contest::read(&path, &[], &Params::new(), MatchOptions::default(), &games).expect("valid");
        let at = |name: &str| folder.path().join(name);
        let spec = |text: String| text.parse::<AgentSpec>().expect("a spec");
        let named = spec(format!("az:{},sims=9", at("a.safetensors").display()));
        assert_eq!(contest.agents, [named, spec("az:pretrained".to_owned())]);
        assert_eq!(contest.options.openings, Some(OpeningSource::Book(at("book.txt"))));
        assert_eq!(contest.options.opening_filter, Some(spec(format!("exact:{}", at("solved").display()))));
    }

    #[test]
    fn without_a_run_it_says_to_train_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("no-such-run.toml");
        std::fs::write(&path, "[game]\nname = \"mancala\"\n[arena]\nopponents = [\"random\"]\n").expect("writable");
        let contest = Contest::read(
            &path,
            &[],
            &Params::new(),
            MatchOptions::default(),
            &turnstone_games::list!(turnstone_selfplay::row),
        );
        let fault = format!("{:#}", contest.err().expect("there is no run"));
        assert!(fault.contains("train it first (turnstone train") && fault.contains("runs/no-such-run"), "{fault}");
    }

    #[test]
    fn a_runs_config_names_game_and_opponents() {
        let run = "[game]\nname = \"mancala\"\n[arena]\nopponents = [\"random\"]\nfinal_games = 12\n";
        let contest = read(run).expect("valid");
        assert_eq!((contest.agents.len(), contest.options.games), (1, Some(12)));
        assert!(
            format!("{:#}", read(&run.replace("final_games", "finalgames")).err().expect("unknown"))
                .contains("did you mean")
        );
    }
}

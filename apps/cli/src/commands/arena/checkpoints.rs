//! Agents of several checkpoints: specs with `*`, and the numbered checkpoints of a run.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use turnstone_agents::{AgentSpec, path_in_spec};
use turnstone_trainer::run_folder::RunFolder;

/// The specs, with one for each file in place of one whose checkpoint has a `*` in its name, in the order of the names.
///
/// # Errors
/// The folder cannot be read, or has no such file.
pub(super) fn expanded(specs: &[AgentSpec]) -> Result<Vec<AgentSpec>> {
    let mut all = Vec::new();
    for spec in specs {
        let checkpoint = spec.traits().checkpoint.filter(|path| !path.exists());
        let name = checkpoint.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        let (Some(path), Some((before, after))) = (&checkpoint, name.and_then(|name| name.split_once('*'))) else {
            all.push(spec.clone());
            continue;
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let named = || format!("agent `{spec}`: {}", folder.display());
        let entries = fs::read_dir(folder).with_context(named)?;
        let mut names = entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<Vec<_>>>()
            .with_context(named)?;
        let length = before.len() + after.len();
        names.retain(|name| name.len() >= length && name.starts_with(before) && name.ends_with(after));
        ensure!(!names.is_empty(), "agent `{spec}`: there is no such file");
        names.sort_unstable();
        let pattern = path.display().to_string();
        for name in names {
            let file = path.with_file_name(name).display().to_string();
            all.push(spec.to_string().replacen(&pattern, &file, 1).parse().with_context(|| file.clone())?);
        }
    }
    Ok(all)
}

/// Every n-th of a run's numbered checkpoints, counted from the newest, from the oldest on.
///
/// # Errors
/// The run has none.
pub(super) fn of_run(run: &Path, every: usize, simulations: u32) -> Result<Vec<AgentSpec>> {
    let all = RunFolder::open(run)?.numbered_checkpoints()?;
    ensure!(!all.is_empty(), "run {} has no numbered checkpoints", run.display());
    let spec = |path: &Path| Ok(format!("az:{},sims={simulations}", path_in_spec(path)).parse()?);
    let chosen = all.iter().enumerate().filter(|(i, _)| (all.len() - 1 - i).is_multiple_of(every));
    chosen.map(|(_, (_, path))| spec(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_each_checkpoint_of_a_pattern_or_a_run() {
        let run = tempfile::tempdir().expect("a temporary folder");
        let folder = run.path().join("checkpoints");
        fs::create_dir(&folder).expect("writable");
        for name in ["step_00000200.safetensors", "step_00000100.safetensors", "step_00000300.safetensors", "other"] {
            fs::write(folder.join(name), "").expect("writable");
        }
        fs::write(run.path().join("config.toml"), "").expect("writable");
        let shown = |specs: Result<Vec<AgentSpec>>| {
            let specs = specs.map_err(|error| format!("{error:#}"))?;
            let text = specs.iter().map(|spec| spec.to_string().replace(&*folder.to_string_lossy(), "."));
            Ok::<_, String>(text.collect::<Vec<_>>())
        };
        let at = |step| format!("az:./step_00000{step}.safetensors,sims=9");
        assert_eq!(shown(of_run(run.path(), 1, 9)), Ok([100, 200, 300].map(at).to_vec()));
        assert_eq!(shown(of_run(run.path(), 2, 9)), Ok([100, 300].map(at).to_vec()));
        let specs = |name: &str| {
            [format!("az:{}/{name},draw=0.5", folder.display()), "random".to_owned()]
                .map(|text| text.parse().expect("a spec"))
        };
        let found = shown(expanded(&specs("*2*"))).expect_err("a second star is a part of the name");
        assert!(found.ends_with("there is no such file"), "{found}");
        let found = shown(expanded(&specs("*200.safetensors"))).expect("one");
        assert!(found[0].starts_with("az:./step_00000200.safetensors,") && found[0].contains("draw=0.5"), "{found:?}");
        assert_eq!(found[1..], ["random"]);
        assert!(shown(of_run(&folder, 1, 9)).expect_err("it is no run").contains("holds no run"));
        fs::write(folder.join("config.toml"), "").expect("writable");
        assert!(shown(of_run(&folder, 1, 9)).expect_err("a new run").contains("has no numbered checkpoints"));
    }
}

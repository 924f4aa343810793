//! Names of agents for tables: those of several checkpoints lose the folder that they share.

use std::collections::BTreeMap;

/// The names, and what they leave out.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct ShortNames {
    /// By agent.
    pub(super) names: Vec<String>,
    /// Each beginning as it is shown, and in full.
    pub(super) cut: Vec<[String; 2]>,
}

/// Names of these specs. Where several of one kind have files of one folder, `...` stands for that folder.
pub(super) fn short_names(specs: &[String]) -> ShortNames {
    let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (agent, spec) in specs.iter().enumerate() {
        if let Some((kind, _)) = spec.split_once(':').filter(|(_, rest)| path(rest).contains('/')) {
            kinds.entry(kind).or_default().push(agent);
        }
    }
    let mut short = ShortNames { names: specs.to_vec(), cut: Vec::new() };
    for (kind, agents) in kinds {
        let paths: Vec<&str> = agents.iter().map(|&agent| path(&specs[agent][kind.len() + 1..])).collect();
        let folder = shared_folder(&paths);
        let shown = ".../";
        if paths.iter().all(|path| *path == paths[0]) || folder.len() <= shown.len() {
            continue;
        }
        let [shown, whole] = [shown, folder].map(|folder| format!("{kind}:{folder}"));
        for agent in agents {
            short.names[agent] = specs[agent].replacen(&whole, &shown, 1);
        }
        short.cut.push([shown, whole]);
    }
    short
}

/// The options of a spec up to the first that has a name.
fn path(options: &str) -> &str {
    options.split_once(',').map_or(options, |(path, _)| path)
}

/// The longest beginning of all paths that ends in `/`.
fn shared_folder<'a>(paths: &[&'a str]) -> &'a str {
    let mut ends = paths[0].rmatch_indices('/').map(|(at, _)| &paths[0][..=at]);
    ends.find(|folder| paths.iter().all(|path| path.starts_with(folder))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(specs: &[&str]) -> (Vec<String>, usize) {
        let short = short_names(&specs.iter().map(|spec| (*spec).to_owned()).collect::<Vec<_>>());
        (short.names, short.cut.len())
    }

    #[test]
    fn checkpoints_lose_the_folder_that_they_share() {
        let specs =
            ["az:runs/m/checkpoints/step_1.safetensors,sims=9", "random", "az:runs/m/checkpoints/step_2.x,sims=9"];
        let short = ["az:.../step_1.safetensors,sims=9", "random", "az:.../step_2.x,sims=9"];
        assert_eq!(names(&specs), (short.map(String::from).to_vec(), 1));
        let runs = ["az:runs/one,sims=9", "az:runs/ones,sims=9"];
        assert_eq!(names(&runs), (["az:.../one,sims=9", "az:.../ones,sims=9"].map(String::from).to_vec(), 1));
    }

    #[test]
    fn a_name_is_cut_only_where_that_saves_and_tells_apart() {
        let kept: [&[&str]; 5] = [
            &["az:runs/m,sims=9", "random"],
            &["az:runs/m,sims=9", "az:runs/m,sims=10"],
            &["az:a/b,sims=9", "az:a/c,sims=9"],
            &["az:runs/m", "engine::runs/m/e"],
            &["az:runs/a/x", "az:more/a/x"],
        ];
        for specs in kept {
            assert_eq!(names(specs), (specs.iter().map(|spec| (*spec).to_owned()).collect(), 0), "{specs:?}");
        }
    }
}

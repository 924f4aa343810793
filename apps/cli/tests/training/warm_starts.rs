//! Runs that begin with the network of another run, and forks.

use super::*;

#[test]
fn a_run_begins_with_the_network_of_another() {
    let place = Place::with(&annealed());
    let earlier = place.run("earlier");
    assert_eq!(finish(place.start(&earlier)).0, Some(0));
    let network = fs::read(earlier.join("latest.safetensors")).expect("written");
    let (config, from) = (place.config.to_str().expect("UTF-8"), earlier.to_str().expect("UTF-8"));
    let begin = |name: &str, more: &[&str]| {
        let run = place.run(name);
        let changes = ["--run", run.to_str().expect("UTF-8"), "--set", "game.max_plies=28"];
        (train(&[&[config][..], &changes, more].concat()), run)
    };
    let (child, whole) = begin("whole", &["--from", from]);
    let (code, text) = finish(child);
    assert_eq!(code, Some(0), "{text}");
    assert!(fs::read(whole.join("start.safetensors")).expect("copied") == network);
    let checksum = format!("{:08x}", crc32fast::hash(&network));
    let read = |file: &str| fs::read_to_string(whole.join(file)).expect("readable");
    assert!(read("config.toml").contains(&format!("from = \"{checksum}\"")), "{}", read("config.toml"));
    assert!(read("provenance.jsonl").contains(&format!("\"from\":\"{checksum}\"")), "{}", read("provenance.jsonl"));
    // Killed, and continued without the original.
    let (mut child, killed) = begin("killed", &["--from", from]);
    while !killed.join("state.safetensors").exists() {
        sleep(Duration::from_millis(5));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    fs::rename(&earlier, place.run("moved")).expect("it can be renamed");
    let (code, text) = finish(resume(&killed));
    assert_eq!(code, Some(0), "{text}");
    // Repeated from its own folder.
    let [config, start] = ["config.toml", "start.safetensors"].map(|file| whole.join(file).display().to_string());
    let again = place.run("again");
    let (code, text) = finish(train(&[&config, "--from", &start, "--run", again.to_str().expect("UTF-8")]));
    assert_eq!(code, Some(0), "{text}");
    let (child, random) = begin("random", &[]);
    assert_eq!(finish(child).0, Some(0));
    let state = |run: &Path| fs::read(run.join("state.safetensors")).expect("written");
    assert!(state(&whole) == state(&killed) && state(&whole) == state(&again) && state(&whole) != state(&random));
    let (code, text) = finish(train(&[&config, "--run", place.run("without").to_str().expect("UTF-8")]));
    assert!(code == Some(1) && text.contains(&format!("run.from is {checksum}: give the network")), "{text}");
    fs::remove_file(killed.join("start.safetensors")).expect("it is there");
    assert_eq!(finish(resume(&killed)).0, Some(0), "only the start needs it");
}

#[test]
fn networks_that_do_not_fit_are_refused() {
    let place = Place::with(&annealed());
    let earlier = place.run("earlier");
    assert_eq!(finish(place.start(&earlier)).0, Some(0));
    let (config, from) = (place.config.to_str().expect("UTF-8"), earlier.to_str().expect("UTF-8"));
    let run = place.run("run");
    let refused = |from: &str, change: &str, expected: &str| {
        let args = [config, "--from", from, "--run", run.to_str().expect("UTF-8"), "--set", change];
        let (code, text) = finish(train(&args));
        assert!(code == Some(1) && text.contains(expected) && text.lines().count() == 1, "{change}: {text}");
        assert!(!run.exists(), "{change}");
    };
    refused(
        from,
        "net.width=8",
        "its network is a residual MLP, 1 blocks of 16 units, the one of the config a residual MLP, 1 blocks of 8 units",
    );
    refused(from, "net={kind=\"residual_graph\"}", "1 blocks of 16 units, the one of the config a residual graph, 3 ");
    refused(from, "net.blocks=2", "1 blocks of 16 units, the one of the config a residual MLP, 2 blocks of 16 units");
    refused(from, "game={name=\"mancala\"}", "it is for the game mu_torere, and the run is for mancala");
    refused(from, "run.from=00000000", "run.from of the config is 00000000");
    refused("nowhere", "seed=6", "--from: nowhere");
    refused(config, "seed=6", "--from: ");
}

#[test]
fn a_fork_continues_as_the_run_that_it_copies_would() {
    let place = Place::with(&annealed());
    let (run, forked) = (place.run("run"), place.run("forked"));
    assert_eq!(finish(place.start(&run)).0, Some(0));
    let state = |run: &Path| fs::read(run.join("state.safetensors")).expect("written");
    let (before, [of, to]) = (state(&run), [&run, &forked].map(|path| path.to_str().expect("UTF-8")));
    let more = ["--set", "run.iterations=6"];
    let (code, text) = finish(train(&[&["--fork", of, "--run", to][..], &more].concat()));
    assert!(code == Some(0) && text.contains(": run.iterations 4 -> 6, run.schedule_iterations 0 -> 4; "), "{text}");
    assert!(state(&run) == before && state(&forked) != before);
    let provenance = fs::read_to_string(forked.join("provenance.jsonl")).expect("readable");
    let origin = format!("\"forked\":\"{of} {:08x}\"", crc32fast::hash(&before));
    assert_eq!(provenance.lines().map(|line| line.contains(&origin)).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(finish(train(&[&["--resume", of][..], &more].concat())).0, Some(0));
    assert!(state(&run) == state(&forked));
    assert_eq!(metrics(&run), metrics(&forked));
    let other = place.run("other");
    let refused = |args: &[&str], expected: &str| {
        let (code, text) = finish(train(&[args, &["--run", other.to_str().expect("UTF-8")]].concat()));
        assert!(code == Some(1) && text.contains(expected) && !other.exists(), "{text}");
    };
    refused(&["--fork", of, "--set", "net.width=8"], "net.width cannot change when a run continues");
    refused(&["--resume", of], &format!("give --fork {of} to continue a copy of it"));
}

#[test]
fn what_no_match_could_be_played_with_is_refused_before_the_run() {
    let place = Place::with(&annealed());
    let (config, run) = (place.config.to_str().expect("UTF-8"), place.run("run"));
    for (change, expected) in [
        ("arena.opening_plies=[1000,1000]", "arena.opening_plies: "),
        ("arena.opponents=[\"engine::./no_such_program\"]", "arena.opponents: engine::./no_such_program: "),
    ] {
        let (code, text) = finish(train(&[config, "--run", run.to_str().expect("UTF-8"), "--set", change]));
        assert!(code == Some(1) && text.contains(expected) && text.lines().count() == 1, "{change}: {text}");
        assert!(!run.exists(), "{change}");
    }
}

#[test]
fn a_fork_is_not_put_into_the_run_that_it_is_of() {
    let place = Place::with(&annealed());
    let run = place.run("run");
    assert_eq!(finish(place.start(&run)).0, Some(0));
    let [of, inside] = [run.clone(), run.join("deep/inside")].map(|path| path.to_str().expect("UTF-8").to_owned());
    let (code, text) = finish(train(&["--fork", &of, "--run", &inside]));
    assert!(code == Some(1) && text.contains("is inside that of the run to fork"), "{text}");
    assert!(!run.join("deep").exists());
}

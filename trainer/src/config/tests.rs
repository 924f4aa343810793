//! Defaults, checksums and faults of configs.

use super::*;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, &games())
}

fn games() -> Games<dyn DynGame> {
    turnstone_env::games::built_in()
}

fn fault(text: &str) -> String {
    parse(text).expect_err("a fault")
}

#[test]
fn the_smallest_config_takes_all_defaults() {
    let config = parse("[game]\nname = \"mancala\"\nstones = 3").expect("valid");
    assert_eq!(config.learn, LearnConfig::default());
    let again = parse(&toml::to_string(&config).expect("a table")).expect("what is written can be read");
    assert_eq!(again, config);
}

#[test]
fn the_checksum_is_of_what_decides_the_weights() {
    let checksum = |text: &str| {
        let config = parse(&format!("{text}\n[game]\nname = \"mancala\"")).expect("valid");
        config.result_checksum()
    };
    let plain = checksum("");
    assert_eq!(plain, "23d44f69", "checkpoints have it");
    let graph = checksum("net.kind = \"residual_graph\"");
    assert_eq!(checksum("net = { kind = \"residual_graph\", channels = 48 }"), graph, "a key at its default");
    assert_ne!(checksum("net = { kind = \"residual_graph\", channels = 32 }"), graph);
    let without_part = "self_play.threads = 3|self_play.concurrent_games = 7|self_play.cached_positions = 0|\
        search.play_proof_nodes = 9|learn.threads = 2|arena.games = 8|run.checkpoint_steps = 7|\
        run.overlap = false|run.schedule_iterations = 0";
    for change in without_part.split('|') {
        assert_eq!(checksum(change), plain, "{change}");
    }
    let decisive = "seed = 2|learn.batch = 64|search.simulations = 9|search.proof_nodes = 9|run.iterations = 3|\
        run.overlap = true|run.schedule_iterations = 7|run.from = \"0123abcd\"|\
        learn.device = \"gpu\"|self_play.device = \"gpu\"|net.kind = \"residual_graph\"|\
        self_play.games_per_iteration = 9|self_play.precision = \"i8\"";
    for change in decisive.split('|') {
        assert_ne!(checksum(change), plain, "{change}");
    }
}

#[test]
fn every_kind_of_network_has_defaults() {
    for kind in ["residual_mlp", "residual_graph", "residual_conv"] {
        let config = parse(&format!("[game]\nname = \"konane\"\n[net]\nkind = \"{kind}\"")).expect("valid");
        let again = parse(&toml::to_string(&config).expect("a table")).expect("what is written can be read");
        assert_eq!(again, config);
    }
    let square = "[game]\nname = \"morris\"\n[net]\nkind = \"residual_graph\"\nneighbourhood = \"square\"";
    assert!(fault(square).starts_with("net: a residual_graph over a square, like a residual_conv, needs a lattice"));
}

#[test]
fn values_that_do_not_fit_are_shown_as_typed() {
    let with = |section: &str| fault(&format!("[game]\nname = \"mancala\"\n{section}"));
    let whole = |key: &str, given: &str, range: &str| {
        format!("line 4: {key} is {given}, but must be a whole number from {range}")
    };
    for (key, given, range) in [
        ("self_play.threads", "2097152", "0 to 1024"),
        ("learn.batch", "2097152", "1 to 65536"),
        ("arena.games", "2_097_152", "2 to 1000000"),
        ("self_play.threads", "\"two\"", "0 to 1024"),
        ("learn.batch", "-5", "1 to 65536"),
        ("learn.window", "1.5", "1 to 100000000"),
        ("search.simulations", "5_000_000_000", "1 to 1000000"),
        ("search.considered", "0", "1 to 65536"),
        ("run.iterations", "0", "1 to 1000000000"),
    ] {
        let (section, name) = key.split_once('.').expect("a section");
        assert_eq!(with(&format!("[{section}]\n{name} = {given}\n")), whole(key, given, range));
    }
    let number = |key: &str, given: &str, range: &str| format!("line 4: {key} is {given}, but must be a number{range}");
    for (key, given, range) in [
        ("search.c_puct", "2097152", " from 0 to 100"),
        ("learn.learning_rate", "-1e-1", " from 1e-8 to 1"),
        ("learn.learning_rate", "nan", " from 1e-8 to 1"),
        ("learn.ema_decay", "1.5", " from 0 to below 1"),
        ("learn.ema_decay", "\"\"", " from 0 to below 1"),
        ("learn.clip_norm", "0", " above 0"),
    ] {
        let (section, name) = key.split_once('.').expect("a section");
        assert_eq!(with(&format!("[{section}]\n{name} = {given}\n")), number(key, given, range));
    }
    assert_eq!(with("[learn]\naugment = 1"), "line 4: learn.augment is 1, but must be true or false");
    assert_eq!(with("[run]\noverlap = 1"), "line 4: run.overlap is 1, but must be true or false");
    let plies = "but must be two whole numbers, the lesser first, from 0 to 1000";
    assert_eq!(with("[arena]\nopening_plies = [6, 2]"), format!("line 4: arena.opening_plies is [6, 2], {plies}"));
    assert_eq!(
        with("[learn]\nfinal_learning_rate = 0.1"),
        "line 4: learn.final_learning_rate is 0.1, but must be at most learning_rate"
    );
    assert_eq!(with("[learn]\nmax_window = 9"), "line 4: learn.max_window is 9, but must be at least window");
}

#[test]
fn faults_name_the_key() {
    let game = "[game]\nname = \"mancala\"\n";
    let with = |section: &str| fault(&format!("{game}{section}"));
    assert_eq!(
        with("[learn]\nlearning_rat = 1e-3"),
        "line 4: unknown key `learn.learning_rat` (did you mean `learn.learning_rate`?)"
    );
    assert_eq!(with("[lern]\n"), "line 3: unknown key `lern` (did you mean `learn`?)");
    assert_eq!(
        with("[net]\nblocks = \"4\"\nkind = \"residual_graph\""),
        "line 4: net.blocks is \"4\", but must be a whole number from 0 to 32"
    );
    assert_eq!(fault("seed = -1\n[game]\nname = \"mancala\""), "line 1: seed is -1, but must be a whole number from 0");
    assert_eq!(
        with("[self_play]\nprecision = \"int8\""),
        "line 4: self_play.precision is \"int8\", but must be f32, i8 or auto"
    );
    assert_eq!(with("[search]\nmethod = \"uct\""), "line 4: search.method is \"uct\", but must be gumbel or puct");
    assert!(with("[net]\nkind = \"residual_mlp\"\nblocks = 3\nwidth = 0").contains("width"));
    assert_eq!(
        with("[net]\nkind = \"residual_graph\"\nchanels = 8"),
        "line 5: unknown key `net.chanels` (did you mean `net.channels`?)"
    );
    assert!(with("[net]\nkind = \"residual_mlp\"\nreach = 2").starts_with("line 5: unknown key `net.reach`"));
    assert!(with("[net]\nkind = \"residual_graph\"\nreach = 0").starts_with("line 5: net.reach is 0, but must be"));
    let kinds = "the kinds are residual_mlp, residual_graph, residual_conv";
    assert_eq!(
        with("[net]\nkind = \"conv\"\nlayers = 3"),
        format!("line 4: net.kind: there is no kind of network `conv`; {kinds}")
    );
    assert!(with("[net]\nkind = 3").contains("net.kind is 3, but must be the name of a kind of network"));
    let target = with("[learn]\ntargets = [\"endng\"]");
    assert!(target.starts_with("line 4: learn.targets: unknown target `endng`"), "{target}");
    assert!(with("[arena]\nopponents = [\"alphabeta:dept=3\"]").contains("did you mean `depth`"));
    let digits = "but must be eight hexadecimal digits, as train --from writes it";
    assert_eq!(with("[run]\nfrom = \"runs/x\""), format!("line 4: run.from is \"runs/x\", {digits}"));
    assert_eq!(fault("[game]\nname = \"mancla\""), "game: unknown game `mancla` (did you mean `mancala`?)");
    assert!(fault("[game]\nname = \"mancala\"\nstone = 4").contains("did you mean `stones`"));
    assert!(fault("[game]\nname = \"mancala\"\nstones = 0").contains("must be an integer from 1 to 21"));
    for section in ["game", "net", "search", "self_play", "learn", "arena", "run"] {
        for value in ["3", "[]", "[3]", "\"x\""] {
            let must = format!("line 1: {section} is {value}, but must be a section, [{section}]");
            assert_eq!(fault(&format!("{section} = {value}\n")), must);
        }
    }
    assert!(fault("").contains("game"));
    assert!(fault("[game").starts_with("line 1: "));
    assert!(!fault("a = \"").contains('\n'));
}

#[test]
fn openings_are_read_from_a_file_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("openings.txt");
    let position = "4,4,4,0,5,5/1 4,4,4,4,4,5/0 2";
    std::fs::write(&file, format!("# two of them\n{position}\n\n4,4,4,4,4,4/0 4,4,4,4,4,4/0 1\n")).expect("written");
    let text = |value: &str| format!("[game]\nname = \"mancala\"\n[self_play]\nopenings = {value}\n");
    let config = parse(&text(&format!("{:?}", file.display().to_string()))).expect("valid");
    assert_eq!(config.self_play.openings, [position, "4,4,4,4,4,4/0 4,4,4,4,4,4/0 1"]);
    // The run's own config has the positions, and needs no file.
    std::fs::remove_file(&file).expect("removed");
    let own = toml::to_string(&config).expect("a config is TOML");
    assert_eq!(parse(&own), Ok(config.clone()));
    assert_ne!(config.result_checksum(), parse(&text("[]")).expect("valid").result_checksum());
    assert!(!toml::to_string(&parse(&text("[]")).expect("valid")).expect("TOML").contains("openings"));

    let fault = |value: &str| parse(&text(value)).expect_err("a fault");
    assert!(fault(&format!("{:?}", file.display().to_string())).starts_with("line 4: self_play.openings: "));
    assert!(fault("[\"4,4\"]").starts_with("self_play.openings[0]: "), "{}", fault("[\"4,4\"]"));
    let over = fault("[\"0,0,0,0,0,0/24 0,0,0,0,0,0/24 1\"]");
    assert!(over.contains("the game is over"), "{over}");
    let many = format!("[{}]", vec![format!("{position:?}"); 3000].join(","));
    assert!(fault(&many).contains("at most 65536"), "{}", fault(&many));
}

/// Metrics of equal runs are equal, so opponents that play differently each time are refused.
#[test]
fn opponents_whose_play_does_not_repeat_are_refused() {
    let parsed = |opponent: &str| {
        let text = format!("[game]\nname = \"mancala\"\n[arena]\nopponents = [\"random\", '{opponent}']\n");
        parse(&text)
    };
    for varies in [
        "mcts:sims=60,threads=2",
        "mcts:sims=60,threads=0",
        "mcts:time=1s",
        "az:pretrained,sims=60,threads=2",
        "az:pretrained,time=1s",
        "alphabeta:time=1s",
        "alphabeta:depth=5,threads=2,hash=16",
        "exact:tables,time=1s",
        "engine:time=1s:program",
    ] {
        let fault = parsed(varies).expect_err(varies);
        assert!(
            fault.starts_with("line 4: arena.opponents: `") && fault.contains("plays differently each time, as"),
            "{fault}"
        );
    }
    for repeats in
        ["mcts:sims=60", "mcts:sims=60,threads=1", "alphabeta:depth=5", "exact:tables,nodes=9", "engine:nodes=9:x"]
    {
        parsed(repeats).expect(repeats);
    }
}

/// A config with one key, at its default, is the default config: every section may be filled in part.
#[test]
fn every_key_may_stand_alone() {
    let plain = parse("[game]\nname = \"mancala\"").expect("valid");
    let mut keys = 0;
    for (key, value) in plain.by_path() {
        if key.starts_with("game.") {
            continue;
        }
        let (section, name) = key.split_once('.').unwrap_or(("", &key));
        let table = Table::from_iter([(name.to_owned(), value.clone())]);
        let line = toml::to_string(&table).expect("a table");
        let text = match section {
            "" => format!("{line}[game]\nname = \"mancala\"\n"),
            _ => format!("[game]\nname = \"mancala\"\n[{section}]\n{line}"),
        };
        assert_eq!(parse(&text).expect(&text), plain, "{text}");
        assert_eq!(plain.with(&[format!("{key}={value}").parse().expect("an override")], &games()).expect(&key), plain);
        keys += 1;
    }
    assert!(keys > 50, "{keys}");
    // The keys of the other kinds of networks, beside their kind.
    for kind in ["residual_graph", "residual_conv"] {
        let whole = parse(&format!("net.kind = \"{kind}\"\n[game]\nname = \"mancala\"")).expect("valid");
        for (key, value) in whole.by_path().into_iter().filter(|(key, _)| key.starts_with("net.") && key != "net.kind")
        {
            let text = format!("net.kind = \"{kind}\"\n{key} = {value}\n[game]\nname = \"mancala\"\n");
            assert_eq!(parse(&text).expect(&text), whole, "{text}");
        }
    }
    for section in ["net", "search", "self_play", "learn", "arena", "run"] {
        assert_eq!(parse(&format!("[game]\nname = \"mancala\"\n[{section}]\n")).expect(section), plain, "{section}");
    }
}

/// Wherever the program is started, a config means the same.
#[test]
fn paths_in_a_file_are_relative_to_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("openings.txt"), "4,4,4,0,5,5/1 4,4,4,4,4,5/0 2\n").expect("writable");
    let text = "[game]\nname = \"mancala\"\n[self_play]\nopenings = \"openings.txt\"\n[arena]\n\
        opponents = [\"az:a.safetensors,sims=9,tables=t\", \"exact:solved\", \"exact\", \"az:pretrained\", \"engine::./x\"]\n";
    std::fs::write(at("a.toml"), text).expect("writable");
    let config = Config::read(&at("a.toml"), &games()).expect("valid");
    assert_eq!(config.self_play.openings.len(), 1);
    let opponents: Vec<String> = config.arena.opponents.iter().map(ToString::to_string).collect();
    let [network, tables, solved] = ["a.safetensors", "t", "solved"].map(|name| at(name).display().to_string());
    let expected = [format!("az:{network},sims=9,tables={tables}"), format!("exact:{solved}")];
    assert_eq!(opponents[..2], expected);
    assert_eq!(opponents[2..], ["exact", "az:pretrained,sims=100", "engine::./x"]);
    assert!(parse(text).expect_err("not in the working directory").contains("openings.txt"));
}

//! Tests of agents as players of games behind the object-safe interface.

use std::path::Path;

use rand::RngExt;
use turnstone_agents::{
    Agent, AgentSpec, Book, Network, PlayableGame, SearchKind, SearchRequest, SearchSettings, checkpoint_info,
    load_network,
};
use turnstone_base::checksum::crc32_text;
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, AnyState, Params, Side};
use turnstone_games::built_in;
use turnstone_models::{NetworkConfig, ResidualConv, Weights};

/// Plays a game in which every move is searched twice: without and with reports.
fn watched_and_alone(game: &dyn PlayableGame, spec: &str) {
    let agent = Agent::load(&spec.parse().expect("a spec"), game).expect("it plays this game");
    let [mut alone, mut watched] = [(); 2].map(|()| agent.search(game, 1).expect("a search"));
    let mut state = game.start();
    for search in [&mut alone, &mut watched] {
        search.new_game(0, &state, stream(1, Purpose::Play, [0, 0]));
    }
    for _ in 0..12 {
        let action = alone.choose(0, &state).expect("an action");
        let mut last = None;
        let request = SearchRequest::default().with_reports();
        let watched_action = watched.choose_within(0, &state, request, &mut |info| last = Some(info.clone()));
        assert_eq!(watched_action, Ok(action), "{spec}");
        let last = last.expect("a report");
        assert_eq!(last.line[0], action, "{spec}");
        let sum: f32 = last.score.map_or(1.0, |score| score.win_draw_loss.iter().sum());
        assert!((sum - 1.0).abs() < 1e-5, "{spec}: {last:?}");
        game.play(&mut state, action);
        alone.played(0, action);
        watched.played(0, action);
        if game.outcome(&state).is_some() {
            return;
        }
    }
}

#[test]
fn a_progress_report_does_not_change_the_moves() {
    let [mancala, mu_torere] =
        ["mancala", "mu_torere"].map(|name| built_in().make(name, &Params::new()).expect("a game"));
    for spec in [
        "random",
        "minimax:depth=4",
        "alphabeta:depth=6",
        "alphabeta:depth=6,hash=1",
        "alphabeta:nodes=3000,hash=1",
        "breadthfirst:depth=3",
        "bestfirst:nodes=500",
        "mcts:sims=70",
    ] {
        watched_and_alone(&*mancala, spec);
    }
    for spec in [
        "az:pretrained,sims=30",
        "az:pretrained,sims=30,method=puct",
        "az:pretrained,sims=0",
        "az:pretrained,sims=30,precision=i8",
    ] {
        watched_and_alone(&*mu_torere, spec);
    }
}

/// Plays a few moves and returns what the agent said of each.
fn comments(game: &dyn PlayableGame, agent: &Agent) -> Vec<String> {
    let mut search = agent.search(game, 1).expect("a search");
    let mut state = game.start();
    search.new_game(0, &state, stream(1, Purpose::Play, [0, 0]));
    let mut said = Vec::new();
    for _ in 0..6 {
        let action = search.choose(0, &state).expect("an action");
        said.push(format!("{} {}", game.action_text(&state, action), search.comment(0).unwrap_or_default()));
        game.play(&mut state, action);
        search.played(0, action);
    }
    said
}

#[test]
fn integers_predict_what_floats_do() {
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    let agent = |precision: &str| {
        let spec = format!("az:pretrained,sims=40,precision={precision}").parse().expect("a spec");
        Agent::load(&spec, &*game).expect("an agent comes with the program")
    };
    let [floats, integers, automatic] = ["f32", "i8", "auto"].map(agent);
    assert_eq!(comments(&*game, &integers), comments(&*game, &integers.clone()));
    assert_eq!(comments(&*game, &integers), comments(&*game, &agent("i8")), "quantised anew");
    assert_ne!(comments(&*game, &integers), comments(&*game, &floats));
    let best = if turnstone_models::Precision::Auto.is_quantised() { &integers } else { &floats };
    assert_eq!(comments(&*game, &automatic), comments(&*game, best));
    let [mut one, mut other] = [&floats, &integers].map(|agent| agent.search(&*game, 1).expect("a search"));
    let (mut state, mut plies) = (game.start(), 0);
    one.new_game(0, &state, stream(1, Purpose::Play, [0, 0]));
    while game.outcome(&state).is_none() {
        let [a, b] = [&mut one, &mut other].map(|search| {
            let found = search.predict(&state).expect("no GPU").expect("a network");
            found.evaluation.win_draw_loss(game.mover(&state))
        });
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.1), "ply {plies}: {a:?} {b:?}");
        assert!((b.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let action = one.choose(0, &state).expect("an action");
        game.play(&mut state, action);
        one.played(0, action);
        plies += 1;
    }
    assert!(plies > 10);
}

#[test]
fn a_network_is_played_with_the_search_that_it_was_trained_with() {
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    let trained_with = |search: &SearchSettings| {
        let mut network = load_network(Path::new("pretrained"), &*game).expect("an agent comes with the program");
        network.info.extra = checkpoint_info(&*game, &network.info.network, search, 1).extra;
        assert_eq!(network.search_settings(), *search);
        network
    };
    let spec = |text: &str| {
        let spec: AgentSpec = text.parse().expect("a spec");
        spec.settings::<Network>().expect("a network's spec").search.clone()
    };
    let puct = SearchSettings { method: SearchKind::Puct, c_puct: 3.0, ..SearchSettings::default() };
    let gumbel = SearchSettings { c_scale: 0.1, ..SearchSettings::default() };
    let played = |search: &SearchSettings, options: &str| {
        comments(&*game, &Agent::from_network(trained_with(search), "x", 40, spec(&format!("az:x{options}"))))
    };
    let [by_puct, by_gumbel] = [played(&puct, ""), played(&gumbel, "")];
    assert_ne!(by_puct, by_gumbel);
    assert_eq!(by_puct, played(&gumbel, ",method=puct,c_puct=3"), "a spec overrides the checkpoint");
    assert_eq!(by_gumbel, played(&puct, ",method=gumbel,c_scale=0.1"));
    assert_ne!(by_puct, played(&puct, ",c_puct=0.2"));
    assert_ne!(by_gumbel, played(&gumbel, ",c_scale=5"));
    let proving = SearchSettings { proof_nodes: 2000, ..puct };
    let by_proofs = played(&proving, "");
    assert_ne!(by_proofs, by_puct);
    assert_eq!(by_proofs, played(&puct, ",proof_nodes=2000"));
    assert_eq!(by_puct, played(&proving, ",proof_nodes=0"));
}

#[test]
fn a_checkpoint_cannot_ask_for_more_proofs_than_a_spec() {
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    let mut network = load_network(Path::new("pretrained"), &*game).expect("an agent comes with the program");
    let search = SearchSettings { proof_nodes: u32::MAX, ..SearchSettings::default() };
    network.info.extra = checkpoint_info(&*game, &network.info.network, &search, 1).extra;
    assert_eq!(network.search_settings().proof_nodes, 0);
    assert!("az:x,proof_nodes=100001".parse::<AgentSpec>().is_err());
}

/// Games of an agent as one side against random moves, in some seats, which begin at different times. Returns the actions of
/// each.
fn games_at_once(game: &dyn PlayableGame, agent: &Agent, games: usize, seats: usize) -> Vec<Vec<Action>> {
    struct Seat {
        number: usize,
        state: AnyState,
        others: Stream,
    }
    let mut search = agent.search(game, seats).expect("a search");
    let (mut begun, mut all) = (0, vec![Vec::new(); games]);
    let mut playing: Vec<Option<Seat>> = (0..seats).map(|_| None).collect();
    let mut done = Vec::new();
    loop {
        for (i, place) in playing.iter_mut().enumerate() {
            if place.is_none() && begun < games {
                let [rng, others] = [0, 1].map(|stream_of| stream(1, Purpose::Match, [begun as u64, stream_of]));
                search.new_game(i, &game.start(), rng);
                *place = Some(Seat { number: begun, state: game.start(), others });
                begun += 1;
                done.push((i, None));
                break; // one game begins per batch
            }
        }
        while let Some((i, chosen)) = done.pop() {
            let Some(Seat { number, state, others }) = &mut playing[i] else { panic!("a game in this seat") };
            let mut next: Option<Action> = chosen;
            loop {
                if let Some(action) = next.take() {
                    game.play(state, action);
                    search.played(i, action);
                    all[*number].push(action);
                }
                if game.outcome(state).is_some() || all[*number].len() == 40 {
                    playing[i] = None;
                    break;
                }
                if game.mover(state) == side(*number) {
                    search.begin(i, state, SearchRequest::default());
                    break;
                }
                next = Some(random(game, state, others));
            }
        }
        if begun == games && playing.iter().all(Option::is_none) {
            return all;
        }
        let chosen = search.advance(&mut |_, _| ()).expect("no GPU").into_iter();
        done.extend(chosen.map(|(i, action)| (i, Some(action.expect("an action")))));
    }
}

fn side(number: usize) -> Side {
    if number.is_multiple_of(2) { Side::First } else { Side::Second }
}

fn random(game: &dyn PlayableGame, state: &AnyState, rng: &mut Stream) -> Action {
    let legal = game.legal_actions(state);
    legal[rng.random_range(0..legal.len())]
}

#[test]
fn seats_play_the_moves_of_one_after_the_other() {
    let games = ["mancala", "mu_torere"].map(|name| built_in().make(name, &Params::new()).expect("a game"));
    for game in &games {
        for spec in [
            "az:pretrained,sims=24",
            "az:pretrained,sims=33,method=puct,draw=0.2",
            "az:pretrained,sims=9,precision=i8",
            "az:pretrained,sims=9,temperature=0.7",
            "az:pretrained,sims=0",
            "az:pretrained,sims=0,temperature=0.5",
            "mcts:sims=20",
            "alphabeta:nodes=500,hash=1",
            "exact",
            "random",
        ] {
            if spec == "exact" && game.name() == "mancala" {
                continue; // without tables it searches for long
            }
            let agent = Agent::load(&spec.parse().expect("a spec"), &**game).expect("it plays this game");
            let alone: Vec<_> = (1..=7).map(|games| games_at_once(&**game, &agent, games, 1).pop()).collect();
            assert!(alone.iter().flatten().all(|actions| actions.len() > 4));
            for seats in [1, 3, 7] {
                let found = games_at_once(&**game, &agent, 7, seats).into_iter().map(Some);
                assert_eq!(found.collect::<Vec<_>>(), alone, "{spec} in {seats} seats");
            }
        }
    }
}

#[test]
fn a_seat_that_is_told_of_the_moves_keeps_its_tree() {
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    for spec in ["az:pretrained,sims=40,method=puct", "mcts:sims=40"] {
        let agent = Agent::load(&spec.parse().expect("a spec"), &*game).expect("it plays this game");
        let mut search = agent.search(&*game, 2).expect("a search");
        let visits = [true, false].map(|is_told| {
            let seat = usize::from(is_told);
            let mut state = game.start();
            search.new_game(seat, &state, stream(1, Purpose::Play, [0, 0]));
            let action = search.choose(seat, &state).expect("an action");
            game.play(&mut state, action);
            if is_told {
                search.played(seat, action);
            }
            search.choose(seat, &state).expect("an action");
            search.analysis(seat).expect("a tree").visits
        });
        assert!(visits[0] > 45 && visits[1] == 40, "{spec}: {visits:?}");
    }
}

#[test]
fn memory_and_clocks_bound_the_seats() {
    let game = built_in().make("mu_torere", &Params::new()).expect("a game");
    for (spec, most, is_batched) in [
        ("random", usize::MAX, false),
        ("exact", usize::MAX, false),
        ("az:pretrained,sims=0", usize::MAX, true),
        ("az:pretrained,sims=0,temperature=0.5", usize::MAX, true),
        ("az:pretrained,sims=100", 10_485, true),
        ("az:pretrained,sims=10000000", 1, false),
        ("az:pretrained,time=1s", 1, false),
        ("mcts:sims=1024", 1024, false),
        ("mcts:time=1s", 1, false),
        ("alphabeta:depth=4", usize::MAX, false),
        ("alphabeta:nodes=1000", 4, false),
        ("alphabeta:depth=4,hash=300", 1, false),
        ("alphabeta:time=1s", 1, false),
        ("engine::nothing", 1, false),
    ] {
        let agent = Agent::load(&spec.parse().expect("a spec"), &*game).expect("it plays this game");
        let search = agent.unstarted_search(&*game, 2).expect("a search");
        assert_eq!((search.most_seats(), search.is_batched()), (most, is_batched), "{spec}");
    }
}

/// Faults that would end a match at its first move, or a run at its first match.
#[test]
fn a_network_that_cannot_run_as_its_spec_says_is_refused_on_loading() {
    let game = built_in().make("konane", &Params::new().with("size", 6)).expect("a game");
    let network = NetworkConfig::from(ResidualConv { blocks: 0, channels: 2, global_pooling: false });
    let info = checkpoint_info(&*game, &network, &SearchSettings::default(), 0);
    let weights = Weights::random(&network.layout(&info.shape).expect("a small network"), 1);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("conv.safetensors");
    turnstone_models::save(&file, &info, &weights).expect("writable");
    let load = |options: &str| {
        let spec = format!("az:{},{options}", file.display());
        let spec = spec.parse().map_err(|fault: turnstone_agents::AgentError| fault.to_string())?;
        Agent::load(&spec, &*game).map(drop).map_err(|fault| fault.to_string())
    };
    assert_eq!(["auto", "i8", "f32"].map(|name| load(&format!("precision={name}"))), [(); 3].map(Ok));
    let fault = load("precision=i8,device=gpu").expect_err("a GPU has no integers");
    assert!(fault.starts_with("agent `az:") && fault.contains("are for the processor"), "{fault}");
    let fault = load("device=gpu:999999").expect_err("there is no such GPU");
    assert!(fault.starts_with("agent `az:") && fault.contains("gpu") && !fault.contains('\n'), "{fault}");
}

/// An agent with a book plays its moves, and its own elsewhere; a book of another network or game is refused.
#[test]
fn books_of_corrections_are_played_and_checked() {
    let game = built_in().make("mu_torere", &Params::new()).expect("a game");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("corrections.book");
    let network = load_network(Path::new("pretrained"), &*game).expect("it comes with the program");
    let load = |game: &dyn PlayableGame, sims: u32| {
        Agent::load(&format!("az:pretrained,sims={sims},book={}", path.display()).parse().expect("a spec"), game)
    };
    let chosen = |agent: &Agent, state: &AnyState| {
        let mut search = agent.search(&*game, 1).expect("a search");
        search.new_game(0, state, stream(1, Purpose::Play, [0, 0]));
        let action = search.choose(0, state).expect("a move");
        (action, search.comment(0).expect("a comment"))
    };
    let mut state = game.start();
    game.play_text(&mut state, "0,4 1,0").expect("legal");
    let own = Agent::load(&"az:pretrained,sims=8".parse().expect("a spec"), &*game).expect("it plays");
    let other = *game.legal_actions(&state).iter().find(|action| **action != chosen(&own, &state).0).expect("another");
    // The counts of plies of the book's position do not matter if it is endless.
    for endless in [false, true] {
        let mut book = Book::new(&*game, &network, endless);
        let key = if endless { game.without_counters(&state) } else { state.clone() };
        book.moves.push((key, other));
        std::fs::write(&path, book.to_text(&*game)).expect("writable");
        assert_eq!(Book::read(&path, None, &*game, &network).expect("sound").moves, book.moves);
        for sims in [0, 8] {
            let agent = load(&*game, sims).expect("its own book");
            assert_eq!(chosen(&agent, &state), (other, "by the book".to_owned()));
            assert_ne!(chosen(&agent, &game.start()).1, "by the book");
        }
        let fresh = game.without_counters(&state);
        let agent = load(&*game, 8).expect("its own book");
        assert_eq!(chosen(&agent, &fresh).1 == "by the book", endless);
    }
    let text = std::fs::read_to_string(&path).expect("written");
    let fault = |text: &str| Book::parse(text, &*game, &network).expect_err("a fault");
    let (header, moves) = text.split_once('\n').expect("a header");
    let sealed = |moves: &str| {
        header
            .replace(&crc32_text(text.split_once('\n').expect("a header").1.as_bytes()), &crc32_text(moves.as_bytes()))
            + "\n"
            + moves
    };
    assert_eq!(sealed(moves), text);
    assert!(fault("").starts_with("its first line is no header"));
    assert!(fault(&text.replace("\"turnstone_book\":1", "\"turnstone_book\":2")).contains("version 2"));
    assert!(fault(&format!("{text}\n")).contains("checksum"));
    assert!(fault(&text.replace("\"max_plies\":\"100\"", "\"max_plies\":\"50\"")).contains("max_plies=50"));
    assert!(fault(&sealed(&moves.repeat(2))).contains("line 3: the position has a move already"));
    assert!(fault(&sealed(&moves.replace(" ; ", " "))).contains("line 2: expected"));
    assert!(fault(&sealed(&format!("{} ; 3,4\n", game.position_text(&game.start())))).contains("line 2: "));
    let [weights, _] = network.checksums();
    assert_eq!(fault(&text.replace(&weights, "00000000")), "it is a book of another network");
    let mancala = built_in().make("mancala", &Params::new()).expect("a game");
    let foreign = load(&*mancala, 8).expect_err("another game").to_string();
    assert!(foreign.contains("corrections.book: it is a book of another network"), "{foreign}");
}

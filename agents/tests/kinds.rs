//! A kind of agents of one's own: it is read, listed and played like the built-in ones.

use std::sync::Arc;

use turnstone_agents::{
    Agent, AgentError, AgentKind, AgentSpec, Chooser, OnReport, OneByOne, PlayableGame, Search, SearchInfo,
    SearchRequest, Setup, agent_kinds, register_agent, settings,
};
use turnstone_base::settings::Setting;
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{AnyState, Params};
use turnstone_games::built_in;

settings! {
    /// A legal move by its place in the list.
    #[derive(Clone, Debug)]
    struct Fixed {
        /// Legal moves to skip.
        skip: u32 = 0, 0..=3;
    }
}

impl AgentKind for Fixed {
    const NAME: &'static str = "fixed";

    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        match game.name() {
            "konane" => Err("it is not for Konane".to_owned().into()),
            _ => Ok(Box::new(OneByOne::new(Player(game.shared(), self.skip as usize), usize::MAX))),
        }
    }
}

struct Player(Arc<dyn PlayableGame>, usize);

impl Chooser for Player {
    fn choose(&mut self, state: &AnyState, _: &SearchRequest, _: &mut Stream, _: &mut OnReport<'_>) -> SearchInfo {
        SearchInfo::of_action(self.0.legal_actions(state)[self.1])
    }
}

#[test]
fn a_kind_of_ones_own_is_read_listed_and_played() {
    register_agent::<Fixed>();
    register_agent::<Fixed>(); // again is no fault
    for spec in ["fixed", "fixed:skip=2"] {
        assert_eq!(spec.parse::<AgentSpec>().expect("a spec").to_string(), spec);
    }
    let fault = |spec: &str| spec.parse::<AgentSpec>().expect_err("a fault").to_string();
    assert_eq!(fault("fixed:skip=4"), "agent `fixed:skip=4`: skip is 4, but must be a whole number from 0 to 3");
    assert_eq!(fault("fixed:skp=1"), "agent `fixed:skp=1`: unknown key `skp` (did you mean `skip`?)");
    assert_eq!(fault("fixd"), "agent `fixd`: unknown agent (did you mean `fixed`?)");
    let mut listed = agent_kinds().into_iter().find(|kind| kind.name == "fixed").expect("it is listed");
    let option = &listed.options()[0];
    assert_eq!((option.name(), option.help()), ("skip", "Legal moves to skip"));
    assert_eq!(option.expected(), "a whole number from 0 to 3");

    let game = |name| built_in().make(name, &Params::new()).expect("a game");
    let agent = |spec: &str, game| Agent::load(&spec.parse().expect("a spec"), game);
    let mancala = game("mancala");
    let mut search = agent("fixed:skip=2", &*mancala).and_then(|agent| agent.search(&*mancala, 4)).expect("a search");
    let start = mancala.start();
    search.new_game(3, &start, stream(1, Purpose::Play, [0, 0]));
    assert_eq!(search.choose(3, &start), Ok(mancala.legal_actions(&start)[2]));
    let konane = game("konane");
    let fault = agent("fixed", &*konane).and_then(|agent| agent.search(&*konane, 1)).err().expect("a fault");
    assert_eq!(fault.to_string(), "agent `fixed`: it is not for Konane");
}

#[test]
#[should_panic(expected = "there is an agent `random` already")]
fn the_name_of_another_kind_is_refused() {
    settings! {
        /// Something else.
        #[derive(Clone, Debug)]
        struct Random {}
    }

    impl AgentKind for Random {
        const NAME: &'static str = "random";

        fn search(&self, _: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
            Err("never".to_owned().into())
        }
    }

    register_agent::<Random>();
}

/// Options are listed as the built-in kinds read them, so that help cannot differ from what is read.
#[test]
fn the_options_of_built_in_kinds_are_listed() {
    let options = |name: &str| -> Vec<&str> {
        let mut kind = agent_kinds().into_iter().find(|kind| kind.name == name).expect("a kind");
        kind.options().iter().map(Setting::name).collect()
    };
    assert_eq!(options("random"), [""; 0]);
    assert_eq!(options("alphabeta"), ["depth", "nodes", "time", "hash", "heuristic", "threads"]);
    assert_eq!(options("exact"), ["error", "nodes", "time"]);
    assert_eq!(options("engine"), ["time", "nodes", "depth", "patience"]);
    for name in ["sims", "method", "c_puct", "precision", "device", "temperature", "tables"] {
        assert!(options("az").contains(&name), "{name}");
    }
}

//! Many envs at once: the same games as one at a time, on any number of threads.

use turnstone_env::games::{self, Mancala, MuTorere};
use turnstone_env::{
    Action, AnyState, AutoReset, DynGame, Erased, Notation, Params, Rules, Side, Spec, VecBuffers, VecEnv, make,
    make_vec,
};

#[test]
fn agrees_with_single_envs() {
    for name in games::names() {
        let params = Params::new();
        let (envs, mut actions) = (5, Vec::new());
        let mut vec_env = make_vec(name, &params, envs, 2).expect("valid");
        let mut single: Vec<_> = (0..envs).map(|_| make(name, &params).expect("valid")).collect();
        let mut steps: Vec<_> = single.iter_mut().map(|env| env.reset(None)).collect();
        let (tensor, mask) = (vec_env.spec().tensor_len(), vec_env.spec().actions);
        vec_env.reset(Some(9));
        for _ in 0..300 {
            vec_env.sample(&mut actions);
            let batch = vec_env.step(&actions).expect("sampled actions are legal");
            for (i, env) in single.iter_mut().enumerate() {
                steps[i] = env.step(actions[i]).expect("the same action is legal");
                assert_eq!(batch.rewards[i], steps[i].rewards, "{name}");
                let ended = (batch.terminated[i], batch.truncated[i], batch.outcomes[i]);
                assert_eq!(ended, (steps[i].terminated, steps[i].truncated, env.outcome()), "{name}");
                if env.outcome().is_some() {
                    steps[i] = env.reset(None);
                }
                assert_eq!(batch.observations[i * tensor..(i + 1) * tensor], steps[i].observation, "{name}");
                assert_eq!(batch.masks[i * mask..(i + 1) * mask], steps[i].mask, "{name}");
                assert_eq!(batch.movers[i], steps[i].mover, "{name}");
            }
        }
    }
}

#[test]
fn threads_do_not_change_results() {
    for name in games::names() {
        let run = |threads| {
            let mut envs = make_vec(name, &Params::new(), 7, threads).expect("valid");
            let (mut actions, mut trace) = (Vec::new(), Vec::new());
            envs.reset(Some(3));
            for _ in 0..100 {
                envs.sample(&mut actions);
                let batch = envs.step(&actions).expect("sampled actions are legal");
                trace.push((
                    actions.clone(),
                    batch.observations.to_vec(),
                    batch.masks.to_vec(),
                    batch.outcomes.to_vec(),
                ));
            }
            trace
        };
        let alone = run(1);
        assert!([2, 3, 7, 20].into_iter().all(|threads| run(threads) == alone), "{name}");
    }
}

#[test]
fn a_seed_restarts_every_stream() {
    let mut envs = VecEnv::new(Mancala::default(), 16);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    envs.reset(Some(1));
    envs.sample(&mut first);
    envs.reset(Some(1));
    envs.sample(&mut second);
    assert_eq!(first, second);
    assert!(first.iter().any(|action| *action != first[0]), "every env has a stream of its own");
    envs.reset(None);
    let next: Vec<Vec<Action>> = (0..3)
        .map(|_| {
            envs.sample(&mut first);
            first.clone()
        })
        .collect();
    assert!(next.iter().any(|actions| *actions != second), "without a seed the streams go on");
}

#[test]
fn an_illegal_action_is_named_and_nothing_is_stepped() {
    let mut envs = VecEnv::new(MuTorere::default(), 3);
    let [good, bad] = ["0,4", "1,4"]
        .map(|text| MuTorere::default().parse_action(&MuTorere::default().start(), text).expect("an action"));
    let before: Vec<_> = (0..3).map(|env| envs.state(env)).collect();
    let observations = envs.batch().observations.to_vec();
    let error = envs.step(&[good, good, bad]).expect_err("player 2's piece stands there").to_string();
    assert!(error.starts_with("env 2: ") && error.contains("0,4 2,4 6,4 8,4"), "{error}");
    let error = envs.step(&[good, Action(u16::MAX), bad]).expect_err("there is no such action").to_string();
    assert!(error.starts_with("env 1: "), "{error}");
    assert_eq!(envs.step(&[good]).expect_err("one of three").to_string(), "1 actions for 3 envs");
    assert!((0..3).all(|env| envs.state(env) == before[env]));
    assert_eq!(envs.batch().observations, observations);
}

#[test]
fn a_game_that_ends_starts_anew_in_the_same_step() {
    let game = MuTorere { max_plies: 2, ..MuTorere::default() };
    let mut envs = VecEnv::new(game, 1);
    let [first, second] = ["0,4", "1,0"].map(|text| game.parse_action(&game.start(), text).expect("an action"));
    assert!(!envs.step(&[first]).expect("legal").truncated[0]);
    assert_eq!(envs.final_state(0), None);
    let batch = envs.step(&[second]).expect("legal");
    assert!(batch.truncated[0] && !batch.terminated[0] && batch.outcomes[0].is_some());
    assert_eq!((batch.rewards[0], batch.movers[0]), ([0.0; 2], Side::First));
    assert_eq!(envs.state(0), AnyState::new(game.start()));
    let last = envs.final_state(0).map(|state| game.position_text(state.of()));
    assert_eq!(last.as_deref(), Some("201212121 1 2"));
    let batch = envs.step(&[first]).expect("legal");
    assert!(!batch.truncated[0] && batch.outcomes[0].is_none(), "flags hold for one step");
}

#[test]
fn envs_draw_their_boards() {
    for name in games::names() {
        let mut env = make(name, &Params::new()).expect("valid");
        env.reset(Some(2));
        assert!(env.last_action().is_none());
        let action = env.sample();
        env.step(action).expect("a sampled action is legal");
        assert!(env.last_action() == Some(action) && !env.render().is_empty());
    }
}

#[test]
fn a_game_that_ends_starts_anew_in_the_next_step_or_never() {
    let game = MuTorere { max_plies: 2, ..MuTorere::default() };
    let [first, second] = ["0,4", "1,0"].map(|text| game.parse_action(&game.start(), text).expect("an action"));
    for mode in [AutoReset::NextStep, AutoReset::Disabled] {
        let (mut batch, mut row) = (Erased::new(game).game_batch(1, 1, mode), row());
        batch.step(&[first], &mut row.buffers()).expect("legal");
        batch.step(&[second], &mut row.buffers()).expect("legal");
        assert!(row.truncated[0] && !row.terminated[0] && batch.outcome(0).is_some());
        assert_eq!(game.position_text(batch.state(0).of()), "201212121 1 2", "the last position is seen");
        let mut sampled = Vec::new();
        batch.sample(&mut sampled);
        let next = batch.step(&sampled, &mut row.buffers());
        if mode == AutoReset::NextStep {
            next.expect("the action is ignored");
            assert_eq!(
                (batch.state(0), row.truncated[0], batch.outcome(0)),
                (AnyState::new(game.start()), false, None)
            );
            assert_eq!(row.masks.iter().filter(|&&legal| legal).count(), 4, "those of the start");
        } else {
            assert_eq!(next.expect_err("it is over").to_string(), "env 0: action `0,1`: the game is over");
            assert!(row.masks.iter().all(|legal| !legal));
            batch.reset(None, &|env| env != 0, &mut row.buffers());
            assert!(batch.outcome(0).is_some(), "only the envs that are named are reset");
            batch.reset(None, &|env| env == 0, &mut row.buffers());
            assert_eq!((batch.state(0), batch.outcome(0)), (AnyState::new(game.start()), None));
        }
    }
    let (mut batch, mut row) = (Erased::new(game).game_batch(1, 1, AutoReset::NextStep), row());
    batch.step(&[first], &mut row.buffers()).expect("legal");
    batch.step(&[second], &mut row.buffers()).expect("legal");
    assert!(row.masks.iter().all(|&legal| legal), "any action is accepted");
}

#[test]
fn games_start_at_positions_whatever_the_threads() {
    let game = Mancala::default();
    let any = Erased::new(game);
    let after = |&action: &Action| {
        let mut state = any.start();
        any.play(&mut state, action);
        state
    };
    let states: Vec<AnyState> = any.legal_actions(&any.start()).iter().map(after).collect();
    let run = |threads: usize| {
        let mut rows = Rows::new(&game.spec(), 5);
        let mut batch = Erased::new(game).game_batch(5, threads, AutoReset::Disabled);
        batch.reset(Some(1), &|_| true, &mut rows.buffers());
        batch.set(&[None, Some(states[1].clone()), None, None, Some(states[4].clone())], &mut rows.buffers());
        let found: Vec<AnyState> = (0..5).map(|env| batch.state(env)).collect();
        (found, rows)
    };
    let start = AnyState::new(game.start());
    let expected = [start.clone(), states[1].clone(), start.clone(), start, states[4].clone()];
    assert_eq!(run(1).0, expected);
    assert_eq!(run(1), run(2));
    let (_, rows) = run(3);
    let of = |state: &AnyState| u8::from(any.mover(state) == Side::Second);
    assert_eq!(rows.movers, expected.iter().map(of).collect::<Vec<_>>());
}

#[test]
#[should_panic(expected = "observations")]
fn buffers_of_another_length_are_refused() {
    let (mut batch, mut row) = (Erased::new(MuTorere::default()).game_batch(2, 2, AutoReset::SameStep), row());
    batch.reset(Some(1), &|_| true, &mut row.buffers());
}

/// Buffers for several envs.
#[derive(Clone, PartialEq, Debug)]
struct Rows {
    observations: Vec<f32>,
    masks: Vec<bool>,
    rewards: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    movers: Vec<u8>,
}

impl Rows {
    fn new(spec: &Spec, envs: usize) -> Self {
        Self {
            observations: vec![0.0; envs * spec.tensor_len()],
            masks: vec![false; envs * spec.actions],
            rewards: vec![0.0; 2 * envs],
            terminated: vec![false; envs],
            truncated: vec![false; envs],
            movers: vec![0; envs],
        }
    }

    fn buffers(&mut self) -> VecBuffers<'_> {
        let Self { observations, masks, rewards, terminated, truncated, movers } = self;
        VecBuffers { observations, masks, rewards, terminated, truncated, movers }
    }
}

/// Buffers for one env of Mu Torere.
fn row() -> Rows {
    Rows::new(&MuTorere::default().spec(), 1)
}

//! A scripted policy against a random one in Mancala: it takes the action after which its store leads most, and of equal
//! ones the first, looking one ply ahead through the environment alone.
//!
//! `cargo run --release -p turnstone-env --example greedy_store`

use turnstone_env::{Action, Env, Error, Params, Side, make};

const GAMES: u64 = 1000;

fn main() -> Result<(), Error> {
    let (mut env, mut trial) = (make("mancala", &Params::new())?, make("mancala", &Params::new())?);
    let mut results = [0; 3];
    for game in 0..GAMES {
        let greedy = if game % 2 == 0 { Side::First } else { Side::Second };
        let mut step = env.reset(Some(game));
        while !step.terminated {
            let action = if step.mover == greedy { greedy_action(&env, &mut trial, greedy)? } else { env.sample() };
            step = env.step(action)?;
        }
        results[(1.0 - step.rewards[greedy.index()]) as usize] += 1;
    }
    let [won, drawn, lost] = results;
    println!("greedy against random: {won} won, {drawn} drawn, {lost} lost");
    Ok(())
}

fn greedy_action(env: &Env, trial: &mut Env, side: Side) -> Result<Action, Error> {
    let spec = env.spec();
    let area = spec.lattice[0] * spec.lattice[1];
    let scalar = spec.scalars.iter().position(|name| name == "store difference / 16").expect("Mancala has this plane");
    let plane = spec.point_planes.len() + scalar;
    let mut best = None;
    for &action in env.legal() {
        trial.reset_to(&env.position(), None)?;
        let after = trial.step(action)?;
        // An observation is the mover's view, and the action may have earned another turn.
        let lead = after.observation[plane * area] * if after.mover == side { 1.0 } else { -1.0 };
        if best.is_none_or(|(_, most)| lead > most) {
            best = Some((action, lead));
        }
    }
    Ok(best.expect("the game is running, so there is a legal action").0)
}

//! Plays uniformly random games of any game, one alone and many side by side, and counts the results.
//!
//! `cargo run --release -p turnstone-env --example random_policy -- konane size=6`

use turnstone_env::{Params, Side, make, make_vec};

const ENVS: usize = 256;
const STEPS: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "mancala".to_owned());
    let mut params = Params::new();
    for argument in arguments {
        let (key, value) = argument.split_once('=').ok_or("parameters are given as key=value")?;
        params.set(key, value);
    }

    // One game, shown to its end.
    let mut env = make(&name, &params)?;
    let mut step = env.reset(Some(1));
    while !step.terminated && !step.truncated {
        let action = env.sample();
        step = env.step(action)?;
    }
    println!("{}", env.render());
    println!("rewards of players 1 and 2: {:?}\n", step.rewards);

    // Many games; each starts anew in the step in which it ends.
    let mut envs = make_vec(&name, &params, ENVS, 1)?;
    let (mut actions, mut first, mut second, mut drawn) = (Vec::new(), 0, 0, 0);
    envs.reset(Some(1));
    for _ in 0..STEPS {
        envs.sample(&mut actions);
        for outcome in envs.step(&actions)?.outcomes.iter().flatten() {
            match outcome.winner {
                Some(Side::First) => first += 1,
                Some(Side::Second) => second += 1,
                None => drawn += 1,
            }
        }
    }
    println!("{name}: player 1 won {first}, player 2 won {second}, drawn {drawn}");
    Ok(())
}

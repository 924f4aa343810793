//! The target `ending` against the rules.

#![cfg(feature = "program")]

use own_game::{ConnectFour, Ending};
use turnstone_env::{Notation, Rules};
use turnstone_search::Evaluation;
use turnstone_trainer::targets::{Shard, target_of};

#[test]
fn the_target_is_the_last_position_as_each_mover_sees_it() {
    let (game, spec) = (ConnectFour, ConnectFour.spec());
    // The first player wins, then the second.
    for moves in ["4 4 3 3 2 2 1", "1 4 1 4 2 4 2 4"] {
        let (mut state, mut shard) = (game.start(), Shard::new(1, spec.features()));
        let (mut features, mut movers, mut last) = (vec![0.0; spec.features()], Vec::new(), String::new());
        for text in moves.split(' ') {
            game.observe(&state, &mut features);
            movers.push(game.mover(&state));
            shard.push(&features, [(0, 1.0)].into_iter(), game.mover(&state), Evaluation::default());
            last = game.position_text(&state);
            let action = game.parse_action(&state, text).expect("legal");
            game.play(&mut state, action);
        }
        shard.finish_game(&game.outcome(&state).expect("the game is over"));
        let content = |cell: char| f32::from(u8::from(cell == 'X')) - f32::from(u8::from(cell == 'O'));
        for (ply, mover) in movers.into_iter().enumerate() {
            let cells = last.chars().filter(|&cell| cell != '/').map(|cell| mover.sign() * content(cell));
            assert_eq!(target_of::<Ending>(&spec, &shard, ply), Some(cells.collect()), "{moves}, ply {ply}");
        }
    }
}

//! What `engine.py` reads from OpenSpiel's states, which differs between its versions. `check.py` plays whole games in the
//! package itself.

use std::process::Command;

use super::{FRONTENDS, texts};

/// Texts of the state after player 1's fourth pit was sown, then a state in which the stores are not equal.
#[test]
fn states_of_open_spiel_are_read_in_the_texts_of_every_version() {
    let program = r"
import sys, types
sys.dont_write_bytecode = True
sys.modules['pyspiel'] = types.ModuleType('pyspiel')
sys.path.insert(0, sys.argv[1] + '/open_spiel')
from engine import Mancala

class State:
    def __init__(self, text, player):
        self.text, self.player = text, player
    def __str__(self):
        return self.text
    def current_player(self):
        return self.player

board = '-4-4-4-4-4-4-\n0-----------1\n-4-4-4-0-5-5-'
late = '-0-1-0-0-12-0-\n10-----------22\n-1-0-2-0-0-0-'
for text, player in [(board, 1), (late, 0)]:
    for lines in ['', '\n', f'\nCurrent player: {player}\nMove number: 1\n']:
        state = State(text + lines, player)
        print(Mancala.position(state), Mancala.evaluation(state))
";
    let (out, _) = texts(Command::new("python3").args(["-c", program, FRONTENDS]));
    let early = "4,4,4,0,5,5/1 4,4,4,4,4,4/0 2 0.020833333333333332\n";
    let late = "1,0,2,0,0,0/22 0,1,0,0,12,0/10 1 0.25\n";
    assert_eq!(out, early.repeat(3) + &late.repeat(3));
}

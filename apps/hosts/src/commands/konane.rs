//! `turnstone-hosts konane`: the moves of Pyro's Konane player as command strings.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use turnstone_env::games::Konane as Game;
use turnstone_env::{Notation, Rules as _, Side, play_text};

use crate::konane::{Board, format_move, get_empties, move_generator};
use crate::output::print;

#[derive(Args, Debug)]
pub(super) struct Konane {
    #[command(subcommand)]
    function: Function,
}

#[derive(Subcommand, Debug)]
enum Function {
    /// moveGenerator: the possible moves of either side
    Moves(BoardArgs),
    /// getEmpties: the empty cells
    Empties(BoardArgs),
}

#[derive(Args, Debug)]
struct BoardArgs {
    /// Position to start from, in the game's notation [default: the start of the game]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Actions to play from there, separated by spaces
    #[arg(long, value_name = "ACTIONS", default_value = "", hide_default_value = true)]
    moves: String,
    /// Side, X or O [default: the mover]
    #[arg(long)]
    side: Option<Piece>,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum, Debug)]
enum Piece {
    #[value(name = "X", alias = "x")]
    X,
    #[value(name = "O", alias = "o")]
    O,
}

impl Konane {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let (Function::Moves(args) | Function::Empties(args)) = &self.function;
        let game = Game::default();
        let mut state = match &args.position {
            Some(text) => game.parse_position(text)?,
            None => game.start(),
        };
        play_text(&game, &mut state, &args.moves)?;
        let board: Board = std::array::from_fn(|row| {
            std::array::from_fn(|column| game.stone(&state, row + 1, column + 1).map(|side| ['X', 'O'][side.index()]))
        });
        let piece = match (args.side, game.mover(&state)) {
            (Some(Piece::X), _) | (None, Side::First) => 'X',
            (Some(Piece::O), _) | (None, Side::Second) => 'O',
        };
        let empties = get_empties(&board);
        let value = match &self.function {
            Function::Moves(_) => {
                let moves = move_generator(&board, piece, empties.len() < 2);
                json!(moves.iter().map(|positions| format_move(positions)).collect::<Vec<_>>())
            }
            Function::Empties(_) => json!(empties),
        };
        print(&value, args.json)
    }
}

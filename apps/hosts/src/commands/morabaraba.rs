//! `turnstone-hosts morabaraba`: the contest's query functions.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::json;
use turnstone_env::games::Morabaraba as Game;
use turnstone_env::{Notation, Rules as _, play_text};

use crate::morabaraba::{
    Cell, Player, coordinates, get_all_empty_cells, get_board, get_effective_cell_moves, get_latest_move,
    get_player_actions, get_player_pieces_on_board, is_making_mill, mills, names, player_mills, stealables,
};
use crate::output::print;

#[derive(Args, Debug)]
pub(super) struct Morabaraba {
    #[command(subcommand)]
    function: Function,
    /// Position [default: the start of the game]
    #[arg(long, global = true)]
    position: Option<String>,
    /// Actions to play from there, separated by spaces
    #[arg(long, global = true, default_value = "", hide_default_value = true)]
    moves: String,
    /// The player's number, -1 (dark, who begins) or 1
    #[arg(long, global = true, default_value_t = -1, allow_hyphen_values = true)]
    player: i8,
    /// Print one line of JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Function {
    /// get_effective_cell_moves: where the cow at a cell can go
    GetEffectiveCellMoves {
        /// Cell as x,y or by name
        cell: String,
    },
    /// get_player_actions: the player's possible actions
    GetPlayerActions,
    /// is_making_mill: whether a cow of the player at a cell makes mills, and which
    IsMakingMill {
        /// Cell as x,y or by name
        cell: String,
    },
    /// stealables: the cows that the player may shoot
    Stealables,
    /// get_latest_move: the last of the moves
    GetLatestMove,
    /// get_all_empty_cells: the empty cells
    GetAllEmptyCells,
    /// get_player_pieces_on_board: the cells of the player's cows
    GetPlayerPiecesOnBoard,
    /// mills: all mills of the board
    Mills,
    /// player_mills: the player's mills
    PlayerMills,
    /// names: the name of a cell given as x,y
    Names {
        /// Cell as x,y
        cell: String,
    },
    /// coordinates: the cell of a name
    Coordinates {
        /// Name, e.g. b2
        name: String,
    },
}

impl Morabaraba {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let game = Game::default();
        let mut state = match &self.position {
            Some(text) => game.parse_position(text)?,
            None => game.start(),
        };
        let played = play_text(&game, &mut state, &self.moves)?;
        let board = get_board(&state);
        let player =
            Player::from_number(self.player).with_context(|| format!("player {}: must be -1 or 1", self.player))?;
        let value = match &self.function {
            Function::GetEffectiveCellMoves { cell } => json!(get_effective_cell_moves(&state, parse(cell)?)),
            Function::GetPlayerActions => {
                let actions = get_player_actions(&game, &state, player);
                json!(actions.iter().map(ToString::to_string).collect::<Vec<_>>())
            }
            Function::IsMakingMill { cell } => json!(is_making_mill(&board, player, parse(cell)?)),
            Function::Stealables => json!(stealables(player, &board)),
            Function::GetLatestMove => json!(get_latest_move(&state, &played).map(|action| action.to_string())),
            Function::GetAllEmptyCells => json!(get_all_empty_cells(&board)),
            Function::GetPlayerPiecesOnBoard => json!(get_player_pieces_on_board(&board, player)),
            Function::Mills => json!(mills()),
            Function::PlayerMills => json!(player_mills(&board, player)),
            Function::Names { cell } => json!(names(parse(cell)?)),
            Function::Coordinates { name } => json!(parse(name)?),
        };
        print(&value, self.json)
    }
}

/// Parses a cell given as `x,y` or by its name.
fn parse(text: &str) -> Result<Cell> {
    let by_coordinates = || {
        let (x, y) = text.split_once(',')?;
        let cell = (x.trim().parse().ok()?, y.trim().parse().ok()?);
        names(cell).map(|_| cell)
    };
    let cell = coordinates(text).or_else(by_coordinates);
    cell.with_context(|| format!("cell `{}`: expected a point such as b2, or its x,y such as 1,1", text.escape_debug()))
}

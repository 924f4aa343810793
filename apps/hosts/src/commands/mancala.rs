//! `turnstone-hosts mancala`: the functions of the assignment's `class Board`.

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use serde_json::json;
use turnstone_env::games::Mancala as Game;
use turnstone_env::{Notation, Rules as _, Side};

use crate::mancala::{Board, Player};
use crate::output::print;

#[derive(Args, Debug)]
pub(super) struct Mancala {
    #[command(subcommand)]
    function: Function,
    /// Position with six pits per row; its mover is the player of the function [default: the start]
    #[arg(long, global = true)]
    position: Option<String>,
    /// Print one line of JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Function {
    /// find_moves: the pits that the player can choose
    FindMoves,
    /// update_board: the board after choosing a pit
    UpdateBoard {
        /// The pit, e.g. B5
        pit: String,
    },
    /// no_moves_remaining: whether the player has no move
    NoMovesRemaining,
    /// player1_points and player2_points: the stones in the two stores
    Points,
    /// calculate_heuristic_score: the player's store minus the opponent's
    HeuristicScore,
}

impl Mancala {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let (mut board, player) = self.board()?;
        let value = match &self.function {
            Function::FindMoves => json!(board.find_moves(player)),
            Function::UpdateBoard { pit } => {
                board.update_board(pit).map_err(|fault| anyhow!("{fault}"))?;
                json!(board.to_string().lines().collect::<Vec<_>>())
            }
            Function::NoMovesRemaining => json!(board.no_moves_remaining(player)),
            Function::Points => json!([board.player1_points(), board.player2_points()]),
            Function::HeuristicScore => json!(board.calculate_heuristic_score(player)),
        };
        print(&value, self.json)
    }
}

impl Mancala {
    fn board(&self) -> Result<(Board, Player)> {
        let Some(text) = &self.position else { return Ok((Board::default(), Player::One)) };
        let game = Game::default();
        let state = game.parse_position(text)?;
        let row = |side| {
            let mut row: [u8; 6] = game.row(&state, side).try_into().expect("the default game has six pits");
            if side == Side::Second {
                row.reverse(); // the labels of this row run against the direction of sowing
            }
            row
        };
        let stores = Side::BOTH.map(|side| game.store(&state, side));
        let player = [Player::One, Player::Two][game.mover(&state).index()];
        Ok((Board::new(row(Side::First), row(Side::Second), stores), player))
    }
}

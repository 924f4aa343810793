//! `turnstone-hosts mu_torere`: the notebook's functions.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::mu_torere::{State, WinStatus, initial_state, update_state, valid_moves, win_status};
use crate::output::print;

#[derive(Args, Debug)]
pub(super) struct MuTorere {
    #[command(subcommand)]
    function: Function,
    /// Board: nine digits 0, 1 or 2
    #[arg(long, global = true, default_value = "121202121")]
    board: String,
    /// Player, 1 or 2
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    player: u8,
    /// Print one line of JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Function {
    /// initial_state: the board at the start
    InitialState,
    /// valid_moves: the player's moves as [start, end]
    ValidMoves,
    /// update_state: the board after a move of the player
    UpdateState {
        /// Move as start,end
        action: String,
    },
    /// win_status: whether the player, who has just moved, has won
    WinStatus,
}

impl MuTorere {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let state = parse(&self.board)?;
        let value = match &self.function {
            Function::InitialState => json!(text(&initial_state())),
            Function::ValidMoves => json!(valid_moves(&state, self.player)),
            Function::UpdateState { action } => {
                let legal = valid_moves(&state, self.player);
                let chosen = legal.iter().find(|[start, end]| *action == format!("{start},{end}"));
                let legal: Vec<String> = legal.iter().map(|[start, end]| format!("{start},{end}")).collect();
                let chosen = chosen
                    .with_context(|| format!("illegal move `{}`; legal: {}", action.escape_debug(), legal.join(" ")))?;
                json!(text(&update_state(&state, self.player, *chosen)))
            }
            Function::WinStatus => json!(win_status(&state, self.player).map(|status| match status {
                WinStatus::Win => "win",
                WinStatus::Lose => "lose",
                WinStatus::Stalemate => "stalemate",
            })),
        };
        print(&value, self.json)
    }
}

fn parse(board: &str) -> Result<State> {
    let digits: Vec<u8> = board.bytes().map(|b| b.wrapping_sub(b'0')).collect();
    if digits.iter().any(|&digit| digit > 2) || digits.len() != 9 {
        bail!("board `{}`: must be nine digits 0, 1 or 2", board.escape_debug());
    }
    Ok(digits.try_into().expect("nine digits"))
}

fn text(state: &State) -> String {
    state.iter().map(|&digit| char::from(b'0' + digit)).collect()
}

//! `turnstone-hosts morris`: the handout's generators, estimates and programs over boards of 18 letters.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use turnstone_env::Side;

use super::handout::Program;

use crate::morris::{
    Board, Phase, close_mill, generate, neighbors, static_estimation_midgame_endgame, static_estimation_opening,
};
use crate::output::print;

#[derive(Args, Debug)]
pub(super) struct Morris {
    #[command(subcommand)]
    function: Function,
    /// Print one line of JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Function {
    /// GenerateMovesOpening or GenerateMovesMidgameEndgame: the boards after one move, removals included
    Generate(BoardArgs),
    /// The static estimation of a board, for White
    Estimate(BoardArgs),
    /// neighbors: the locations next to a location
    Neighbors {
        /// Location, 0 to 17
        location: usize,
    },
    /// closeMill: whether the piece at a location is in a mill
    CloseMill {
        /// Location, 0 to 17
        location: usize,
        /// 18 letters W, B and x
        #[arg(long)]
        board: String,
    },
    #[command(flatten)]
    Program(Program),
}

#[derive(Args, Debug)]
struct BoardArgs {
    /// 18 letters W, B and x
    #[arg(long)]
    board: String,
    /// Side to move
    #[arg(long, default_value = "W")]
    side: Color,
    /// Phase of the game
    #[arg(long, default_value = "opening")]
    phase: PhaseArg,
}

#[derive(Clone, Copy, ValueEnum, Debug)]
enum Color {
    #[value(name = "W", alias = "w")]
    White,
    #[value(name = "B", alias = "b")]
    Black,
}

#[derive(Clone, Copy, ValueEnum, Debug)]
enum PhaseArg {
    Opening,
    #[value(aliases = ["midgame", "endgame", "game"])]
    MidgameEndgame,
}

impl Morris {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let value = match &self.function {
            Function::Generate(args) => {
                let (board, side, phase) = args.parse()?;
                json!(generate(&board, side, phase).iter().map(Board::to_string).collect::<Vec<_>>())
            }
            Function::Estimate(args) => {
                let (board, side, phase) = args.parse()?;
                // Estimates are for White; Black's are those of the board with the colours swapped.
                let board = if side == Side::First { board } else { board.swapped() };
                json!(match phase {
                    Phase::Opening => static_estimation_opening(&board),
                    Phase::MidgameEndgame => static_estimation_midgame_endgame(&board),
                })
            }
            Function::Neighbors { location } => json!(neighbors(on_board(*location)?)),
            Function::Program(program) => return program.run(),
            Function::CloseMill { location, board } => json!(close_mill(on_board(*location)?, &board.parse()?)),
        };
        print(&value, self.json)
    }
}

impl BoardArgs {
    fn parse(&self) -> Result<(Board, Side, Phase)> {
        let side = match self.side {
            Color::White => Side::First,
            Color::Black => Side::Second,
        };
        let phase = match self.phase {
            PhaseArg::Opening => Phase::Opening,
            PhaseArg::MidgameEndgame => Phase::MidgameEndgame,
        };
        Ok((self.board.parse()?, side, phase))
    }
}

fn on_board(location: usize) -> Result<usize> {
    (location < 18).then_some(location).with_context(|| format!("location {location}: must be from 0 to 17"))
}

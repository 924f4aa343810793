//! The handout's programs: they read a board from a file, search with minimax or alpha-beta over the lists of the
//! handout's generators, and write the best board to another file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::morris::{Board, Phase, generate, static_estimation_midgame_endgame, static_estimation_opening};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use turnstone_base::files::atomic_write;
use turnstone_env::Side;

/// Maximum length in bytes of a file with a board, which has 18 letters.
const LONGEST_FILE: u64 = 1024;

/// The programs. Those for Black search White's moves on the board with the colours swapped, and print that estimate.
#[derive(Subcommand, Debug)]
pub(super) enum Program {
    /// White's move in the opening, by minimax
    MinimaxOpening(Files),
    /// White's move in midgame and endgame, by minimax
    MinimaxGame(Files),
    /// White's move in the opening, by alpha-beta
    AbOpening(Files),
    /// White's move in midgame and endgame, by alpha-beta
    AbGame(Files),
    /// Black's move in the opening, by minimax
    MinimaxOpeningBlack(Files),
    /// Black's move in midgame and endgame, by minimax
    MinimaxGameBlack(Files),
    /// Black's move in the opening, by alpha-beta
    AbOpeningBlack(Files),
    /// Black's move in midgame and endgame, by alpha-beta
    AbGameBlack(Files),
}

#[derive(Args, Debug)]
pub(super) struct Files {
    /// File with the board, 18 letters W, B and x
    input: PathBuf,
    /// File for the board after the move; it is replaced
    output: PathBuf,
    /// Moves to look ahead, those of both sides counted
    #[arg(value_parser = clap::value_parser!(u32).range(1..=32))]
    depth: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Method {
    Minimax,
    AlphaBeta,
}

impl Program {
    /// Runs the program with the output format of the handout.
    pub(super) fn run(&self) -> Result<ExitCode> {
        let (method, phase, side, files) = self.parts();
        let turned = |board: Board| if side == Side::First { board } else { board.swapped() };
        let board = read(&files.input).with_context(|| files.input.display().to_string())?;
        let mut search = Search { method, phase, evaluated: 0 };
        let (best, estimate) = search.best(&turned(board), files.depth);
        let best = turned(best);
        atomic_write(&files.output, format!("{best}\n").as_bytes())
            .with_context(|| files.output.display().to_string())?;
        println!("Board Position: {best}");
        println!("Positions evaluated by static estimation: {}.", search.evaluated);
        println!("MINIMAX estimate: {estimate}.");
        Ok(ExitCode::SUCCESS)
    }

    fn parts(&self) -> (Method, Phase, Side, &Files) {
        match self {
            Self::MinimaxOpening(files) => (Method::Minimax, Phase::Opening, Side::First, files),
            Self::MinimaxGame(files) => (Method::Minimax, Phase::MidgameEndgame, Side::First, files),
            Self::AbOpening(files) => (Method::AlphaBeta, Phase::Opening, Side::First, files),
            Self::AbGame(files) => (Method::AlphaBeta, Phase::MidgameEndgame, Side::First, files),
            Self::MinimaxOpeningBlack(files) => (Method::Minimax, Phase::Opening, Side::Second, files),
            Self::MinimaxGameBlack(files) => (Method::Minimax, Phase::MidgameEndgame, Side::Second, files),
            Self::AbOpeningBlack(files) => (Method::AlphaBeta, Phase::Opening, Side::Second, files),
            Self::AbGameBlack(files) => (Method::AlphaBeta, Phase::MidgameEndgame, Side::Second, files),
        }
    }
}

fn read(path: &Path) -> Result<Board> {
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() > LONGEST_FILE {
        bail!("not a file with 18 letters");
    }
    Ok(String::from_utf8_lossy(&fs::read(path)?).trim().parse()?)
}

/// A search for White.
struct Search {
    method: Method,
    phase: Phase,
    /// Number of static estimations so far.
    evaluated: u64,
}

impl Search {
    /// Returns the best board, the first in the generator's order among equals, and its estimate. Without a move, that
    /// is the board itself.
    fn best(&mut self, board: &Board, depth: u32) -> (Board, i32) {
        let mut best = None;
        for next in self.moves(board, Side::First) {
            let alpha = best.map_or(i32::MIN, |(_, value)| value);
            let value = self.value(&next, Side::Second, depth - 1, [alpha, i32::MAX]);
            if best.is_none_or(|(_, most)| value > most) {
                best = Some((next, value));
            }
        }
        best.unwrap_or_else(|| (*board, self.estimate(board)))
    }

    /// Minimax value for White of a board with `side` to move; with alpha-beta, exact only within `[alpha, beta]`.
    fn value(&mut self, board: &Board, side: Side, depth: u32, [mut alpha, mut beta]: [i32; 2]) -> i32 {
        let moves = if depth == 0 { Vec::new() } else { self.moves(board, side) };
        let mut best = None;
        for next in moves {
            let value = self.value(&next, side.other(), depth - 1, [alpha, beta]);
            let better = match side {
                Side::First => best.is_none_or(|best| value > best),
                Side::Second => best.is_none_or(|best| value < best),
            };
            if !better {
                continue;
            }
            best = Some(value);
            match side {
                Side::First => alpha = alpha.max(value),
                Side::Second => beta = beta.min(value),
            }
            if self.method == Method::AlphaBeta && alpha >= beta {
                break;
            }
        }
        best.unwrap_or_else(|| self.estimate(board))
    }

    /// The boards after each move, from the generator of the program's phase; none if the game is over.
    fn moves(&self, board: &Board, side: Side) -> Vec<Board> {
        let is_lost = |side| board.count(side) <= 2;
        if self.phase == Phase::MidgameEndgame && Side::BOTH.into_iter().any(is_lost) {
            return Vec::new();
        }
        generate(board, side, self.phase)
    }

    fn estimate(&mut self, board: &Board) -> i32 {
        self.evaluated += 1;
        match self.phase {
            Phase::Opening => static_estimation_opening(board),
            Phase::MidgameEndgame => static_estimation_midgame_endgame(board),
        }
    }
}

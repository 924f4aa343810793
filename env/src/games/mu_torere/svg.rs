//! Mu Torere's ring and hub drawn as SVG.

use super::board::{HUB, MOVES, RING, SQUARES};
use super::state::{MuTorere, State, owner};
use crate::action::Action;
use crate::game::Game;
use crate::side::Side;
use crate::svg::{PointBoard, status};

const RADIUS: f32 = 2.2;

/// The squares' places on ring and hub, in lattice units.
fn places() -> [[f32; 2]; SQUARES as usize] {
    let mut points = [[RADIUS; 2]; SQUARES as usize];
    for (eighth, &square) in (0u8..).zip(&RING) {
        let angle = (f32::from(eighth) - 1.0) * std::f32::consts::FRAC_PI_4;
        points[usize::from(square)] = [RADIUS + RADIUS * angle.sin(), RADIUS - RADIUS * angle.cos()];
    }
    points
}

/// The squares' centres in the drawing.
pub(super) fn centres() -> Vec<[f32; 2]> {
    PointBoard::centres(&places())
}

pub(super) fn draw(game: &MuTorere, state: &State, last: Option<Action>) -> String {
    let points = places();
    let spokes = RING.map(|square| [square, HUB]);
    let numbers: Vec<String> = (0..SQUARES).map(|square| square.to_string()).collect();
    let stones: Vec<Option<Side>> = (0..SQUARES).map(|square| Side::from_number(owner(state, square))).collect();
    let marked = last.map_or(Vec::new(), |action| {
        let (start, end) = MOVES[action.index()];
        vec![usize::from(start), usize::from(end)]
    });
    PointBoard {
        title: &format!("Mu Torere: {}", game.position_text(state)),
        points: &points,
        lines: &spokes.each_ref().map(|spoke| &spoke[..]),
        circles: &[(points[usize::from(HUB)], RADIUS)],
        names: &numbers,
        stones: &stones,
        marked: &marked,
        caption: &status(game.outcome(state), state.mover, ["player 1", "player 2"]),
    }
    .draw()
}

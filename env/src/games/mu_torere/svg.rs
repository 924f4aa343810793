//! Mu Torere's ring and hub drawn as SVG.

use std::sync::OnceLock;

use super::board::{HUB, MOVES, RING, SQUARES};
use super::state::{MuTorere, State, owner};
use crate::action::Action;
use crate::game::Game;
use crate::side::Side;
use crate::svg::{BoardPoint, PointBoard, status};

const RADIUS: f32 = 2.1;

pub(super) fn draw(game: &MuTorere, state: &State, last: Option<Action>) -> String {
    let points = points();
    let spokes = RING.map(|square| [square, HUB]);
    let stones: Vec<Option<Side>> = (0..SQUARES).map(|square| Side::from_number(owner(state, square))).collect();
    let marked = last.map_or(Vec::new(), |action| {
        let (start, end) = MOVES[action.index()];
        vec![usize::from(start), usize::from(end)]
    });
    static LABELS: OnceLock<Vec<[f32; 2]>> = OnceLock::new();
    let (names, circles) = (names(), [(points[usize::from(HUB)], RADIUS)]);
    let lines = spokes.each_ref().map(|spoke| &spoke[..]);
    let board =
        PointBoard { points: &points, lines: &lines, circles: &circles, names: &names, ..PointBoard::default() };
    PointBoard {
        labels: LABELS.get_or_init(|| board.labels()),
        title: &format!("Mu Torere: {}", game.position_text(state)),
        stones: &stones,
        marked: &marked,
        caption: &status(game.outcome(state), state.mover, ["player 1 (dark)", "player 2 (light)"]),
        ..board
    }
    .draw()
}

pub(super) fn board_points() -> Vec<BoardPoint> {
    PointBoard { points: &points(), names: &names(), ..PointBoard::default() }.board_points()
}

/// The squares in lattice units: the ring around the hub, an eighth of a turn from one to the next.
fn points() -> [[f32; 2]; SQUARES as usize] {
    let mut points = [[RADIUS; 2]; SQUARES as usize];
    for (eighth, &square) in (0u8..).zip(&RING) {
        let angle = (f32::from(eighth) - 1.0) * std::f32::consts::FRAC_PI_4;
        points[usize::from(square)] = [RADIUS + RADIUS * angle.sin(), RADIUS - RADIUS * angle.cos()];
    }
    points
}

fn names() -> [String; SQUARES as usize] {
    std::array::from_fn(|square| square.to_string())
}

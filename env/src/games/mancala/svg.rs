//! Mancala's pits and stores drawn as SVG, every stone with its place.

use super::state::{Mancala, State};
use crate::action::Action;
use crate::game::Game;
use crate::side::Side;
use crate::svg::{Sheet, colour, status};

/// Distance between pits.
const PIT: f32 = 76.0;
const PIT_RADIUS: f32 = 31.0;
const STORE_RADIUS: f32 = 32.0;
const STONE_RADIUS: f32 = 5.0;
const HEIGHT: f32 = 276.0;

/// The middle of a column, counted from that of player 2's store.
fn column(n: usize) -> f32 {
    20.0 + PIT * (n as f32 + 0.5)
}

/// The height of the middle of a player's pits.
fn row_height(side: Side) -> f32 {
    match side {
        Side::First => 170.0,
        Side::Second => 86.0,
    }
}

/// The centres of the pits in the drawing, in the order of the actions.
pub(super) fn centres(game: &Mancala) -> Vec<[f32; 2]> {
    Side::BOTH.iter().flat_map(|&side| (0..game.pits()).map(move |pit| [column(pit + 1), row_height(side)])).collect()
}

pub(super) fn draw(game: &Mancala, state: &State, last: Option<Action>) -> String {
    let pits = game.pits();
    let width = PIT * (pits as f32 + 2.0) + 40.0;
    let mut sheet = Sheet::new(&format!("Mancala: {}", game.position_text(state)), width, HEIGHT);
    sheet.rectangle([12.0, 36.0], [width - 24.0, HEIGHT - 92.0], 40.0, colour::BOARD);
    for side in Side::BOTH {
        let y = row_height(side);
        let (label_y, row, store) = match side {
            Side::First => (232.0, 'B', pits + 1),
            Side::Second => (22.0, 'A', 0),
        };
        for pit in 0..pits {
            // The action of a pit is its place in label order, its stones lie in sowing order.
            let stones = game.row(state, side)[if side == Side::First { pit } else { pits - 1 - pit }];
            let at = [column(pit + 1), y];
            sheet.disc(at, PIT_RADIUS, colour::HOLLOW, colour::LINE);
            draw_stones(&mut sheet, at, stones);
            if last == Some(Action((side.index() * pits + pit) as u16)) {
                sheet.circle(at, PIT_RADIUS + 2.0, 3.0, colour::MARK);
            }
            sheet.text([at[0], label_y], 13.0, format_args!("{row}{}: {stones}", pit + 2));
        }
        let (x, stones) = (column(store), game.store(state, side));
        sheet.rectangle([x - STORE_RADIUS, 56.0], [2.0 * STORE_RADIUS, 144.0], STORE_RADIUS, colour::HOLLOW);
        draw_stones(&mut sheet, [x, 128.0], stones);
        sheet.text([x, label_y], 13.0, format_args!("{}: {stones}", store + 1));
    }
    let margin = format!("{} : {}", game.store(state, Side::First), game.store(state, Side::Second));
    sheet.caption(format_args!("{}, stores {margin}", status(game.outcome(state), state.mover, game.side_names())));
    sheet.finish()
}

/// Stones around a point in a sunflower spiral, the closer the more there are. At most fifty are drawn.
fn draw_stones(sheet: &mut Sheet, [x, y]: [f32; 2], stones: u8) {
    let spacing = (PIT_RADIUS - STONE_RADIUS - 2.0) / f32::from(stones.clamp(14, 50)).sqrt();
    for n in 0..stones.min(50) {
        let (radius, angle) = (spacing * (f32::from(n) + 0.3).sqrt(), 2.4 * f32::from(n));
        sheet.disc([x + radius * angle.cos(), y + radius * angle.sin()], STONE_RADIUS, colour::LINE, colour::BOARD);
    }
}

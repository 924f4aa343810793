//! Mancala's pits and stores drawn as SVG, every stone with its place.

use super::state::{Mancala, State};
use crate::action::Action;
use crate::game::Game;
use crate::side::Side;
use crate::svg::{BoardPoint, Paint, Sheet, status};

/// Distance between pits.
const PIT: f32 = 76.0;
const PIT_RADIUS: f32 = 31.0;
const STORE_RADIUS: f32 = 32.0;
const STONE_RADIUS: f32 = 5.0;
const HEIGHT: f32 = 290.0;
/// Size of the labels.
const LABEL: f32 = 19.0;

/// Height of the pits of each side, and of their labels.
const PITS_Y: [f32; 2] = [174.0, 90.0];
const LABELS_Y: [f32; 2] = [238.0, 24.0];

pub(super) fn draw(game: &Mancala, state: &State, last: Option<Action>) -> String {
    let pits = game.pits();
    let width = PIT * (pits as f32 + 2.0) + 40.0;
    let mut sheet = Sheet::new(&format!("Mancala: {}", game.position_text(state)), width, HEIGHT);
    sheet.rectangle([12.0, 40.0], [width - 24.0, 184.0], 40.0, Paint::BOARD);
    for side in Side::BOTH {
        for pit in 0..pits {
            // The action of a pit is its place in label order, its stones lie in sowing order.
            let stones = game.row(state, side)[if side == Side::First { pit } else { pits - 1 - pit }];
            let at = centre(side, pit);
            sheet.disc(at, PIT_RADIUS, Paint::HOLLOW, Paint::LINE);
            draw_stones(&mut sheet, at, stones);
            if last == Some(Action((side.index() * pits + pit) as u16)) {
                sheet.circle(at, PIT_RADIUS + 2.0, 3.5, Paint::MARK);
            }
            let label = format!("{}: {stones}", label(side, pit));
            sheet.text([at[0], LABELS_Y[side.index()]], LABEL, label);
        }
        let store = [pits + 1, 0][side.index()];
        let (x, stones) = (column(store), game.store(state, side));
        sheet.rectangle([x - STORE_RADIUS, 60.0], [2.0 * STORE_RADIUS, 144.0], STORE_RADIUS, Paint::HOLLOW);
        draw_stones(&mut sheet, [x, 132.0], stones);
        sheet.text([x, LABELS_Y[side.index()]], LABEL, format_args!("{}: {stones}", store + 1));
    }
    let margin = format!("{} : {}", game.store(state, Side::First), game.store(state, Side::Second));
    let players = ["player 1 (B, below)", "player 2 (A, above)"];
    let status = status(game.outcome(state), state.mover, players);
    // On a narrow board the stores' own labels must do.
    sheet.caption(if width < 400.0 { status } else { format!("{status}, stores {margin}") });
    sheet.finish()
}

/// The pits: the first player's, then the second player's opposite them.
pub(super) fn board_points(game: &Mancala) -> Vec<BoardPoint> {
    let pits = Side::BOTH.into_iter().flat_map(|side| (0..game.pits()).map(move |pit| (side, pit)));
    pits.map(|(side, pit)| BoardPoint::new(label(side, pit), centre(side, pit), PIT_RADIUS)).collect()
}

fn label(side: Side, pit: usize) -> String {
    format!("{}{}", ['B', 'A'][side.index()], pit + 2)
}

fn column(n: usize) -> f32 {
    20.0 + PIT * (n as f32 + 0.5)
}

fn centre(side: Side, pit: usize) -> [f32; 2] {
    [column(pit + 1), PITS_Y[side.index()]]
}

/// Stones around a point in a sunflower spiral, the closer the more there are. At most fifty are drawn.
fn draw_stones(sheet: &mut Sheet, [x, y]: [f32; 2], stones: u8) {
    let spacing = (PIT_RADIUS - STONE_RADIUS - 2.0) / f32::from(stones.clamp(14, 50)).sqrt();
    for n in 0..stones.min(50) {
        let (radius, angle) = (spacing * (f32::from(n) + 0.3).sqrt(), 2.4 * f32::from(n));
        let at = [x + radius * angle.cos(), y + radius * angle.sin()];
        sheet.disc(at, STONE_RADIUS, Paint::SEED, Paint::SEED_RIM);
    }
}

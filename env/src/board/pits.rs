//! Boards of two rows of pits with stones in them, and two stores.

use super::{Board, Content};
use crate::side::Side;
use crate::svg::{BoardPoint, Paint, Sheet};

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
const STORE_Y: f32 = 132.0;
const LABELS_Y: [f32; 2] = [238.0, 24.0];

/// Two rows of pits, the first side's below, and stores: the first side's at the right, the second side's at the left. The
/// points are the pits of the first side from the left, then those opposite them.
#[derive(Clone, PartialEq, Debug)]
pub struct Pits {
    /// Pits of a row.
    pub pits: usize,
    /// The letter of each side's row.
    pub rows: [char; 2],
    /// The number of the leftmost pit. The store at the left has the number before it, that at the right the one after the
    /// last pit's.
    pub first: usize,
    /// The stones in each side's store.
    pub stores: [u8; 2],
}

impl Pits {
    pub(super) fn points(&self) -> Vec<BoardPoint> {
        let pits = Side::BOTH.into_iter().flat_map(|side| (0..self.pits).map(move |pit| (side, pit)));
        pits.map(|(side, pit)| BoardPoint::new(self.label(side, pit), centre(side, pit), PIT_RADIUS)).collect()
    }

    pub(super) fn store(&self, side: Side) -> BoardPoint {
        BoardPoint::new("store", [column([self.pits + 1, 0][side.index()]), STORE_Y], STORE_RADIUS)
    }

    /// The rows with the pits' numbers above.
    pub(super) fn text(&self, contents: &[Content]) -> String {
        let line = |numbers: &mut dyn Iterator<Item = usize>| numbers.map(|n| format!("{n:>3}")).collect::<String>();
        let row = |side: usize| {
            line(&mut contents[side * self.pits..][..self.pits].iter().map(|&content| usize::from(stones(content))))
        };
        let [one, two] = self.stores;
        let ([below, above], [first, second]) = (self.rows, Side::BOTH);
        format!(
            "    {}\n{above}{two:>3}{}      {second}\n{below}    {}{one:>3}  {first}\n",
            line(&mut (self.first..self.first + self.pits)),
            row(1),
            &row(0)[1..],
        )
    }

    pub(super) fn svg(&self, title: &str, board: &Board) -> String {
        let width = PIT * (self.pits as f32 + 2.0) + 40.0;
        let mut sheet = Sheet::new(title, width, HEIGHT);
        sheet.rectangle([12.0, 40.0], [width - 24.0, 184.0], 40.0, Paint::BOARD);
        for side in Side::BOTH {
            for pit in 0..self.pits {
                let point = side.index() * self.pits + pit;
                let (at, stones) = (centre(side, pit), stones(board.contents[point]));
                sheet.disc(at, PIT_RADIUS, Paint::HOLLOW, Paint::LINE);
                draw_stones(&mut sheet, at, stones);
                if board.marked.contains(&point) {
                    sheet.circle(at, PIT_RADIUS + 2.0, 3.5, Paint::MARK);
                }
                let label = format!("{}: {stones}", self.label(side, pit));
                sheet.text([at[0], LABELS_Y[side.index()]], LABEL, label);
            }
            let (BoardPoint { label, at: [x, _], .. }, stones) = (self.store(side), self.stores[side.index()]);
            sheet.rectangle([x - STORE_RADIUS, 60.0], [2.0 * STORE_RADIUS, 144.0], STORE_RADIUS, Paint::HOLLOW);
            draw_stones(&mut sheet, [x, STORE_Y], stones);
            sheet.text([x, LABELS_Y[side.index()]], LABEL, format_args!("{label}: {stones}"));
        }
        let [first, second] = self.stores;
        // On a narrow board the stores' own labels must do.
        let stores = if width < 400.0 { String::new() } else { format!(", stores {first} : {second}") };
        sheet.caption(board.status.clone() + &stores);
        sheet.finish()
    }

    fn label(&self, side: Side, pit: usize) -> String {
        format!("{}{}", self.rows[side.index()], pit + self.first)
    }
}

fn stones(content: Content) -> u8 {
    if let Content::Stones(stones) = content { stones } else { 0 }
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

//! The board of a position as one value, from which every drawing derives.

use std::sync::Arc;

use crate::side::Side;
use crate::svg::{self, BoardPoint};

pub use self::cells::Cells;
pub use self::graph::Graph;
pub use self::pits::Pits;
pub use self::steps::{Place, Step};

mod cells;
mod graph;
mod pits;
mod steps;

/// The board of a position. Drawings as text and as SVG, the words of screen readers and the points of a page
/// derive from it.
///
/// ```
/// use turnstone_env::Side;
/// use turnstone_env::board::{Board, Cells, Content, Shape};
///
/// let cells = Cells::new([2, 2], vec![0, 1, 2, 3]);
/// let board = Board {
///     contents: vec![Content::Empty, Content::Piece(Side::First), Content::Piece(Side::Second), Content::Empty],
///     marked: vec![1],
///     status: "player 2 to move".into(),
///     ..Board::new(Shape::Cells(cells), 4)
/// };
/// assert_eq!(board.text(), "2 . X\n1 O .\n  a b\nplayer 2 to move\n");
/// assert!(board.svg("two by two").starts_with("<svg "));
/// assert_eq!(board.points()[1].label, "b2");
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Board {
    /// The points and how they lie.
    pub shape: Shape,
    /// What is on each point, `[points]`.
    pub contents: Vec<Content>,
    /// The side whose pieces are dark.
    pub dark: Side,
    /// The first side's pieces, the second side's and empty points in text.
    pub letters: [char; 3],
    /// Points that the last action concerned.
    pub marked: Vec<usize>,
    /// What the last action moved, in order.
    pub steps: Vec<Step>,
    /// What the last action brought about, in a few words: `Mill!`. Empty where it only moved something.
    pub event: String,
    /// Lines of pieces to emphasise: closed mills, four in a row.
    pub formed: Vec<Vec<usize>>,
    /// Lines along which something is forbidden.
    pub banned: Vec<Vec<usize>>,
    /// Pieces that each side has taken.
    pub captured: [usize; 2],
    /// What the board does not show, such as pieces in hand, in a line each; beside a stone where it is about a side.
    pub notes: Vec<(Option<Side>, String)>,
    /// Who is to move for what, or how the game ended.
    pub status: String,
    /// What the side to move does on the board, as advice to a person: `Choose a stone, then where it jumps`.
    pub task: String,
    /// Why the game is over: `Light cannot move`.
    pub reason: String,
}

/// The points of a board and how they lie. It is the same in every position of a game.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// Square cells.
    Cells(Cells),
    /// Points joined by lines.
    Graph(Arc<Graph>),
    /// Two rows of pits, and a store for each side.
    Pits(Pits),
    /// No picture but a text.
    Text(String),
}

/// What is on a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Nothing.
    Empty,
    /// A piece of a side.
    Piece(Side),
    /// Stones of no side.
    Stones(u8),
}

impl Board {
    /// An empty board with `X`, `O` and `.` in text, whose first side has the dark pieces.
    #[must_use]
    pub fn new(shape: Shape, points: usize) -> Self {
        Self {
            shape,
            contents: vec![Content::Empty; points],
            dark: Side::First,
            letters: ['X', 'O', '.'],
            marked: Vec::new(),
            steps: Vec::new(),
            event: String::new(),
            formed: Vec::new(),
            banned: Vec::new(),
            captured: [0; 2],
            notes: Vec::new(),
            status: String::new(),
            task: String::new(),
            reason: String::new(),
        }
    }

    /// The points in the drawing, in the order of [`Spec`](crate::Spec)'s points as the first player sees them; none where
    /// the drawing is a text.
    #[must_use]
    pub fn points(&self) -> Vec<BoardPoint> {
        match &self.shape {
            Shape::Cells(cells) => cells.points(),
            Shape::Graph(graph) => graph.points(),
            Shape::Pits(pits) => pits.points(),
            Shape::Text(_) => Vec::new(),
        }
    }

    /// Where the drawing has a side's store, if it has one.
    #[must_use]
    pub fn store(&self, side: Side) -> Option<BoardPoint> {
        if let Shape::Pits(pits) = &self.shape { Some(pits.store(side)) } else { None }
    }

    /// The board as lines of text, for a person to read, with its notes and its status.
    #[must_use]
    pub fn text(&self) -> String {
        let letters: Vec<char> = self.contents.iter().map(|content| self.letters[content.kind()]).collect();
        let drawing = match &self.shape {
            Shape::Cells(cells) => cells.text(&letters),
            Shape::Graph(graph) => graph.text(&letters),
            Shape::Pits(pits) => pits.text(&self.contents),
            Shape::Text(text) => return text.clone(),
        };
        let notes = self.notes.iter().map(|(_, note)| note).chain([&self.status]).filter(|line| !line.is_empty());
        notes.fold(drawing, |text, line| text + line + "\n")
    }

    /// The board as an SVG document with this title.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        match &self.shape {
            Shape::Cells(cells) => cells.svg(title, self),
            Shape::Graph(graph) => graph.svg(title, self),
            Shape::Pits(pits) => pits.svg(title, self),
            Shape::Text(text) => svg::text_board(title, &format!("{text}\n{}", self.status)),
        }
    }

    /// What is on each point in a few words, for screen readers; `names` are the sides'.
    #[must_use]
    pub fn words(&self, names: [&str; 2]) -> Vec<String> {
        let words = |content: &Content| match content {
            Content::Empty if matches!(self.shape, Shape::Text(_)) => String::new(),
            Content::Empty => "empty".to_owned(),
            Content::Piece(side) => names[side.index()].to_owned(),
            Content::Stones(1) => "1 stone".to_owned(),
            Content::Stones(stones) => format!("{stones} stones"),
        };
        self.contents.iter().map(words).collect()
    }

    /// How a person knows the pieces of a side in text: by its letter, or not at all where pieces belong to no side.
    #[must_use]
    pub fn letter(&self, side: Side) -> Option<char> {
        matches!(self.shape, Shape::Cells(_) | Shape::Graph(_)).then(|| self.letters[side.index()])
    }

    /// A side's shade: the first's is dark.
    fn shade(&self, side: Side) -> Side {
        if self.dark == Side::First { side } else { side.other() }
    }
}

impl Content {
    /// 0 and 1 for the sides' pieces, 2 for none.
    fn kind(self) -> usize {
        if let Self::Piece(side) = self { side.index() } else { 2 }
    }
}

impl From<Option<Side>> for Content {
    fn from(piece: Option<Side>) -> Self {
        piece.map_or(Self::Empty, Self::Piece)
    }
}

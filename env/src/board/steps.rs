//! What an action did to a board, as steps that a page can show one after the other.

use super::{Board, Content, Shape};
use crate::side::Side;

/// Where pieces lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// On a point.
    Point(usize),
    /// Beside the board: in a side's store, in its hand, or among the pieces that it has captured.
    Beside(Side),
}

/// Pieces that go from one place to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Where they were.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// A piece of a side, or a number of stones of no side.
    pub what: Content,
}

impl Board {
    /// The same with a word for a mill just closed, if there is one.
    #[must_use]
    pub(crate) fn with_mill(self, closed: bool) -> Self {
        if closed { Self { event: "Mill!".into(), ..self } } else { self }
    }

    /// What the mover's action moved, by the difference to the board before and the action's points.
    pub(crate) fn steps_since(&self, before: &Self, path: &[usize], mover: Side) -> Vec<Step> {
        let piece = |contents: &[Content], point: usize| match contents[point] {
            Content::Piece(side) => Some(side),
            _ => None,
        };
        let (was, is) = (|point| piece(&before.contents, point), |point| piece(&self.contents, point));
        let taken = |point: usize| {
            let what = before.contents[point];
            Step { from: Place::Point(point), to: Place::Beside(mover), what }
        };
        let [Some(&first), Some(&end)] = [path.first(), path.last()] else { return Vec::new() };
        let mut gone: Vec<usize> = (0..self.contents.len()).filter(|&p| was(p).is_some() && is(p).is_none()).collect();
        let mut steps = Vec::new();
        // Another piece stood where this one is now.
        if was(end).is_some() && is(end).is_some() && was(end) != is(end) {
            steps.push(taken(end));
        }
        if first != end && was(first).is_some() && was(first) == is(end) {
            gone.retain(|&point| point != first);
            let points = self.points();
            let at = |point: usize| points.get(point).map_or([0.0; 2], |point| point.at);
            let what = before.contents[first];
            let legs: Vec<[usize; 2]> = path.windows(2).map(|ends| [ends[0], ends[1]]).collect();
            // What is taken is taken by the leg whose middle is nearest.
            let far = |leg: usize, point: usize| {
                let [[x, y], [u, v], [p, q]] = [at(legs[leg][0]), at(legs[leg][1]), at(point)];
                ((x + u) / 2.0 - p).hypot((y + v) / 2.0 - q)
            };
            let nearest = |point: usize| (0..legs.len()).min_by(|&a, &b| far(a, point).total_cmp(&far(b, point)));
            for (leg, &[from, to]) in legs.iter().enumerate() {
                steps.push(Step { from: Place::Point(from), to: Place::Point(to), what });
                steps.extend(gone.iter().filter(|&&point| nearest(point) == Some(leg)).map(|&point| taken(point)));
            }
            return steps;
        }
        if let (None, Some(side)) = (was(end), is(end)) {
            steps.push(Step { from: Place::Beside(side), to: Place::Point(end), what: Content::Piece(side) });
        }
        steps.extend(gone.into_iter().map(taken));
        steps
    }

    /// The board during each step to `after`, when its pieces have left their place and not yet come to the next.
    #[must_use]
    pub fn frames(&self, after: &Self) -> Vec<Self> {
        let mut board = self.clone();
        let frame = |step: &Step| {
            board.change(step.from, step.what, false);
            let frame = board.clone();
            board.change(step.to, step.what, true);
            frame
        };
        after.steps.iter().map(frame).collect()
    }

    /// Puts pieces on a place, or takes them away.
    fn change(&mut self, place: Place, what: Content, comes: bool) {
        let sum =
            |there: u8, stones: u8| if comes { there.saturating_add(stones) } else { there.saturating_sub(stones) };
        match (place, what) {
            (Place::Point(point), Content::Stones(stones)) => {
                let Some(content) = self.contents.get_mut(point) else { return };
                let there = if let Content::Stones(there) = *content { there } else { 0 };
                *content = Content::Stones(sum(there, stones));
            }
            (Place::Point(point), _) => {
                let Some(content) = self.contents.get_mut(point) else { return };
                *content = if comes { what } else { Content::Empty };
            }
            (Place::Beside(side), Content::Stones(stones)) => {
                if let Shape::Pits(pits) = &mut self.shape {
                    let store = &mut pits.stores[side.index()];
                    *store = sum(*store, stones);
                }
            }
            (Place::Beside(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::ActionList;
    use crate::games::{Konane, Mancala, Morabaraba, Morris, MuTorere};
    use crate::notation::{Notation, play_text};
    use crate::rules::Rules;

    /// The steps of each action of a few games lead from one board to the next.
    fn leads_on<G: Notation>(game: &G) {
        let mut legal = ActionList::new();
        for seed in 0..20_usize {
            let mut state = game.start();
            for ply in 0.. {
                game.legal(&state, &mut legal);
                if legal.is_empty() || ply > 120 {
                    break;
                }
                let action = legal[(seed * 7919 + ply * 31 + ply * ply) % legal.len()];
                let before = state;
                game.play(&mut state, action);
                let [mut board, after] = [game.board(&before, None), game.board(&state, Some((&before, action)))];
                assert_eq!(board.frames(&after).len(), after.steps.len());
                assert!(!after.steps.is_empty(), "{} does something", game.action_text(&before, action));
                for step in &after.steps {
                    board.change(step.from, step.what, false);
                    board.change(step.to, step.what, true);
                }
                let name = game.spec().name;
                let text = game.position_text(&before) + " " + &game.action_text(&before, action);
                assert_eq!((&board.contents, &board.shape), (&after.contents, &after.shape), "{name}: {text}");
            }
        }
    }

    #[test]
    fn steps_lead_from_one_board_to_the_next() {
        leads_on(&Mancala::default());
        leads_on(&Konane::default());
        leads_on(&Morris::default());
        leads_on(&Morabaraba::default());
        leads_on(&MuTorere::default());
    }

    fn after<G: Notation>(game: &G, mut state: G::State, moves: &str) -> Board {
        let mut before = state;
        let actions = play_text(game, &mut state, moves).unwrap();
        let (&last, others) = actions.split_last().unwrap();
        others.iter().for_each(|&action| game.play(&mut before, action));
        game.board(&state, Some((&before, last)))
    }

    const MINE: Place = Place::Beside(Side::First);

    #[test]
    fn a_long_jump_takes_a_stone_at_each_leg() {
        let game = Konane::default();
        let moves = "remove(4,5) remove(4,4) jump(4,7,4,5) jump(4,2,4,4,4,6)";
        let board = after(&game, game.start(), moves);
        let [light, dark] = [Side::Second, Side::First].map(Content::Piece);
        let cell = |column: usize| Place::Point(4 * 8 + column - 1);
        let theirs = Place::Beside(Side::Second);
        let expected =
            [(cell(2), cell(4), light), (cell(3), theirs, dark), (cell(4), cell(6), light), (cell(5), theirs, dark)];
        assert_eq!(board.steps, expected.map(|(from, to, what)| Step { from, to, what }));
        assert_eq!((&*board.event, board.captured), ("2 captured", [2, 3]));
    }

    #[test]
    fn sowing_goes_from_hole_to_hole_and_what_is_captured_follows() {
        let game = Mancala::default();
        let step = |from, to, stones| Step { from, to, what: Content::Stones(stones) };
        let board = after(&game, game.start(), "B4");
        let pit = Place::Point;
        let expected =
            [step(pit(2), pit(3), 4), step(pit(3), pit(4), 3), step(pit(4), pit(5), 2), step(pit(5), MINE, 1)];
        assert_eq!((board.steps, &*board.event), (expected.to_vec(), "Another turn"));
        let state = game.parse_position("1,0,4,4,4,4/7 4,4,4,4,4,4/0 1").unwrap();
        let board = after(&game, state, "B2");
        let expected = [step(pit(0), pit(1), 1), step(pit(1), MINE, 1), step(pit(7), MINE, 4)];
        assert_eq!((board.steps, &*board.event), (expected.to_vec(), "5 captured"));
        let state = game.parse_position("0,0,0,0,0,1/30 0,0,0,2,0,0/15 1").unwrap();
        let board = after(&game, state, "B7");
        let expected = [step(pit(5), MINE, 1), step(pit(9), Place::Beside(Side::Second), 2)];
        assert_eq!((board.steps, &*board.event), (expected.to_vec(), ""));
        assert_eq!(board.reason, "Player 1 has no stones left");
    }

    #[test]
    fn mills_have_words() {
        let game = Morris::default();
        let board = after(&game, game.start(), "a0 g0 b1 f1 c2");
        assert_eq!((&*board.event, &*board.task), ("Mill!", "remove one of the ringed pieces"));
        assert_eq!(board.steps, [Step { from: MINE, to: Place::Point(4), what: Content::Piece(Side::First) }]);
        let board = after(&game, game.start(), "a0 g0 b1 f1 c2 xf1");
        assert_eq!((&*board.event, board.captured), ("", [1, 0]));
        assert_eq!(board.steps[0].to, MINE);
    }
}

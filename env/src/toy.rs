//! A toy game for tests of search: a tree written as text, in which either player may move several times in a row.
//!
//! ```
//! use turnstone_env::{Rules, Side, toy::Toy};
//!
//! // Player 1 chooses: after the first choice player 1 moves again, after the second player 2 does.
//! let toy: Toy = "1(1(+3 -2) 2(-1 +4))".parse()?;
//! let mut state = toy.start();
//! toy.play(&mut state, turnstone_env::Action(0));
//! assert_eq!(toy.mover(&state), Side::First);
//! toy.play(&mut state, turnstone_env::Action(0));
//! assert_eq!(toy.outcome(&state).map(|o| o.margin), Some(3));
//! # Ok::<(), turnstone_env::Error>(())
//! ```

use std::str::FromStr;
use std::sync::Arc;

use rand::{Rng, RngExt};

use crate::action::{Action, ActionList};
use crate::error::Error;
use crate::notation::Notation;
use crate::outcome::Outcome;
use crate::rules::Rules;
use crate::side::Side;
use crate::spec::Spec;

/// The most children a node can have.
const MAX_CHILDREN: usize = 16;

/// A game tree. Text form: an inner node is the mover's number and its children in brackets, `1(... ...)`; a leaf is
/// the margin of player 1, whose sign says who wins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toy {
    nodes: Arc<Vec<Node>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Node {
    Inner { mover: Side, children: Vec<u32> },
    Leaf(i16),
}

/// The node where the game stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State(u32);

impl Toy {
    /// A random tree: movers and numbers of children (1 to `children`) random at every node, leaves at `depth` or
    /// earlier, margins from -`margin` to `margin`.
    pub fn random(rng: &mut impl Rng, depth: u32, children: usize, margin: i16) -> Self {
        let mut nodes = Vec::new();
        grow(&mut nodes, rng, depth, children.min(MAX_CHILDREN), margin);
        Self { nodes: Arc::new(nodes) }
    }

    /// Margin of player 1 when both sides play for the best margin: plain recursion, to test searches against.
    #[must_use]
    pub fn value(&self, state: State) -> i16 {
        match &self.nodes[state.0 as usize] {
            Node::Leaf(margin) => *margin,
            Node::Inner { mover, children } => {
                let values = children.iter().map(|&child| self.value(State(child)));
                match mover {
                    Side::First => values.max(),
                    Side::Second => values.min(),
                }
                .expect("an inner node has children")
            }
        }
    }
}

fn grow(nodes: &mut Vec<Node>, rng: &mut impl Rng, depth: u32, most: usize, margin: i16) -> u32 {
    let index = nodes.len() as u32;
    nodes.push(Node::Leaf(rng.random_range(-margin..=margin)));
    if depth > 0 && rng.random_bool(0.9) {
        let mover = Side::BOTH[rng.random_range(0..2)];
        let children = (0..rng.random_range(1..=most)).map(|_| grow(nodes, rng, depth - 1, most, margin)).collect();
        nodes[index as usize] = Node::Inner { mover, children };
    }
    index
}

impl FromStr for Toy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let tokens: Vec<&str> = spaced.split_whitespace().collect();
        let mut nodes = Vec::new();
        // Inner nodes still open, outermost first.
        let mut open: Vec<u32> = Vec::new();
        let mut i = 0;
        while i < tokens.len() {
            if tokens[i] == ")" {
                let closed = open.pop().ok_or_else(|| Error::position(text, "a bracket is closed but not open"))?;
                if matches!(&nodes[closed as usize], Node::Inner { children, .. } if children.is_empty()) {
                    return Err(Error::position(text, "an inner node has no children"));
                }
                i += 1;
                continue;
            }
            let index = nodes.len() as u32;
            match open.last().map(|&parent| &mut nodes[parent as usize]) {
                Some(Node::Inner { children, .. }) if children.len() < MAX_CHILDREN => children.push(index),
                Some(_) => return Err(Error::position(text, "a node has too many children")),
                None if index == 0 => {}
                None => return Err(Error::position(text, "there is more than one root")),
            }
            if tokens.get(i + 1) == Some(&"(") {
                let mover = tokens[i].parse().ok().and_then(Side::from_number);
                let mover = mover.ok_or_else(|| Error::position(text, "a mover must be 1 or 2"))?;
                nodes.push(Node::Inner { mover, children: Vec::new() });
                open.push(index);
                i += 2;
            } else {
                let margin = tokens[i].parse().map_err(|_| Error::position(text, "a leaf must be a margin"))?;
                nodes.push(Node::Leaf(margin));
                i += 1;
            }
        }
        if nodes.is_empty() || !open.is_empty() {
            return Err(Error::position(text, "the tree is empty or a bracket is not closed"));
        }
        Ok(Self { nodes: Arc::new(nodes) })
    }
}

impl Default for Toy {
    fn default() -> Self {
        "1(+1 0 -1)".parse().expect("a tree")
    }
}

impl Rules for Toy {
    type State = State;

    fn spec(&self) -> Spec {
        Spec {
            scalars: vec!["node".into()],
            blocks: vec![("CHILD", MAX_CHILDREN)],
            ..Spec::new("toy", 1, [1, 1], &[], MAX_CHILDREN)
        }
    }

    fn start(&self) -> State {
        State(0)
    }

    fn mover(&self, state: &State) -> Side {
        match &self.nodes[state.0 as usize] {
            Node::Inner { mover, .. } => *mover,
            Node::Leaf(_) => Side::First,
        }
    }

    fn legal(&self, state: &State, out: &mut ActionList) {
        out.clear();
        if let Node::Inner { children, .. } = &self.nodes[state.0 as usize] {
            (0..children.len()).for_each(|child| out.push(Action(child as u16)));
        }
    }

    fn play(&self, state: &mut State, action: Action) {
        if let Node::Inner { children, .. } = &self.nodes[state.0 as usize] {
            *state = State(children[action.index()]);
        }
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        match &self.nodes[state.0 as usize] {
            Node::Leaf(margin) => Some(Outcome::by_margin(*margin)),
            Node::Inner { .. } => None,
        }
    }

    fn observe(&self, state: &State, features: &mut [f32]) {
        features[0] = state.0 as f32;
    }
}

impl Notation for Toy {
    fn action_text(&self, _: &State, action: Action) -> String {
        action.0.to_string()
    }

    fn parse_action(&self, _: &State, text: &str) -> Result<Action, Error> {
        match text.parse() {
            Ok(child) if usize::from(child) < MAX_CHILDREN => Ok(Action(child)),
            _ => Err(Error::action(text, "expected the number of a child")),
        }
    }

    fn position_text(&self, state: &State) -> String {
        state.0.to_string()
    }

    fn parse_position(&self, text: &str) -> Result<State, Error> {
        match text.parse() {
            Ok(node) if (node as usize) < self.nodes.len() => Ok(State(node)),
            _ => Err(Error::position(text, "expected the number of a node")),
        }
    }
}

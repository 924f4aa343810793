//! How actions and positions are written, read and drawn: the [`Notation`] trait.

use crate::action::{Action, ActionList};
use crate::board::{Board, Cells, Content, Place, Shape, Step};
use crate::error::Error;
use crate::rules::Rules;

/// Texts of a game's actions and positions, and what is to be seen of a position.
pub trait Notation: Rules {
    /// The action's text in a position, as files, protocols and programs see it. Of legal actions no two may have the same
    /// text. For an action that is not legal any text will do.
    fn action_text(&self, state: &Self::State, action: Action) -> String;

    /// The action's text as people see it: on the page, in its links, in reports and at the terminal. By default
    /// [`Notation::action_text`]; a game whose source numbers its points names them here as the board does. Of legal actions
    /// no two may have the same, nor may it be the `action_text` of another.
    fn display_text(&self, state: &Self::State, action: Action) -> String {
        self.action_text(state, action)
    }

    /// The action that either text names in a position; that it is legal is not checked. By default the first legal action
    /// whose `action_text` it is, else whose `display_text`, else likewise of all actions.
    ///
    /// # Errors
    /// The text names no action of this game.
    fn parse_action(&self, state: &Self::State, text: &str) -> Result<Action, Error> {
        let mut legal = ActionList::new();
        self.legal(state, &mut legal);
        let named = |among: &[Action], text_of: fn(&Self, &Self::State, Action) -> String| {
            among.iter().copied().find(|&action| text_of(self, state, action) == text)
        };
        let either = |among: &[Action]| named(among, Self::action_text).or_else(|| named(among, Self::display_text));
        let all = || (0..self.spec().actions as u16).map(Action).collect::<Vec<_>>();
        let found = either(&legal).or_else(|| either(&all()));
        found.ok_or_else(|| Error::action(text, format!("{} has no such action", self.spec().name)))
    }

    /// The state's text.
    fn position_text(&self, state: &Self::State) -> String;

    /// The state that a text describes.
    ///
    /// # Errors
    /// The text is malformed or describes an impossible position.
    fn parse_position(&self, text: &str) -> Result<Self::State, Error>;

    /// The points that a legal action concerns, in order: one for a placement or a removal, two for a move, more where a
    /// piece passes over several. Empty for an action that is not played on the board; it is chosen by its text. The first
    /// and the last of them are clicked to play it, and all of them are marked once it has been played. Among the legal
    /// actions of a state no two have the same clicks, and those of none begin with another's.
    ///
    /// By default [`Spec::points_of`](crate::Spec::points_of).
    fn points_of(&self, state: &Self::State, action: Action) -> Vec<usize> {
        let _ = state;
        self.spec().points_of(action)
    }

    /// The board of a position. `last` is the position before it and the action that was played there, if there
    /// was one. By default [`board_of_planes`].
    fn board(&self, state: &Self::State, last: Option<(&Self::State, Action)>) -> Board {
        board_of_planes(self, state, last)
    }
}

/// The points to click, in order, to play a legal action: the first and the last of [`Notation::points_of`].
pub fn clicks<G: Notation>(game: &G, state: &G::State, action: Action) -> Vec<usize> {
    match game.points_of(state, action)[..] {
        [first, .., last] => vec![first, last],
        ref points => points.to_vec(),
    }
}

/// The board of a game whose observation says where the pieces are ([`Spec::piece_planes`](crate::Spec::piece_planes)), as
/// cells of its lattice; of other games the text of the position.
///
/// **A game that turns the board for the second player in [`Rules::observe`] has to give its contents itself**: the planes
/// show every second position upside down, which the conformance suite finds.
pub fn board_of_planes<G: Notation>(game: &G, state: &G::State, last: Option<(&G::State, Action)>) -> Board {
    let spec = game.spec();
    let mover = game.mover(state);
    let status = spec.status(game.outcome(state), mover);
    let Some(planes) = spec.piece_planes else {
        return Board { status, ..Board::new(Shape::Text(game.position_text(state) + "\n"), spec.points) };
    };
    let mut features = vec![0.0; spec.features()];
    game.observe(state, &mut features);
    let is_on = |plane: usize, point: usize| features[plane * spec.points + point] == 1.0;
    let content = |point: usize| match planes.map(|plane| is_on(plane, point)) {
        [true, _] => Content::Piece(mover),
        [_, true] => Content::Piece(mover.other()),
        _ => Content::Empty,
    };
    Board {
        contents: (0..spec.points).map(content).collect(),
        status,
        ..Board::new(Shape::Cells(Cells::new(spec.lattice, spec.cells)), spec.points)
    }
    .after(game, last)
}

impl Board {
    /// The same after an action, with its marks, and with the steps and the event that follow from the difference to the
    /// position before: a piece goes along the points of the action or comes from the mover's hand, and pieces that are gone
    /// are beside the mover's. Stones of no side do not tell where they went, so their game gives its steps itself.
    ///
    /// `last` is the position before and the action, if there was one.
    #[must_use]
    pub fn after<G: Notation>(self, game: &G, last: Option<(&G::State, Action)>) -> Self {
        let Some((state, action)) = last else { return self };
        let (path, mover) = (game.points_of(state, action), game.mover(state));
        let before = game.board(state, None);
        let steps = self.steps_since(&before, &path, mover);
        let captured = |step: &&Step| step.to == Place::Beside(mover) && step.what == Content::Piece(mover.other());
        let event = match steps.iter().filter(captured).count() {
            0 | 1 => String::new(),
            captured => format!("{captured} captured"),
        };
        Self { marked: path, steps, event, ..self }
    }
}

/// Plays an action after checking that it is legal.
///
/// # Errors
/// The game is over, or the action is illegal: then the legal ones are named and the state is unchanged.
pub fn try_play<G: Notation>(game: &G, state: &mut G::State, action: Action) -> Result<(), Error> {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    if legal.contains(action) {
        game.play(state, action);
        return Ok(());
    }
    let text =
        if action.index() < game.spec().actions { game.action_text(state, action) } else { action.0.to_string() };
    if game.outcome(state).is_some() {
        return Err(Error::GameOver { action: text });
    }
    let legal: Vec<String> = legal.iter().map(|&a| game.action_text(state, a)).collect();
    Err(Error::Illegal { action: text, legal: legal.join(" ") })
}

/// Plays actions given as text, separated by white space, and returns the actions.
///
/// # Errors
/// The first action that is malformed or illegal; the state is then unchanged.
pub fn play_text<G: Notation>(game: &G, state: &mut G::State, moves: &str) -> Result<Vec<Action>, Error> {
    let mut after = *state;
    let mut actions = Vec::new();
    for text in moves.split_whitespace() {
        let action = game.parse_action(&after, text)?;
        try_play(game, &mut after, action)?;
        actions.push(action);
    }
    *state = after;
    Ok(actions)
}

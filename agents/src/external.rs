//! Other programs over the Universal Game Interface (UGI).

mod process;

use std::sync::Arc;
use std::time::Duration;

use turnstone_base::streams::Stream;
use turnstone_env::{Action, AnyState, DynGame, shortened};
use turnstone_search::Fault;

use self::process::{Due, Process};
use crate::engine_spec::{EngineSpec, words};
use crate::interface::{Chosen, OnInfo, PlayerFault, Search};
use crate::request::{SearchInfo, SearchRequest};

/// Another program, which plays one game at a time. It is restarted after every fault.
pub(crate) struct External {
    game: Arc<dyn DynGame>,
    spec: EngineSpec,
    process: Option<Process>,
    /// Position at the start of the game, the moves since then, and the current position.
    start: AnyState,
    moves: Vec<Action>,
    state: AnyState,
    turn: Turn,
    last: SearchInfo,
}

/// State of the program.
enum Turn {
    Idle,
    /// It has been asked.
    Thinking {
        due: Due,
        reports: bool,
    },
    /// It could not be asked.
    Failed(PlayerFault),
}

/// Longest wait for an answer in one look at the program.
const LOOK: Duration = Duration::from_millis(5);

impl External {
    pub(crate) fn new(game: Arc<dyn DynGame>, spec: &EngineSpec) -> Self {
        let (start, spec) = (game.start(), spec.clone());
        let (state, moves) = (start.clone(), Vec::new());
        Self { game, spec, process: None, start, moves, state, turn: Turn::Idle, last: SearchInfo::default() }
    }

    /// The running program, started if necessary.
    fn process(&mut self) -> Result<&mut Process, PlayerFault> {
        if self.process.is_none() {
            let words = words(&self.spec.command).map_err(PlayerFault::Crashed)?;
            let mut process = Process::start(&words)?;
            let mut options = process.introduce(self.spec.patience)?;
            if options.iter().any(|option| option == "Game") {
                process.send(format!("setoption name Game value {}", self.game.name()));
                options = process.introduce(self.spec.patience)?; // now with the game's own options
            }
            for (name, value) in
                self.game.params().iter().filter(|(name, _)| options.iter().any(|option| option == name))
            {
                process.send(format!("setoption name {name} value {value}"));
            }
            process.get_ready(self.spec.patience)?;
            self.process = Some(process);
        }
        Ok(self.process.as_mut().expect("it has been started"))
    }

    fn position(&self) -> String {
        let mut line = match self.start == self.game.start() {
            true => "position startpos".to_owned(),
            false => format!("position fen {}", self.game.position_text(&self.start)),
        };
        for (i, text) in self.game.line_texts(&self.start, &self.moves).iter().enumerate() {
            line.push_str(if i == 0 { " moves " } else { " " });
            line.push_str(text);
        }
        line
    }

    /// Asks for a move. Returns until when the program may answer.
    fn ask(&mut self, request: &SearchRequest) -> Result<Due, PlayerFault> {
        let (position, (go, patience)) = (self.position(), self.spec.go(request.remaining));
        let ready = self.spec.patience;
        let process = self.process()?;
        process.stop = request.control.stop.clone();
        process.send(position);
        // Output that is left over from the position before is not the answer to this one.
        process.get_ready(ready)?;
        process.send(go);
        Ok(Due::after(patience))
    }

    /// The answer, if it is there.
    fn answer(&mut self, due: Due) -> Option<Result<Action, PlayerFault>> {
        let process = self.process.as_mut().expect("it has been asked");
        let text = match process.best_move(due, LOOK).transpose()? {
            Ok(text) => text,
            Err(fault) => return Some(Err(fault)),
        };
        let illegal = |_| PlayerFault::IllegalMove(shortened(&text));
        let action = self.game.parse_action(&self.state, &text).and_then(|action| {
            self.game.try_play(&mut self.state.clone(), action)?;
            Ok(action)
        });
        Some(action.map_err(illegal))
    }
}

impl Search for External {
    fn most_seats(&self) -> usize {
        1
    }

    fn prepare(&mut self) -> Result<(), PlayerFault> {
        self.process().map(drop)
    }

    fn new_game(&mut self, _: usize, state: &AnyState, _: Stream) {
        (self.start, self.state) = (state.clone(), state.clone());
        self.moves.clear();
        self.turn = Turn::Idle;
        let patience = self.spec.patience;
        let begun = self.process().and_then(|process| {
            process.send("uginewgame".to_owned());
            process.get_ready(patience)
        });
        if begun.is_err() {
            self.process = None; // the next choice restarts it or returns the fault
        }
    }

    fn played(&mut self, _: usize, action: Action) {
        self.game.play(&mut self.state, action);
        self.moves.push(action);
    }

    fn begin(&mut self, _: usize, state: &AnyState, request: SearchRequest) {
        if self.state != *state {
            (self.start, self.state) = (state.clone(), state.clone());
            self.moves.clear();
        }
        self.turn = match self.ask(&request) {
            Ok(due) => Turn::Thinking { due, reports: request.reports },
            Err(fault) => Turn::Failed(fault),
        };
    }

    fn advance(&mut self, on_info: &mut OnInfo<'_>) -> Result<Vec<(usize, Chosen)>, Fault> {
        let (chosen, reports) = match std::mem::replace(&mut self.turn, Turn::Idle) {
            Turn::Idle => return Ok(Vec::new()),
            Turn::Failed(fault) => (Err(fault), false),
            Turn::Thinking { due, reports } => match self.answer(due) {
                Some(chosen) => (chosen, reports),
                None => {
                    self.turn = Turn::Thinking { due, reports };
                    return Ok(Vec::new());
                }
            },
        };
        match &chosen {
            Ok(action) => {
                self.last = SearchInfo::of_action(*action);
                if reports {
                    on_info(0, &self.last);
                }
            }
            // After an illegal move it is still there.
            Err(PlayerFault::IllegalMove(_)) => {}
            Err(_) => self.process = None,
        }
        Ok(vec![(0, chosen)])
    }

    fn report(&self, _: usize) -> SearchInfo {
        self.last.clone()
    }

    fn clear(&mut self) {
        // Output that is left over would be taken for another answer.
        if matches!(self.turn, Turn::Thinking { .. }) {
            self.process = None;
        }
        self.turn = Turn::Idle;
    }
}

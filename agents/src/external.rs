//! Other programs as players over the Universal Game Interface (UGI).

mod process;

use std::sync::Arc;
use std::time::Duration;

use turnstone_base::streams::Stream;
use turnstone_env::{Action, AnyState, DynGame, shortened};
use turnstone_search::classic::Stop;

use self::process::Process;
use crate::engine_spec::{EngineSpec, words};
use crate::player::{Player, PlayerFault};
use crate::request::{SearchInfo, SearchRequest};

/// Player that runs another program. The program is restarted after every fault.
pub(crate) struct External {
    game: Arc<dyn DynGame>,
    spec: EngineSpec,
    process: Option<Process>,
    /// Position at the start of the game, the moves since then, and the current position.
    start: AnyState,
    moves: Vec<Action>,
    state: AnyState,
    clock: Option<Duration>,
}

impl External {
    /// Starts the program.
    ///
    /// # Errors
    /// The program cannot be started, or does not answer as the protocol demands.
    pub(crate) fn new(game: Arc<dyn DynGame>, spec: &EngineSpec) -> Result<Self, PlayerFault> {
        let (start, spec) = (game.start(), spec.clone());
        let state = start.clone();
        let mut player = Self { game, spec, process: None, start, moves: Vec::new(), state, clock: None };
        player.process()?;
        Ok(player)
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

    fn ask(&mut self, stop: &Stop) -> Result<String, PlayerFault> {
        let (position, (go, patience)) = (self.position(), self.spec.go(self.clock));
        let ready = self.spec.patience;
        let process = self.process()?;
        process.stop = stop.clone();
        process.send(position);
        // What the program still had to say of the position before is not the answer to this one.
        process.get_ready(ready)?;
        process.send(go);
        process.best_move(patience)
    }
}

impl Player for External {
    fn new_game(&mut self, state: &AnyState, _: &mut Stream) {
        (self.start, self.state, self.clock) = (state.clone(), state.clone(), None);
        self.moves.clear();
        let patience = self.spec.patience;
        let begun = self.process().and_then(|process| {
            process.send("uginewgame".to_owned());
            process.get_ready(patience)
        });
        if begun.is_err() {
            self.process = None; // the next choice restarts it or returns the fault
        }
    }

    fn clock(&mut self, remaining: Duration) {
        self.clock = Some(remaining);
    }

    fn search(
        &mut self,
        state: &AnyState,
        request: &mut SearchRequest<'_>,
        _: &mut Stream,
    ) -> Result<Action, PlayerFault> {
        if self.state != *state {
            (self.start, self.state) = (state.clone(), state.clone());
            self.moves.clear();
        }
        let text = self.ask(&request.control.stop).inspect_err(|_| self.process = None)?;
        let illegal = |_| PlayerFault::IllegalMove(shortened(&text));
        let action = self.game.parse_action_in(state, &text).map_err(illegal)?;
        self.game.try_play(&mut state.clone(), action).map_err(illegal)?;
        request.notify(|| SearchInfo { depth: 0, nodes: 0, score: None, line: vec![action] });
        Ok(action)
    }

    fn played(&mut self, action: Action) {
        self.game.play(&mut self.state, action);
        self.moves.push(action);
    }
}

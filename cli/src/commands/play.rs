//! `turnstone play`: one game between two agents, the board drawn after every move.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use turnstone_env::{Action, AnyState, Side};
use turnstone_selfplay::Games;

use super::show::describe;
use crate::args::{GameArgs, PositionArgs, load_agent};
use turnstone_agents::line_io::Lines;
use turnstone_agents::streams::{Purpose, stream};
use turnstone_agents::{AgentSpec, PlayableGame, Player};
use turnstone_trainer::progress::print_stderr;

#[derive(Args, Debug)]
pub(crate) struct Play {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Agent of player 1: human, random, minimax:depth=6, alphabeta:depth=8, mcts:sims=200, az:<checkpoint>,sims=100,
    /// az:pretrained
    #[arg(long, value_name = "AGENT", default_value = "human")]
    p1: AgentSpec,
    /// Agent of player 2
    #[arg(long, value_name = "AGENT", default_value = "human")]
    p2: AgentSpec,
    /// Stop after this many moves of both players together
    #[arg(long, value_name = "N")]
    max_moves: Option<usize>,
    /// Seed of random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print the game as one JSON object instead of boards
    #[arg(long)]
    json: bool,
}

impl Play {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let game = self.game.game(games)?;
        self.play(&*game)
    }

    fn play(&self, game: &dyn PlayableGame) -> Result<ExitCode> {
        let mut state = self.position.state(game)?;
        let mut players = [self.player(game, &self.p1)?, self.player(game, &self.p2)?];
        let mut rngs = [0, 1].map(|seat| stream(self.seed, Purpose::Play, [seat, 0]));
        for (player, rng) in players.iter_mut().zip(&mut rngs) {
            player.new_game(&state, rng);
        }
        let start = game.position_text(&state);
        let mut moves = Vec::new();
        self.show(game, &state);
        while game.outcome(&state).is_none() && self.max_moves.is_none_or(|most| moves.len() < most) {
            let mover = game.mover(&state);
            let seat = mover.index();
            let chosen = players[seat].choose(game, &state, &mut rngs[seat]);
            let Some(action) = chosen.with_context(|| format!("{mover}"))? else {
                print_stderr("the game was abandoned");
                return Ok(ExitCode::FAILURE);
            };
            game.try_play(&mut state, action)?;
            players.iter_mut().for_each(|player| player.played(action));
            moves.push(game.action_text(action));
            self.show_move(game, &state, mover, moves.len(), action, players[seat].comment());
        }
        let outcome = game.outcome(&state);
        if self.json {
            let record = json!({
                "game": game.name(),
                "params": game.params(),
                "players": [self.p1.to_string(), self.p2.to_string()],
                "start": start,
                "moves": moves,
                "position": game.position_text(&state),
                "outcome": outcome.map(|outcome| outcome.name()),
                "margin": outcome.map(|o| o.margin),
                "truncated": outcome.is_some_and(|o| o.truncated),
            });
            println!("{record}");
        } else {
            println!("{}", describe(game, &state));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn player(&self, game: &dyn PlayableGame, spec: &AgentSpec) -> Result<Seat> {
        if *spec != AgentSpec::Human {
            return Ok(Seat::Agent(load_agent(spec, game)?.player(game)?));
        }
        if self.json {
            bail!("a person cannot play with --json: give --p1 and --p2 other agents");
        }
        Ok(Seat::Human)
    }

    fn show(&self, game: &dyn PlayableGame, state: &AnyState) {
        if !self.json {
            println!("{}", game.draw(state));
        }
    }

    fn show_move(
        &self,
        game: &dyn PlayableGame,
        state: &AnyState,
        mover: Side,
        number: usize,
        action: Action,
        comment: Option<String>,
    ) {
        if !self.json {
            let comment = comment.map(|comment| format!("  ({comment})")).unwrap_or_default();
            println!("{number}. {mover}: {}{comment}", game.action_text(action));
            self.show(game, state);
        }
    }
}

/// The player in a seat.
enum Seat {
    Human,
    Agent(Box<dyn Player>),
}

impl Seat {
    fn new_game(&mut self, state: &AnyState, rng: &mut turnstone_agents::streams::Stream) {
        if let Self::Agent(player) = self {
            player.new_game(state, rng);
        }
    }

    /// Chooses the next action; `None` if a person has quit.
    fn choose(
        &mut self,
        game: &dyn PlayableGame,
        state: &AnyState,
        rng: &mut turnstone_agents::streams::Stream,
    ) -> Result<Option<Action>> {
        match self {
            Self::Human => ask(game, state),
            Self::Agent(player) => Ok(Some(player.choose(state, rng)?)),
        }
    }

    fn played(&mut self, action: Action) {
        if let Self::Agent(player) = self {
            player.played(action);
        }
    }

    fn comment(&self) -> Option<String> {
        match self {
            Self::Human => None,
            Self::Agent(player) => player.comment(),
        }
    }
}

/// Prompts until a legal action is entered. Returns `None` at the end of input or after `quit`.
fn ask(game: &dyn PlayableGame, state: &AnyState) -> Result<Option<Action>> {
    println!("{}", describe(game, state));
    loop {
        print!("your move (or quit): ");
        let _ = io::stdout().flush(); // the next line that is printed finds the same fault
        let mut lines = Lines::new(io::stdin().lock());
        let line = match lines.read()? {
            None => return Ok(None),
            Some(Err(fault)) => {
                println!("{fault}");
                continue;
            }
            Some(Ok(line)) => line.trim(),
        };
        if matches!(line, "quit" | "q" | "exit") {
            return Ok(None);
        }
        let legal = game.parse_action(line).and_then(|action| {
            let mut after = state.clone();
            game.try_play(&mut after, action).map(|()| action)
        });
        match legal {
            Ok(action) => return Ok(Some(action)),
            Err(error) => println!("{error}"),
        }
    }
}

//! How a game's levels err, beside players of the same strength that err at random: the share of moves that lose value, by
//! the size of the loss.
//!
//! ```sh
//! cargo run --release -p turnstone-arena --example level_errors -- mancala
//! ```
//!
//! The player with random errors plays the strongest level's network without search, except that a share of its moves is
//! uniformly random; the share is found at which it scores half of the points against the level. Both then play against
//! themselves, and a judge gives every move's loss: the expected result after the move it would have played itself, less
//! that after the move played, from 0 to 1. Where exact values are known, both are asked in critical positions,
//! and a loss is a half (a win becomes a draw, or a draw a loss) or a whole.

use anyhow::{Context, Result, ensure};
use rand::RngExt;
use turnstone_agents::{Agent, PlayableGame, Player, SearchInfo, SearchRequest, levels};
use turnstone_arena::grading::known;
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, AnyState, Params, Side};

/// The judge of moves in games.
const JUDGE: &str = "az:pretrained,sims=64";
/// What a player with random errors plays otherwise.
const SOUND: &str = "az:pretrained,sims=0";
/// Games by which the share of random moves is found, at each of its steps, and games whose moves are judged.
const GAMES: [u64; 2] = [200, 30];
/// Steps of that search.
const STEPS: u32 = 7;
/// Positions with exact values that are asked.
const POSITIONS: usize = 600;
/// Lower bounds of the losses that are counted.
const LOSSES: [f32; 3] = [0.05, 0.15, 0.4];

fn main() -> Result<()> {
    let name = std::env::args().nth(1).context("name a game")?;
    let game = turnstone_games::built_in().make(&name, &Params::new())?;
    let game = &*game;
    let levels = levels(game)?;
    ensure!(!levels.is_empty(), "{name} has no levels");
    let mut judge = Judge { player: player(game, JUDGE)? };
    println!(
        "| {name} | random moves | moves judged | 0.05 to 0.15 | 0.15 to 0.4 | above 0.4 | exact: half | exact: whole |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for level in &levels {
        let mut own = Erring { player: player(game, &level.agent.to_string())?, share: 0.0 };
        let mut random = Erring { player: player(game, SOUND)?, share: 0.0 };
        let found = random.as_strong_as(game, &mut own)?;
        row(game, &format!("level {}", level.number), None, &mut own, &mut judge)?;
        if found {
            row(game, "random errors", Some(random.share), &mut random, &mut judge)?;
        }
    }
    Ok(())
}

fn player(game: &dyn PlayableGame, spec: &str) -> Result<Box<dyn Player>> {
    Ok(Agent::load(&spec.parse()?, game)?.player(game)?)
}

/// A player that plays a random move with a probability.
struct Erring {
    player: Box<dyn Player>,
    share: f64,
}

impl Erring {
    fn choose(&mut self, game: &dyn PlayableGame, state: &AnyState, rng: &mut Stream) -> Result<Action> {
        if self.share > 0.0 && rng.random_bool(self.share) {
            let legal = game.legal_actions(state);
            return Ok(legal[rng.random_range(0..legal.len())]);
        }
        Ok(self.player.choose(state, rng)?)
    }

    /// Finds the share of random moves at which it is as strong as another player; false if it is weaker without any.
    fn as_strong_as(&mut self, game: &dyn PlayableGame, other: &mut Self) -> Result<bool> {
        let (mut least, mut most) = (0.0, 1.0);
        if score(game, self, other)? < 0.5 {
            return Ok(false);
        }
        for _ in 0..STEPS {
            self.share = f64::midpoint(least, most);
            *(if score(game, self, other)? > 0.5 { &mut least } else { &mut most }) = self.share;
        }
        Ok(true)
    }
}

/// The share of the points that the first of two players scores.
fn score(game: &dyn PlayableGame, first: &mut Erring, second: &mut Erring) -> Result<f64> {
    let mut points = 0.0;
    for number in 0..GAMES[0] {
        // Two games share an opening, with sides swapped.
        let mut rng = stream(number / 2, Purpose::Openings, [0, 0]);
        let side = if number % 2 == 0 { Side::First } else { Side::Second };
        let mut state = opened(game, &mut rng);
        let mut rng = stream(number, Purpose::Play, [0, 0]);
        [&mut *first, &mut *second].into_iter().for_each(|player| player.player.new_game(&state, &mut rng));
        while game.outcome(&state).is_none() {
            let mover = if game.mover(&state) == side { &mut *first } else { &mut *second };
            let action = mover.choose(game, &state, &mut rng)?;
            game.play(&mut state, action);
            [&mut *first, &mut *second].into_iter().for_each(|player| player.player.played(action));
        }
        let outcome = game.outcome(&state).expect("the game is over");
        points += f64::midpoint(1.0, f64::from(outcome.value_for(side)));
    }
    Ok(points / GAMES[0] as f64)
}

/// The position after two to six random plies; the start if the game would be over.
fn opened(game: &dyn PlayableGame, rng: &mut Stream) -> AnyState {
    let mut state = game.start();
    for _ in 0..rng.random_range(2..=6) {
        let legal = game.legal_actions(&state);
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        if game.outcome(&state).is_some() {
            return game.start();
        }
    }
    state
}

struct Judge {
    player: Box<dyn Player>,
}

impl Judge {
    /// The expected result of a position for a side, from 0 to 1, and the judge's own move.
    fn value(&mut self, game: &dyn PlayableGame, state: &AnyState, side: Side) -> Result<(f32, Option<Action>)> {
        if let Some(outcome) = game.outcome(state) {
            return Ok((f32::midpoint(1.0, outcome.value_for(side).into()), None));
        }
        let mut rng = stream(0, Purpose::Play, [1, 0]);
        self.player.new_game(state, &mut rng);
        let mut last: Option<SearchInfo> = None;
        let mut report = |info: &SearchInfo| last = Some(info.clone());
        let mut request = SearchRequest { report: Some(&mut report), ..SearchRequest::default() };
        let action = self.player.search(state, &mut request, &mut rng)?;
        let [win, draw, _] = last.and_then(|info| info.score).context("the judge has no evaluation")?.win_draw_loss;
        let value = win + draw / 2.0;
        Ok((if game.mover(state) == side { value } else { 1.0 - value }, Some(action)))
    }

    /// What a move loses.
    fn loss(&mut self, game: &dyn PlayableGame, state: &AnyState, action: Action) -> Result<f32> {
        let side = game.mover(state);
        let (_, best) = self.value(game, state, side)?;
        let mut after = |action| {
            let mut after = state.clone();
            game.play(&mut after, action);
            self.value(game, &after, side).map(|(value, _)| value)
        };
        let best = best.expect("the game is not over");
        if best == action { Ok(0.0) } else { Ok((after(best)? - after(action)?).max(0.0)) }
    }
}

fn row(game: &dyn PlayableGame, who: &str, share: Option<f64>, player: &mut Erring, judge: &mut Judge) -> Result<()> {
    let (mut moves, mut losses) = (0, [0; LOSSES.len()]);
    for number in 0..GAMES[1] {
        let mut rng = stream(number, Purpose::Openings, [1, 0]);
        let mut state = opened(game, &mut rng);
        player.player.new_game(&state, &mut rng);
        while game.outcome(&state).is_none() {
            let action = player.choose(game, &state, &mut rng)?;
            if game.legal_actions(&state).len() > 1 {
                let loss = judge.loss(game, &state, action)?;
                moves += 1;
                if let Some(bin) = LOSSES.iter().rposition(|least| loss >= *least) {
                    losses[bin] += 1;
                }
            }
            game.play(&mut state, action);
            player.player.played(action);
        }
    }
    let percent = |count: usize, all: usize| format!("{:.1} %", 100.0 * count as f64 / all.max(1) as f64);
    let judged: Vec<String> = losses.iter().map(|&count| percent(count, moves)).collect();
    let exact = match exact(game, player)? {
        Some(([half, whole], all)) => format!("{} | {}", percent(half, all), percent(whole, all)),
        None => "- | -".to_owned(),
    };
    let share = share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    println!("| {who} | {share} | {moves} | {} | {exact} |", judged.join(" | "));
    Ok(())
}

/// Moves that lose a half and a whole of the exact value, and positions with a choice; `None` without exact values.
fn exact(game: &dyn PlayableGame, player: &mut Erring) -> Result<Option<([usize; 2], usize)>> {
    let Some(set) = known(game)? else { return Ok(None) };
    let (mut losses, mut all) = ([0; 2], 0);
    let critical = set.positions.iter().filter(|position| position.is_critical()).take(POSITIONS);
    for (number, position) in (0..).zip(critical) {
        let state = game.parse_position(&position.text)?;
        let mut rng = stream(number, Purpose::Play, [2, 0]);
        player.player.new_game(&state, &mut rng);
        let action = player.choose(game, &state, &mut rng)?;
        let text = game.action_text_in(&state, action);
        let reached = position.actions.iter().find(|(action, _)| *action == text).context("a move without a value")?.1;
        let loss = (position.value - reached).unsigned_abs();
        all += 1;
        if loss > 0 {
            losses[usize::from(loss) - 1] += 1;
        }
    }
    Ok(Some((losses, all)))
}

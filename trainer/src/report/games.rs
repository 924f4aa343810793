//! Sample games of the newest checkpoint against itself, which the page replays.

use anyhow::Result;
use turnstone_agents::{Agent, LoadedNetwork, SearchKind};
use turnstone_arena::Replay;
use turnstone_arena::page::{Boards, Line, escaped};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Side;
use turnstone_search::Evaluation;
use turnstone_selfplay::TrainableGame;

use crate::config::Config;

/// Number of sample games in a report.
pub(super) const GAMES: u64 = 3;
/// Maximum number of plies of a sample game.
const MOST_PLIES: usize = 300;
/// Number of initial plies that are sampled from the search's policy in all games but the first.
const VARIED_PLIES: usize = 8;

/// Plays game `number` (from 0), and renders it as a card of the page, whose boards are added to the page's. The result depends
/// only on the network, the config and the number of simulations.
///
/// # Errors
/// The network cannot be built.
pub(super) fn card(
    game: &dyn TrainableGame,
    network: &LoadedNetwork,
    config: &Config,
    simulations: u32,
    number: u64,
    boards: &mut Boards,
) -> Result<String> {
    let varied = if number == 0 { 0 } else { VARIED_PLIES };
    let (mut state, mut positions) = (game.start(), vec![game.start()]);
    let player = |temperature: u8| -> Result<_> {
        let method = config.arena.method;
        let spec = format!("az:newest,sims={simulations},method={method},temperature={temperature}").parse()?;
        let mut search = Agent::with_network(spec, Some(network.clone())).search(game, 1)?;
        let rng = stream(config.seed, Purpose::Sample, [number, temperature.into()]);
        search.new_game(0, &game.start(), rng);
        Ok(search)
    };
    let mut players = [player(1)?, player(0)?];
    let (mut actions, mut values) = (Vec::new(), Vec::new());
    while game.outcome(&state).is_none() && actions.len() < MOST_PLIES {
        let search = &mut players[usize::from(actions.len() >= varied)];
        let action = search.choose(0, &state)?;
        let [win, draw, loss] = search.report(0).score.expect("a tree has a value").win_draw_loss;
        values.push(if game.mover(&state) == Side::First { [win, draw, loss] } else { [loss, draw, win] });
        actions.push(action);
        players.iter_mut().for_each(|player| player.played(0, action));
        game.play(&mut state, action);
        positions.push(state.clone());
    }
    let outcome = game.outcome(&state);
    values.push(match &outcome {
        Some(outcome) => Evaluation::exact(outcome.value()).win_draw_loss(Side::First),
        None => values.last().copied().unwrap_or([0.0, 1.0, 0.0]),
    });
    let ending = match outcome {
        Some(_) => game.spec().status(outcome, Side::First),
        None => "unfinished".into(),
    };
    let how = match varied {
        0 => format!("the best move of {simulations} simulations in every position"),
        _ => format!("{simulations} simulations; the first {varied} plies sampled from the search's policy"),
    };
    let how = if config.arena.method == SearchKind::Gumbel { format!("{how}, Gumbel search") } else { how };
    let plies = actions.len();
    let line = Line {
        shares: values.iter().map(|value| value.map(|share| (1000.0 * share).round() as u16)).collect(),
        ..Line::new(game, &Replay { positions, actions }, boards)
    };
    let (number, ending, how) = (number + 1, escaped(&ending), escaped(&how));
    let heading = format!("<h3>Game {number}: {ending} after {plies} plies</h3><p class=\"note\">{how}</p>");
    Ok(format!("<article class=\"card game replay\" id=\"game-{number}\">{heading}{}</article>\n", line.element()))
}

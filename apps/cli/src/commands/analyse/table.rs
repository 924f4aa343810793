//! What a tree search finds in one position, as a table.

use anyhow::Result;
use turnstone_agents::{Agent, Analysis, Budget, Change, PlayableGame, SearchRequest};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::AnyState;

use crate::output::in_words;

/// Most moves that are shown, and most plies of a line.
const MOST_MOVES: usize = 12;
const MOST_PLIES: usize = 8;

/// Searches a position, at least by one simulation. `None` if the game is over there, or the agent searches no tree.
///
/// # Errors
/// The agent fails.
pub(super) fn searched(game: &dyn PlayableGame, state: &AnyState, agent: &Agent) -> Result<Option<String>> {
    if game.outcome(state).is_some() {
        return Ok(None);
    }
    let alone = agent.spec.traits().budget == Some(Budget::Simulations(0));
    let one = alone.then(|| agent.adjusted(Change::Simulations(1)));
    let mut search = one.as_ref().unwrap_or(agent).search(game, 1)?;
    search.new_game(0, state, stream(0, Purpose::Play, [0, 0]));
    search.choose_within(0, state, SearchRequest::default(), &mut |_| ())?;
    Ok(search.analysis(0).map(|analysis| table(game, state, &analysis)))
}

/// The moves with visits, priors, values and lines; values are for the player to move.
fn table(game: &dyn PlayableGame, state: &AnyState, analysis: &Analysis) -> String {
    let (mover, sign) = (analysis.mover, analysis.mover.sign());
    let result = |value: f32| match value {
        value if value > 0.0 => "won",
        value if value < 0.0 => "lost",
        _ => "drawn",
    };
    let estimate = match analysis.proven {
        Some(value) => format!("proven: {}", result(sign * f32::from(value))),
        None => in_words(analysis.estimate.win_draw_loss(mover)),
    };
    let mut text = format!(
        "position  {}\n{mover} to move: {estimate}; {} simulations\n\n",
        game.position_text(state),
        analysis.visits
    );
    let shown = &analysis.actions[..analysis.actions.len().min(MOST_MOVES)];
    let moves: Vec<String> = shown.iter().map(|action| game.display_text(state, action.root.action)).collect();
    let width = moves.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(4);
    text += &format!("{:<width$} {:>7} {:>7} {:>6}  line\n", "move", "visits", "prior", "value");
    for (action, name) in shown.iter().zip(&moves) {
        let value = match action.root.proven {
            Some(value) => result(sign * f32::from(value)).to_owned(),
            None if action.root.visits == 0 => "-".to_owned(),
            None => format!("{:+.2}", sign * action.root.value),
        };
        let line = &action.line[..action.line.len().min(MOST_PLIES)];
        let (visits, prior, line) = (
            action.root.visits,
            format!("{:.1} %", 100.0 * action.root.prior),
            game.line_display(state, line).join(" "),
        );
        text += format!("{name:<width$} {visits:>7} {prior:>7} {value:>6}  {line}").trim_end();
        text.push('\n');
    }
    match analysis.actions.len() - shown.len() {
        0 => {}
        left => text += &format!("and {left} more\n"),
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use turnstone_env::Params;
    use turnstone_games::built_in;

    use super::*;

    fn of(game: &str, position: Option<&str>, spec: &str) -> Option<String> {
        let game = built_in().make(game, &Params::new()).expect("a game");
        let state = position.map_or_else(|| game.start(), |text| game.parse_position(text).expect("a position"));
        let agent = Agent::load(&spec.parse().expect("a spec"), &*game).expect("it plays");
        searched(&*game, &state, &agent).expect("it searches")
    }

    #[test]
    fn a_table_has_the_moves_best_first() {
        let text = of("mancala", None, "az:pretrained,sims=50").expect("a table");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("position  4,4,4,4,4,4/0"), "{text}");
        assert!(lines[1].starts_with("player 1 to move: ") && lines[1].ends_with(" %; 50 simulations"), "{text}");
        assert_eq!(lines[3].split_whitespace().collect::<Vec<_>>(), ["move", "visits", "prior", "value", "line"]);
        let rows: Vec<Vec<&str>> = lines[4..].iter().map(|line| line.split_whitespace().collect()).collect();
        let visits: Vec<u32> = rows.iter().map(|row| row[1].parse().expect("visits")).collect();
        assert_eq!((rows.len(), visits.iter().sum::<u32>()), (6, 50), "{text}");
        assert!(
            rows.iter().filter(|row| row[1] != "0").all(|row| row[0] == row[5]),
            "a line begins with its move: {text}"
        );
    }

    #[test]
    fn agents_without_a_tree_and_ends_have_no_table() {
        assert_eq!(of("mancala", None, "random"), None);
        assert!(of("mu_torere", None, "mcts:sims=20").is_some_and(|text| text.contains("; 20 simulations")));
        assert!(of("mu_torere", None, "az:pretrained,sims=0").is_some_and(|text| text.contains("; 1 simulations")));
    }
}

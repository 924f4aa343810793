//! Result of a tournament as text for a terminal of 80 columns.

use std::fmt::Write;

use super::columns::{AGENTS, MEETINGS, share_text as share, text_headings, text_row};
use crate::result::signed;
use crate::{BySeat, MatchScore, Meeting, Summary, Tally, TournamentFormat, TournamentRecord};

/// Number of columns of the cross table side by side.
const CROSS_COLUMNS: usize = 10;

/// Formats the result.
pub(crate) fn text(record: &TournamentRecord, summary: &Summary) -> String {
    let (summary, cut) = &summary.with_short_names();
    let mut text = heading(record);
    match &summary.meetings[..] {
        [] => return text + "no game has been played\n",
        [meeting] if record.header.agents.len() == 2 => text += &match_text(meeting),
        _ => text += &tournament_text(summary),
    }
    if let Some(cut) = cut {
        text += &format!("{cut}\n");
    }
    text + &notes(record, summary)
}

fn heading(record: &TournamentRecord) -> String {
    let header = &record.header;
    let params: Vec<String> = header.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let params = if params.is_empty() { String::new() } else { params.join(" ") + "\n" };
    let agents = match &header.agents[..] {
        [a, b] => format!("A: {a}\nB: {b}\n"),
        _ => String::new(),
    };
    let format = match header.settings.format {
        _ if header.agents.len() == 2 => "match".to_owned(),
        TournamentFormat::RoundRobin => "round-robin".to_owned(),
        TournamentFormat::Gauntlet => "gauntlet".to_owned(),
    };
    format!("{}: {format}, seed {}\n{params}{agents}", header.game, header.settings.seed)
}

/// Result of a match between A and B.
fn match_text(meeting: &Meeting) -> String {
    let mut text = String::from("\nA plays         games    won  drawn   lost    score\n");
    let BySeat { first, second } = meeting.by_seat;
    for (seat, record) in [("player 1", first), ("player 2", second), ("both", meeting.by_seat.total())] {
        let Tally { wins, draws, losses } = record;
        let (games, score) = (record.games(), share(record.score()));
        writeln!(text, "{seat:<14} {games:>6} {wins:>6} {draws:>6} {losses:>6} {score:>6} %").expect("a string");
    }
    let MatchScore { pairs, score, score_interval: [low, high], elo, elo_interval, los } = meeting.estimate;
    let [none, half, one, more, two] = pairs.counts();
    write!(
        text,
        "
score  {:>7} %   [{}, {}]
Elo    {:>7}     [{}, {}]
LOS    {:>7} %   likelihood of superiority of A over B
pairs  {}: {none} with 0 points, {half} with 1/2, {one} with 1, {more} with 3/2, {two} with 2
",
        share(score),
        share(low),
        share(high),
        signed(elo),
        signed(elo_interval[0]),
        signed(elo_interval[1]),
        share(los),
        pairs.pairs(),
    )
    .expect("a string");
    text
}

/// Ratings, cross table and meetings of more than two agents, which are identified by their ranks.
fn tournament_text(summary: &Summary) -> String {
    let ranking = summary.ranking();
    let mut text = format!("\n  #  {:<26}{}\n", "agent", text_headings(AGENTS));
    for (place, agent) in (1..).zip(&ranking) {
        let standing = &summary.agents[*agent];
        let (name, line) = (&standing.agent, text_row(AGENTS, standing));
        // A long name has its own line.
        match name.chars().count() {
            ..=26 => writeln!(text, "{place:>3}  {name:<26}{line}"),
            _ => writeln!(text, "{place:>3}  {name}\n{:31}{line}", ""),
        }
        .expect("a string");
    }
    text += "ahead: likelihood of superiority over the next agent, in %\n";
    // Where one agent meets all others, as on a ladder, the table of meetings has it all.
    let cross = if summary.is_one_against_all() { String::new() } else { cross_table(summary, &ranking) };
    text + &cross + &meetings(summary, &ranking)
}

fn cross_table(summary: &Summary, ranking: &[usize]) -> String {
    let unmet = if summary.all_have_met() { "" } else { "; x: not met" };
    let mut text = format!("\nscore of the row against the column, %{unmet}\n");
    for columns in (0..ranking.len()).collect::<Vec<_>>().chunks(CROSS_COLUMNS) {
        let heads: String = columns.iter().map(|column| format!("{:>7}", column + 1)).collect();
        writeln!(text, "   {heads}").expect("a string");
        for (row, &a) in ranking.iter().enumerate() {
            let cell = |&column: &usize| {
                let meeting = summary.meeting(a, ranking[column]);
                let score =
                    meeting.map_or_else(|| if row == column { "-" } else { "x" }.into(), |m| share(m.estimate.score));
                format!("{score:>7}")
            };
            writeln!(text, "{:>3}{}", row + 1, columns.iter().map(cell).collect::<String>()).expect("a string");
        }
    }
    text
}

fn meetings(summary: &Summary, ranking: &[usize]) -> String {
    let heads = text_headings(MEETINGS);
    let mut text = format!("\n             as player 1          as player 2\n  meeting{heads}\n");
    for (row, &a) in ranking.iter().enumerate() {
        for (column, &b) in ranking.iter().enumerate().skip(row + 1) {
            if let Some(meeting) = summary.meeting(a, b) {
                let name = format!("{} - {}", row + 1, column + 1);
                writeln!(text, "{name:>9}{}", text_row(MEETINGS, &meeting)).expect("a string");
            }
        }
    }
    text
}

/// Sequential test, endings, faults and other remarks.
fn notes(record: &TournamentRecord, summary: &Summary) -> String {
    let mut lines = Vec::new();
    if let Some(sprt) = &summary.sprt {
        lines.push(format!("SPRT   {sprt}\n       {}", sprt.hypotheses()));
    }
    let ends = summary.endings.iter().map(|(ending, games)| format!("{games} {}", ending.words()));
    lines.push(format!("{} games ended: {}", summary.games, ends.collect::<Vec<_>>().join(", ")));
    lines.push(format!("{} distinct games of {:.1} plies on average", summary.distinct_games, summary.mean_plies));
    let MatchScore { score, score_interval, .. } = summary.first_seat;
    let [low, high] = score_interval.map(share);
    lines.push(format!("player 1 scored {} % [{low}, {high}], over all agents", share(score)));
    if let unpaired @ 1.. = summary.unpaired_games {
        lines.push(format!("{unpaired} games without the other one of their pair do not affect scores and ratings"));
    }
    for standing in summary.agents.iter().filter(|standing| !standing.faults.is_empty()) {
        let faults = standing.faults.iter().map(|(kind, count)| format!("{count} times {}", kind.words()));
        lines.push(format!("{}: {}", standing.agent, faults.collect::<Vec<_>>().join(", ")));
    }
    lines.extend(record.notes.iter().cloned());
    lines.push("intervals are 95 %, from pairs of games: one opening, seats swapped".into());
    format!("\n{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::record;

    fn of(record: &TournamentRecord) -> String {
        let text = text(record, &Summary::new(record, &vec![None; record.header.agents.len()]));
        // A spec may be longer.
        let long = text.lines().find(|line| line.chars().count() > 80 && !line.contains("sims"));
        assert_eq!(long, None, "{text}");
        text
    }

    #[test]
    fn a_match_in_80_columns() {
        let text = of(&record(&["x", "y"], &[(0, [0, 1], 1, "a"), (1, [1, 0], 0, "b"), (2, [0, 1], 1, "a")]));
        for line in [
            "mu_torere: match, seed 7\nA: x\nB: y\n",
            "player 1            2      2      0      0  100.0 %",
            "score     75.0 %   [",
            "pairs  1: 0 with 0 points, 0 with 1/2, 0 with 1, 1 with 3/2, 0 with 2",
            "SPRT   undecided, LLR 0.1",
            "       Elo 0 (H0) against 50 (H1), alpha 0.05, beta 0.05",
            "3 games ended: 3 by the rules",
            "2 distinct games of 1.0 plies on average",
            "1 games without",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(of(&record(&["x", "y"], &[])).contains("no game has been played"));
    }

    #[test]
    fn no_cell_of_a_cross_table_is_blank() {
        let ladder = of(&record(&["x", "y", "z"], &[(0, [0, 1], 1, "a"), (1, [1, 0], 0, "b"), (2, [0, 2], 1, "a")]));
        assert!(!ladder.contains("the row against the column") && ladder.contains("meeting"), "{ladder}");
        let games =
            [(0, [0, 1], 1, "a"), (1, [1, 0], 0, "b"), (2, [2, 3], 1, "a"), (3, [3, 2], 1, "b"), (4, [1, 2], 1, "a")];
        let some = of(&record(&["x", "y", "z", "u"], &games));
        assert!(some.contains("the row against the column, %; x: not met\n"), "{some}");
        let table = some.split("not met\n").nth(1).expect("the table");
        let rows: Vec<usize> = table.lines().skip(1).take(4).map(|row| row.split_whitespace().count()).collect();
        assert_eq!(rows, [5; 4], "{some}");
    }

    #[test]
    fn checkpoints_have_short_names() {
        let at = |step| format!("az:runs/mancala/checkpoints/step_{step}.safetensors,sims=100");
        let (one, other) = (at("00000100"), at("00000200"));
        let games = [(0, [0, 1], 1, "a"), (1, [1, 0], 0, "b"), (2, [0, 2], 1, "a"), (3, [2, 0], 1, "b")];
        let text = of(&record(&[&one, &other, "random"], &games));
        assert!(text.contains("  az:.../step_00000200.safetensors,sims=100\n"), "{text}");
        assert!(text.contains("\naz:.../ is az:runs/mancala/checkpoints/\n"), "{text}");
    }

    #[test]
    fn a_tournament_in_80_columns() {
        let agents: Vec<String> = (0..13)
            .map(|i| format!("alphabeta:depth={i},eval=a"))
            .chain(["mcts:sims=10000,and=so on and so forth".into()])
            .collect();
        let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
        let mut games = Vec::new();
        for a in 0..agents.len() {
            for b in 0..a {
                let number = games.len();
                games.push((number, [a, b], 1, "a"));
                games.push((number + 1, [b, a], -1, "b"));
            }
        }
        let text = of(&record(&agents, &games));
        assert!(
            text.contains("  1  mcts:sims=10000,and=so on and so forth\n") && text.contains(" 14  alphabeta:depth=0"),
            "{text}"
        );
        assert_eq!(text.matches("  100.0").count(), 92, "{text}");
    }
}

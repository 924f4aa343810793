//! Every board's picture against its text: labelled points lie the same way round in both, and hold the same stones.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games;
use turnstone_env::svg::BoardPoint;
use turnstone_env::{Action, AnyState, DynGame, Params};

/// The positions of the pictures in the documentation.
const DOCS: [(&str, &str); 5] = [
    ("mu_torere", "0-4"),
    ("mancala", "B5"),
    ("morris", "a0 g0 b1 f1 c2 xf1"),
    ("konane", "xd5 xe5 d3-d5"),
    ("morabaraba", "a1 d2 b4 d6 a4 b2 a7 xd2"),
];

/// Content of a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Empty,
    Dark,
    Light,
    Seeds(usize),
}

/// A point of a text drawing: column and line, and what lies on it.
type TextPoints = BTreeMap<String, ([usize; 2], Content)>;

/// An element of a picture with its attributes and its text.
struct Shape<'a> {
    tag: &'a str,
    attributes: BTreeMap<&'a str, &'a str>,
    text: &'a str,
}

impl Shape<'_> {
    fn number(&self, name: &str) -> f32 {
        self.attributes[name].parse().expect("a number")
    }

    fn at(&self) -> [f32; 2] {
        let [x, y] = if self.tag == "circle" { ["cx", "cy"] } else { ["x", "y"] };
        // The base line lies below the middle of the letters.
        let up = if self.tag == "text" { 0.35 * self.number("font-size") } else { 0.0 };
        [self.number(x), self.number(y) - up]
    }

    fn has(&self, class: &str) -> bool {
        self.attributes.get("class").is_some_and(|classes| classes.split(' ').any(|c| c == class))
    }
}

fn shapes(svg: &str) -> Vec<Shape<'_>> {
    let lines =
        svg.lines().filter(|line| line.starts_with('<') && !line.starts_with("<svg") && !line.starts_with("</"));
    lines
        .map(|line| {
            let (open, rest) = line.split_once('>').expect("an element");
            let (tag, list) = open[1..].split_once(' ').unwrap_or((&open[1..], ""));
            let parts: Vec<&str> = list.split('"').collect();
            let attributes =
                parts.chunks_exact(2).map(|pair| (pair[0].trim().trim_end_matches('='), pair[1])).collect();
            Shape { tag, attributes, text: rest.split_once('<').map_or("", |(text, _)| text) }
        })
        .collect()
}

fn text_points(game: &dyn DynGame, text: &str) -> TextPoints {
    let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
    match game.name() {
        "mu_torere" => beside(&lines[..9], 21, 1, ['●', '○', '.']),
        "morris" => beside(&lines[..13], 30, 2, ['B', 'W', '.']), // White moves first, with light pieces
        "morabaraba" => beside(&lines[..13], 30, 2, ['B', 'W', '.']),
        "konane" => grid(&lines),
        "mancala" => pits(&lines),
        other => panic!("no text drawing of {other}"),
    }
}

/// Drawings with the points' names in a second drawing to the right.
fn beside(lines: &[Vec<char>], left: usize, width: usize, letters: [char; 3]) -> TextPoints {
    let mut points = TextPoints::new();
    for (row, line) in lines.iter().enumerate() {
        for column in left..line.len() {
            if line[column].is_alphanumeric() && !line[column - 1].is_alphanumeric() {
                let name: String = line[column..column + width].iter().collect();
                let kind = letters.iter().position(|&letter| letter == line[column - left]).expect("a letter");
                let content = [Content::Dark, Content::Light, Content::Empty][kind];
                points.insert(name, ([column - left, row], content));
            }
        }
    }
    points
}

/// Konane's drawing with letters below and numbers to the left.
fn grid(lines: &[Vec<char>]) -> TextPoints {
    let mut points = TextPoints::new();
    let footer = lines.len() - 2; // the status is below
    let letters = lines[footer].iter().enumerate().filter(|(_, name)| name.is_alphabetic());
    for (column, name) in letters {
        for (row, line) in lines.iter().enumerate().take(footer) {
            let content = match line[column] {
                'X' => Content::Dark,
                'O' => Content::Light,
                _ => Content::Empty,
            };
            points.insert(format!("{name}{}", numbers(line)[0].1), ([column, row], content));
        }
    }
    points
}

/// Mancala's drawing with numbers above and letters to the left.
fn pits(lines: &[Vec<char>]) -> TextPoints {
    let mut points = TextPoints::new();
    for (column, name) in numbers(&lines[0]) {
        for (row, line) in lines.iter().enumerate().take(3).skip(1) {
            let stones = numbers(line).into_iter().find(|(end, _)| *end == column).expect("a count below the number").1;
            let content = Content::Seeds(stones.parse().expect("a count"));
            points.insert(format!("{}{name}", line[0]), ([column, row], content));
        }
    }
    points
}

/// The numbers of a line with the columns of their last digits.
fn numbers(line: &[char]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (column, letter) in line.iter().enumerate().filter(|(_, letter)| letter.is_ascii_digit()) {
        match found.last_mut() {
            Some((end, digits)) if *end + 1 == column => {
                *end = column;
                digits.push(*letter);
            }
            _ => found.push((column, letter.to_string())),
        }
    }
    found
}

fn near(a: [f32; 2], b: [f32; 2]) -> f32 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Points lie to the right of and below the same points in text and picture.
fn same_way_round(points: &[BoardPoint], text: &TextPoints) {
    let sign = |difference: f32| if difference.abs() < 0.5 { 0 } else { difference.signum() as i32 };
    for a in points {
        for b in points {
            for axis in [0, 1] {
                let in_text = text[&b.label].0[axis] as f32 - text[&a.label].0[axis] as f32;
                let in_picture = b.at[axis] - a.at[axis];
                assert_eq!(sign(in_text), sign(in_picture), "axis {axis} from {} to {}", a.label, b.label);
            }
        }
    }
}

fn same_content(game: &dyn DynGame, points: &[BoardPoint], text: &TextPoints, shapes: &[Shape]) {
    for point in points {
        let on = |class: &str, reach: f32| {
            shapes.iter().filter(|s| s.tag == "circle" && s.has(class) && near(s.at(), point.at) < reach).count()
        };
        let drawn = match (on("ts-fill-dark", 1.0), on("ts-fill-light", 1.0)) {
            _ if game.name() == "mancala" => Content::Seeds(on("ts-fill-seed", point.radius)),
            (0, 0) => Content::Empty,
            (1, 0) => Content::Dark,
            (0, 1) => Content::Light,
            both => panic!("{both:?} stones on {}", point.label),
        };
        assert_eq!(drawn, text[&point.label].1, "{} of {}", point.label, game.name());
    }
}

/// Each point's written name stands nearer to it than to any other point, or in line with it where rows and columns
/// have names.
fn labels_belong(game: &dyn DynGame, points: &[BoardPoint], shapes: &[Shape]) {
    for point in points {
        let written = |text: &str| {
            let found = shapes.iter().filter(|s| s.tag == "text" && s.text.split(':').next() == Some(text));
            found.map(Shape::at).collect::<Vec<_>>()
        };
        let is_cell = matches!(game.board(&game.start(), None).shape, turnstone_env::board::Shape::Cells(_));
        match is_cell.then(|| point.label.split_at(1)) {
            Some((column, row)) => {
                assert!(written(row).iter().any(|at| (at[1] - point.at[1]).abs() < 0.1), "row {row}");
                assert!(written(column).iter().any(|at| (at[0] - point.at[0]).abs() < 0.1), "column {column}");
            }
            None => {
                let at = *written(&point.label).first().expect("the point's name is written");
                let nearest = points.iter().min_by(|a, b| near(a.at, at).total_cmp(&near(b.at, at)));
                assert_eq!(nearest.expect("points").label, point.label, "{} at {at:?}", game.name());
                let others = points.iter().filter(|other| other.label != point.label).map(|other| near(other.at, at));
                let other = others.fold(f32::INFINITY, f32::min);
                assert!(1.2 * near(point.at, at) < other, "{} of {} is near another point", point.label, game.name());
            }
        }
    }
}

/// The points that an action names are marked, and no others.
fn marks_belong(points: &[BoardPoint], text: &str, shapes: &[Shape]) {
    let names: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|s| !s.is_empty()).collect();
    let mut named: Vec<String> = names.iter().map(|name| name.trim_start_matches('x').to_owned()).collect();
    let marks = shapes.iter().filter(|s| s.tag == "circle" && s.has("ts-line-mark")).map(Shape::at);
    let mut marked: Vec<String> = marks
        .map(|at| points.iter().find(|point| near(point.at, at) < 1.0).expect("a mark is on a point").label.clone())
        .collect();
    named.sort();
    marked.sort();
    assert_eq!(marked, named, "{text}");
}

fn check(game: &dyn DynGame, state: &AnyState, last: Option<(&AnyState, Action)>) {
    let (board, svg) = (game.board(state, last), game.draw_svg(state, last));
    let (points, text) = (board.points(), board.text());
    let (text, shapes) = (text_points(game, &text), shapes(&svg));
    assert_eq!((points.len(), text.len()), (game.spec().points, game.spec().points));
    same_way_round(&points, &text);
    same_content(game, &points, &text, &shapes);
    labels_belong(game, &points, &shapes);
    if let Some((before, action)) = last {
        marks_belong(&points, &game.display_text(before, action), &shapes);
    }
}

#[test]
fn pictures_agree_with_texts() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(18);
    let built_in = games::built_in();
    let small = [("konane", Params::new().with("size", 4)), ("mancala", Params::new().with("pits", 3))];
    let defaults = games::names().into_iter().map(|name| (name, Params::new()));
    for (name, params) in defaults.chain(small) {
        let game = built_in.make(name, &params).expect("a game");
        for _ in 0..3 {
            let mut state = game.start();
            check(&*game, &state, None);
            for _ in 0..90 {
                let legal = game.legal_actions(&state);
                if legal.is_empty() {
                    break;
                }
                let action = legal[rng.random_range(0..legal.len())];
                let before = state.clone();
                game.play(&mut state, action);
                check(&*game, &state, Some((&before, action)));
            }
        }
    }
}

#[test]
fn hands_losses_and_bans_are_in_the_picture() {
    let texts = |game: &str, position: &str| -> (Vec<String>, usize) {
        let game = games::built_in().make(game, &Params::new()).expect("a game");
        let svg = game.draw_svg(&game.parse_position(position).expect("a position"), None);
        let dashes = svg.lines().filter(|line| line.contains("ts-line-mark") && line.contains("dasharray")).count();
        (shapes(&svg).iter().filter(|s| s.tag == "text").map(|s| s.text.to_owned()).collect(), dashes)
    };
    let (pending, dashes) = texts("morabaraba", "BBB...................WW B 9 10 x 5 0 - -");
    for line in ["Dark: 9 in hand, 0 lost", "White: 10 in hand, 0 lost", "Dark shoots a cow"] {
        assert!(pending.iter().any(|text| text == line), "{line}: {pending:?}");
    }
    assert_eq!(dashes, 0);
    let (banned, dashes) = texts("morabaraba", ".BBBWWW..BW...W...W..BW. B 0 0 - 3 0 a1a4a7,a1d1g1 -");
    assert!(banned.iter().any(|text| text == "Dark: 7 lost, may not form a1-a4-a7, a1-d1-g1"), "{banned:?}");
    assert_eq!(dashes, 4, "two mills of two steps each");
    let (morris, _) = texts("morris", "WBWxWxxxxxxxxxxxxx B 5 6 - 0");
    for line in ["White: 5 in hand, 0 lost", "Black: 6 in hand, 1 lost", "Black to move"] {
        assert!(morris.iter().any(|text| text == line), "{line}: {morris:?}");
    }
}

#[test]
fn labels_are_clear_of_lines_and_stones() {
    for name in ["mu_torere", "morris", "morabaraba"] {
        let game = games::built_in().make(name, &Params::new()).expect("a game");
        let points = game.board(&game.start(), None).points();
        let svg = game.draw_svg(&game.start(), None);
        let shapes = shapes(&svg);
        for label in shapes.iter().filter(|s| s.tag == "text" && points.iter().any(|point| point.label == s.text)) {
            let ([x, y], size) = (label.at(), label.number("font-size"));
            let half = [0.3 * size * label.text.len() as f32, 0.37 * size];
            let inside =
                |at: [f32; 2], room: f32| (at[0] - x).abs() < half[0] + room && (at[1] - y).abs() < half[1] + room;
            for line in shapes.iter().filter(|s| s.tag == "line") {
                let [from, to] = [["x1", "y1"], ["x2", "y2"]].map(|names| names.map(|name| line.number(name)));
                let steps = (0..=200).map(|k| k as f32 / 200.0);
                let mut along = steps.map(|t| [0, 1].map(|axis| from[axis] + t * (to[axis] - from[axis])));
                assert!(!along.any(|at| inside(at, 1.5)), "a line crosses {} of {name}", label.text);
            }
            for ring in shapes.iter().filter(|s| s.tag == "circle" && s.attributes["fill"] == "none") {
                let (centre, radius) = (ring.at(), ring.number("r"));
                let mut around = (0..720).map(|k| (k as f32 * std::f32::consts::PI / 360.0).sin_cos());
                assert!(
                    !around.any(|(sin, cos)| inside([centre[0] + radius * cos, centre[1] + radius * sin], 1.5)),
                    "the ring crosses {} of {name}",
                    label.text
                );
            }
            for point in &points {
                let nearest = [0, 1].map(|i| {
                    let [at, centre] = [point.at[i], [x, y][i]];
                    at.clamp(centre - half[i], centre + half[i])
                });
                assert!(near(nearest, point.at) > point.radius, "{} lies under a stone of {name}", label.text);
            }
        }
    }
}

/// `docs/boards/<game>.svg` is what the program draws, with letters that can be read at the size that the README shows.
#[test]
fn pictures_of_the_documentation_are_current_and_readable() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
    for (name, moves) in DOCS {
        let game = games::built_in().make(name, &Params::new()).expect("a game");
        let mut state = game.start();
        let (first, last) = moves.rsplit_once(' ').unwrap_or(("", moves));
        game.play_text(&mut state, first).expect("legal moves");
        let before = state.clone();
        let action = game.play_text(&mut state, last).expect("a legal move")[0];
        let svg = game.draw_svg(&state, Some((&before, action)));
        let file = format!("docs/boards/{name}.svg");
        let written = std::fs::read_to_string(root.join(&file)).expect("a picture");
        let command = format!("turnstone show {name} --moves \"{moves}\" --svg > {file}");
        assert!(written.trim_end() == svg.trim_end(), "{file} is out of date: {command}");

        let image = readme.lines().find(|line| line.contains(&file)).expect("the README shows every board");
        let shown: f32 = image
            .split_once("height=\"")
            .and_then(|(_, rest)| rest.split('"').next())
            .expect("a height")
            .parse()
            .expect("a number");
        let height: f32 = svg
            .split_once("height=\"")
            .and_then(|(_, rest)| rest.split('"').next())
            .expect("a height")
            .parse()
            .expect("a number");
        for text in shapes(&svg).iter().filter(|s| s.tag == "text") {
            let size = text.number("font-size") * shown / height;
            assert!(size >= 8.0, "`{}` of {name} is {size:.1} pixels high in the README", text.text);
        }
    }
}

//! Tests of the statistics on simulated players of known strength: coverage of the intervals, error rates of the tests.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Stream;

use super::{Decision, Pairing, Pentanomial, Ratings, Sprt, elo_of, score_of};

/// Simulated matches per setting.
const MATCHES: u64 = 2000;

/// Model of the pairs between two players with a known expected score.
#[derive(Clone, Copy, Debug)]
struct Games {
    /// Share of draws, 0..=1, relative to the most that the expected score allows.
    draws: f64,
    /// Share of openings that the first seat always wins: each player wins one game of such a pair.
    decided: f64,
    /// Amount that the first seat adds to a player's expected score in the other openings.
    seat: f64,
}

/// Independent games without draws; many draws; openings that make the games of a pair alike.
const KINDS: [Games; 3] = [
    Games { draws: 0.0, decided: 0.0, seat: 0.0 },
    Games { draws: 0.8, decided: 0.0, seat: 0.03 },
    Games { draws: 0.3, decided: 0.2, seat: 0.05 },
];

impl Games {
    /// Draws the results of a pair in which a player's expected share of the points is exactly `score`.
    fn pair(&self, score: f64, rng: &mut Stream) -> [i8; 2] {
        if rng.random_bool(self.decided) {
            return [1, -1];
        }
        let mean = 0.5 + (score - 0.5) / (1.0 - self.decided);
        assert!(mean.max(1.0 - mean) + self.seat <= 1.0, "no such games: {self:?} at {score}");
        [mean + self.seat, mean - self.seat].map(|mean| {
            let draw = 2.0 * self.draws * mean.min(1.0 - mean);
            match rng.random::<f64>() {
                x if x < draw => 0,
                x if x < mean + draw / 2.0 => 1,
                _ => -1,
            }
        })
    }

    fn pairs(&self, count: usize, score: f64, rng: &mut Stream) -> Pentanomial {
        let mut pairs = Pentanomial::default();
        (0..count).for_each(|_| pairs.add(self.pair(score, rng)));
        pairs
    }
}

fn rng(kind: usize, number: u64) -> Stream {
    Stream::seed_from_u64(7 << 48 | (kind as u64) << 40 | number)
}

/// Share of the simulated matches in which `held` returns true.
fn share(mut held: impl FnMut(u64) -> bool) -> f64 {
    (0..MATCHES).filter(|&number| held(number)).count() as f64 / MATCHES as f64
}

#[test]
fn match_intervals_cover_the_true_elo_in_95_of_100() {
    for (kind, games) in KINDS.iter().enumerate() {
        for elo in [0.0, 100.0, 200.0, 300.0] {
            for count in [50, 200, 500] {
                let held = share(|number| {
                    let [low, high] = games.pairs(count, score_of(elo), &mut rng(kind, number)).elo_interval();
                    low <= elo && elo <= high
                });
                println!("{count} pairs at Elo {elo}, {games:?}: {held}");
                assert!((0.93..=0.97).contains(&held), "{count} pairs at Elo {elo}, {games:?}: {held}");
            }
        }
    }
}

#[test]
fn joint_rating_intervals_cover_the_true_elo_in_95_of_100() {
    const CLOSE: [f64; 4] = [-150.0, -50.0, 50.0, 150.0];
    const ANCHORS: [Option<f64>; 4] = [Some(-150.0), None, Some(50.0), None];
    for games in &KINDS {
        check_ratings(games, 50, &CLOSE, &[None; 4]);
        check_ratings(games, 100, &CLOSE, &ANCHORS);
    }
    // Pairings that are mostly clean sweeps.
    const FAR: [f64; 4] = [-600.0, -250.0, 200.0, 650.0];
    check_ratings(&KINDS[0], 50, &FAR, &[None; 4]);
    check_ratings(&KINDS[0], 50, &FAR, &[Some(-600.0), None, None, None]);
}

/// Checks how often the intervals of four players' ratings, and of the differences between neighbours, cover the true
/// values.
fn check_ratings(games: &Games, count: usize, elo: &[f64; 4], anchors: &[Option<f64>; 4]) {
    let (mut own, mut between) = ([0; 4], [0; 4]);
    for number in 0..MATCHES {
        let ratings = simulated(games, count, elo, anchors, &mut rng(10, number));
        for i in 0..4 {
            let inside = |[low, high]: [f64; 2], elo| low - 1e-6 <= elo && elo <= high + 1e-6;
            own[i] += usize::from(inside(ratings.interval(i), elo[i]));
            let other = (i + 1) % 4;
            between[i] += usize::from(inside(ratings.difference(i, other).1, elo[i] - elo[other]));
        }
    }
    println!("{count} pairs each, {games:?}, {anchors:?}: {own:?}, differences {between:?}");
    let right = 93 * MATCHES as usize / 100..=97 * MATCHES as usize / 100;
    for i in 0..4 {
        assert!(anchors[i].is_some() || right.contains(&own[i]), "{games:?} {elo:?} {anchors:?} {own:?}");
        assert!(right.contains(&between[i]), "{games:?} {elo:?} {anchors:?} {between:?}");
    }
}

/// Ratings from a round robin with `count` pairs between each two players.
fn simulated(games: &Games, count: usize, elo: &[f64], anchors: &[Option<f64>], rng: &mut Stream) -> Ratings {
    let mut pairings = Vec::new();
    for a in 0..elo.len() {
        for b in 0..a {
            let pairs = games.pairs(count, score_of(elo[a] - elo[b]), rng);
            pairings.push(Pairing { agents: [a, b], pairs });
        }
    }
    Ratings::new(&pairings, anchors)
}

#[test]
fn sequential_tests_keep_to_their_error_rates() {
    for (elo0, elo1) in [(0.0, 30.0), (0.0, 100.0), (-30.0, 30.0)] {
        let test = Sprt::new(elo0, elo1, 0.05, 0.05).expect("a test");
        for (kind, games) in KINDS.iter().enumerate() {
            for (truth, wrong) in [(elo0, Decision::AcceptH1), (elo1, Decision::AcceptH0)] {
                let mut played = 0;
                let errors = share(|number| {
                    let mut rng = rng(20 + kind, number);
                    let mut pairs = Pentanomial::default();
                    while test.decide(&pairs) == Decision::Continue {
                        pairs.add(games.pair(score_of(truth), &mut rng));
                    }
                    played += pairs.pairs() as u64;
                    test.decide(&pairs) == wrong
                });
                println!("Elo {elo0} against {elo1} at {truth}, {games:?}: {errors} wrong, {} pairs", played / MATCHES);
                // Two standard errors of the simulation above 5 %.
                assert!(errors <= 0.06, "Elo {elo0} against {elo1} at {truth}, {games:?}: {errors}");
            }
        }
    }
}

#[test]
fn elo_is_the_expected_score_of_the_simulated_pairs() {
    for (kind, games) in KINDS.iter().enumerate() {
        let pairs = games.pairs(200_000, score_of(150.0), &mut rng(30 + kind, 0));
        assert!((elo_of(pairs.score()) - 150.0).abs() < 2.0, "{games:?}: {}", pairs.elo());
    }
}

//! Certificates that prove what they say, and forgeries of every kind.

use turnstone_env::games::{Konane, MuTorere};
use turnstone_env::{Action, without_limits};

use super::*;
use crate::reachable::Solution;

fn game() -> MuTorere {
    without_limits(&MuTorere::default()).expect("it can be 0")
}

/// A certificate of a draw.
fn certificate() -> Certificate {
    certificate_of(&game(), Side::First)
}

/// The certificate of an agent that keeps the value of every position.
fn certificate_of<G: Rules>(game: &G, seat: Side) -> Certificate {
    let truth = Solution::of(game, 10_000).expect("small");
    let mut walk = Walk::new(game, seat, &[game.start()]);
    let keeps = |state: &_, action: &Action| {
        let mut next = *state;
        game.play(&mut next, *action);
        truth.value(&next) == truth.value(state)
    };
    let extent = walk.extend(10_000, &mut |state, legal| legal.iter().position(|action| keeps(state, action)));
    assert_eq!(extent, Ok(Extent::Complete));
    let claim = Claim {
        game: game.spec().name.into(),
        version: game.spec().version,
        params: game.params(),
        seat: seat.number(),
        result: walk.values()[0],
        positions: walk.positions() as u64,
        decisions: walk.moves().count(),
        agent: "exact".into(),
        seed: 0,
        network: None,
        book: None,
        asked: None,
        program: "turnstone".into(),
    };
    Certificate { claim, moves: walk.moves().bytes().to_owned() }
}

#[test]
fn a_certificate_comes_back_and_proves_its_claim() {
    let certificate = certificate();
    assert_eq!(certificate.claim.result, 0);
    certificate.check(&game()).expect("it is true");
    let read = Certificate::from_bytes(&certificate.to_bytes()).expect("undamaged");
    assert_eq!(read, certificate);
}

#[test]
fn no_flipped_bit_is_passed_over() {
    let bytes = certificate().to_bytes();
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(Certificate::from_bytes(&damaged).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(Certificate::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
    }
}

/// Forgeries whose checksums are right.
#[test]
fn forgeries_are_refused() {
    let (game, honest) = (game(), certificate());
    let fault = |forge: &dyn Fn(&mut Certificate)| {
        let mut forged = honest.clone();
        forge(&mut forged);
        let read = Certificate::from_bytes(&forged.to_bytes()).expect("its checksums are right");
        read.check(&game).expect_err("a forgery").to_string()
    };
    let claim = |forge: &dyn Fn(&mut Claim)| fault(&|forged| forge(&mut forged.claim));
    // The claim is raised, or lowered, which is no less false.
    assert_eq!(claim(&|claim| claim.result = 1), "it says that the result is at least 1, but it is 0");
    assert!(claim(&|claim| claim.result = -1).starts_with("its claim is none"));
    assert!(claim(&|claim| claim.result = 2).starts_with("its claim is none"));
    // Another game, another version, another parameter, another seat.
    assert!(claim(&|claim| claim.game = "konane".into()).starts_with("it is for konane"));
    assert!(claim(&|claim| claim.version = 2).contains("version 2"));
    assert!(claim(&|claim| claim.params.set("max_plies", 100)).contains("max_plies=100"));
    claim(&|claim| claim.seat = 2);
    assert!(claim(&|claim| claim.seat = 3).starts_with("its claim is none"));
    // Other numbers.
    assert!(claim(&|claim| claim.positions += 1).contains("positions, but there are"));
    assert!(claim(&|claim| claim.positions -= 1).contains("positions, but there are"));
    assert!(claim(&|claim| claim.positions = u64::MAX).contains("positions, but there are"));
    assert!(claim(&|claim| claim.decisions -= 1).contains("decisions, but there are"));
    // Fewer moves, and more.
    assert_eq!(fault(&|forged| forged.moves.truncate(3)), "its moves are too few");
    assert_eq!(fault(&|forged| forged.moves.clear()), "its moves are too few");
    assert_eq!(fault(&|forged| forged.moves.push(0)), "its moves are too many");
    // Another game altogether, and another version of the format.
    assert!(matches!(honest.check(&Konane::default()), Err(CertificateFault::Game { .. })));
    let bytes = honest.to_bytes();
    let (header, moves) = bytes.split_at(bytes.iter().position(|&byte| byte == b'\n').expect("a line"));
    let header = unseal_line(std::str::from_utf8(header).expect("JSON")).expect("sealed");
    let resealed = |header: &str| Certificate::from_bytes(&[seal_line(header).as_bytes(), moves].concat());
    let newer = header.replace("\"turnstone_certificate\":1", "\"turnstone_certificate\":2");
    assert!(matches!(resealed(&newer), Err(CertificateFault::Version(2))));
    let more = header.replace("\"seat\":1", "\"seat\":1,\"more\":0");
    assert!(matches!(resealed(&more), Err(CertificateFault::Header)));
    resealed(&header).expect("as it was");
}

/// Moves are changed one by one, with numbers of positions and decisions that fit them: some are illegal, some lose.
#[test]
fn forged_moves_are_refused() {
    let konane = Konane::default().with_params(&Params::new().with("size", 4)).expect("small");
    let honest = certificate_of(&konane, Side::Second);
    assert_eq!(honest.claim.result, 1);
    honest.check(&konane).expect("it is true");
    let mut seen = [0; 3];
    for bit in 0..8 * honest.moves.len() {
        let mut forged = honest.clone();
        forged.moves[bit / 8] ^= 1 << (bit % 8);
        let mut moves = MoveReader::new(&forged.moves);
        let mut walk = Walk::new(&konane, Side::Second, &[konane.start()]);
        forged.claim.positions = u64::MAX;
        // What the forged moves leave open is filled up with first moves.
        if let Ok(extent) = walk.extend(10_000, &mut |_, legal| moves.next(legal.len()).or(Some(0))) {
            assert_eq!(extent, Extent::Complete);
            forged.moves = walk.moves().bytes().to_owned();
            forged.claim.positions = walk.positions() as u64;
            forged.claim.decisions = walk.moves().count();
        }
        let read = Certificate::from_bytes(&forged.to_bytes()).expect("its checksums are right");
        let at = match read.check(&konane) {
            Err(CertificateFault::Illegal(_)) => 0,
            Err(CertificateFault::Result { said: 1, found: -1 }) => 1,
            Err(other) => panic!("{other}"),
            // Another move that wins: no forgery.
            Ok(()) => 2,
        };
        seen[at] += 1;
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

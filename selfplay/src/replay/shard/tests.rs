//! Shards are read back as they were written, and damaged or forged ones are refused.

use super::*;

/// A shard whose positions differ in their first feature.
pub(in crate::replay) fn example(iteration: u64, positions: usize) -> Shard {
    let mut shard = Shard::new(iteration, 3);
    for i in 0..positions {
        let policy = (0..1 + i % 3).map(|a| (a as u16, 1.0 / (1 + i % 3) as f32));
        let tag = (iteration as usize * 1000 + i) as f32;
        let root = Evaluation { value: 0.25, draw: 0.5 };
        shard.push(&[tag, 0.0, 1.0], policy, Side::BOTH[i % 2], root);
    }
    shard.finish_game(&Outcome::by_margin(-3));
    shard
}

fn id() -> GameId {
    GameId { name: "mancala".into(), version: 1, params: Params::new().with("stones", 4) }
}

#[test]
fn files_round_trip_and_damage_is_detected() {
    let mut shard = example(7, 5);
    shard.append(&example(8, 3));
    let bytes = shard.to_bytes(&id());
    assert_eq!(parse(&bytes, &id()).as_ref(), Ok(&shard));
    for len in 0..bytes.len() {
        assert!(parse(&bytes[..len], &id()).is_err(), "cut to {len}");
    }
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        assert!(parse(&flipped, &id()).is_err(), "flipped at {at}");
    }
    let other = GameId { version: 2, ..id() };
    assert!(parse(&bytes, &other).unwrap_err().contains("not for this game"));
}

/// Valid checksums over what no self-play writes.
#[test]
fn forged_shards_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("000001.shard");
    let read = |forge: &dyn Fn(&mut Shard)| {
        let mut shard = example(1, 4);
        forge(&mut shard);
        std::fs::write(&path, shard.to_bytes(&id())).expect("writable");
        Shard::read(&path, &id(), 1, 3, 3).map_err(|error| error.fault)
    };
    assert_eq!(read(&|_| ()), Ok(example(1, 4)));
    let fault = |forge: &dyn Fn(&mut Shard)| read(forge).expect_err("it is forged");
    assert!(fault(&|shard| shard.policy_indices[2] = 3).contains("beyond the 3 actions"));
    assert!(fault(&|shard| shard.policy_indices[2] = u16::MAX).contains("beyond the 3 actions"));
    for share in [f32::NAN, -0.5, f32::INFINITY, 1.5] {
        assert!(fault(&|shard| shard.policy[0] = share).contains("a share of the policy"), "{share}");
    }
    assert!(fault(&|shard| shard.policy[0] = 0.5).contains("adds up to"));
    assert!(fault(&|shard| shard.policy_ends[0] = 0).contains("adds up to"));
    assert!(fault(&|shard| shard.policy[0] = 0.994).contains("adds up to"));
    let twice = |shard: &mut Shard| shard.policy_indices[2] = shard.policy_indices[1];
    assert!(fault(&twice).contains("position 1 has index 0 twice"), "{}", fault(&twice));
    for feature in [f32::NAN, f32::NEG_INFINITY, 1e30, -2e6] {
        assert!(fault(&|shard| shard.features[5] = feature).contains("feature"), "{feature}");
    }
    assert!(fault(&|shard| shard.records[1].root_value = f32::NAN).contains("a value or result"));
    for [value, draw] in [[1.0, 1.0], [-1.0, 0.5], [0.6, 0.45], [0.0, -0.5], [0.0, f32::NAN], [1.1, 0.0]] {
        let forge = |shard: &mut Shard| (shard.records[1].root_value, shard.records[1].root_draw) = (value, draw);
        assert!(fault(&forge).contains("position 1 has a value or result"), "{value} {draw}");
    }
    let rounded = |shard: &mut Shard| (shard.records[1].root_value, shard.records[1].root_draw) = (-0.7, 0.300_01);
    assert!(read(&rounded).is_ok());
    assert!(fault(&|shard| shard.records[1].root_draw = 7.0).contains("a value or result"));
    assert!(fault(&|shard| shard.records[1].result = 2).contains("a value or result"));
}

#[test]
fn positions_keep_their_policy_and_end() {
    let mut shard = example(1, 4);
    shard.append(&example(2, 4));
    let position = shard.position(6);
    assert_eq!(position.policy_indices, [0, 1, 2]);
    assert_eq!((position.result, position.margin, position.plies_left), (-1, -3, 2));
    assert_eq!(position.mover, Side::First);
}

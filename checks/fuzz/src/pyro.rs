//! Readers of Pyro's protocol: pickles, and the requests of a player to the world.

use turnstone_env::Side;
use turnstone_hosts::pyro::pickle::{self, Value};
use turnstone_hosts::pyro::request::{Received, Request, receive};
use turnstone_hosts::pyro::world::World;

const PORTS: [u16; 2] = [60_000, 60_001];

/// A pickle that is read is written as one of the same value, and longer input does not change it.
pub(crate) fn pickles(data: &[u8]) -> bool {
    let Ok(Some((value, length))) = pickle::read(data) else { return false };
    assert!(length <= data.len());
    assert_eq!(pickle::read(&data[..length]), Ok(Some((value.clone(), length))));
    let written = value.pickled();
    match pickle::read(&written) {
        Ok(read) => assert_eq!(read, Some((value, written.len()))),
        Err(error) => assert!(matches!(error, pickle::PickleError::TooLong), "{error}"),
    }
    true
}

pub(crate) fn example_pickles() -> Vec<Vec<u8>> {
    let cell = |text: &str| Value::Text(text.to_owned());
    let column = Value::List(["X", "O", "", "X", "O", "", "X", "O"].map(cell).to_vec());
    let values = [
        Value::None,
        Value::Bool(true),
        Value::Int(-7),
        cell("k\u{f6}nane \\ ' \u{1f3c6}"),
        Value::Tuple(vec![Value::Int(1), Value::List(Vec::new())]),
        Value::List(vec![column; 8]),
    ];
    let python = [&b"(lp0\nS'X'\np1\nag1\na."[..], b"I01\n.", b"L123L\n.", b"V\\u00e9\np0\n.", b"S'a\\x41\\n'\np0\n."];
    values.iter().map(Value::pickled).chain(python.iter().map(|bytes| bytes.to_vec())).collect()
}

/// Requests are read one after the other, and the world answers them, whatever they are.
pub(crate) fn requests(data: &[u8]) -> bool {
    let mut world = World::new(Side::First);
    let mut rest = data;
    loop {
        match receive(rest, PORTS) {
            Received::Request(request, length) => {
                assert!(length > 0 && length <= rest.len());
                rest = &rest[length..];
                let side = world.mover();
                match request {
                    Request::Play(command) => drop(world.play(side, &command)),
                    Request::Done => drop(world.done(side)),
                    Request::Board => assert!(matches!(world.board(), Value::List(columns) if columns.len() == 8)),
                    _ => {}
                }
            }
            Received::Partly | Received::Unknown => return rest.is_empty(),
        }
    }
}

pub(crate) fn example_requests() -> Vec<Vec<u8>> {
    [
        "connectionNum:60001whosMoveboardremove(5,4)donewhosMoveremove(4,4)done",
        "remove(5,5)done\nremove(5,4)done\njump(3, 5, 5, 5)done board reset properties movements quit disconnect",
        "supportedFeatures builtinDevices end exit jump(2,4,4,4,6,4)",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}

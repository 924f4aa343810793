//! Pickles as Python writes them are read; everything else is an error.

use super::*;

fn text(s: &str) -> Value {
    Value::from(s)
}

fn loads(bytes: &[u8]) -> Result<Value, PickleError> {
    read(bytes).map(|read| {
        let (value, length) = read.expect("a whole pickle");
        assert_eq!(length, bytes.len());
        value
    })
}

/// As written by `pickle` and `cPickle` of Python 2.7 and `pickle` of Python 3, protocol 0.
#[test]
fn what_python_writes_is_read() {
    let board = Value::List(vec![Value::List(vec![text("O"), text("X"), text("")]), Value::List(vec![text("X")])]);
    for pickle in [
        &b"(lp0\n(lp1\nS'O'\np2\naS'X'\np3\naS''\np4\naa(lp5\ng3\naa."[..],
        b"(lp1\n(lp2\nS'O'\naS'X'\naS''\naa(lp3\nS'X'\naa.",
        b"(lp0\n(lp1\nVO\np2\naVX\np3\naV\np4\naa(lp5\ng3\naa.",
    ] {
        assert_eq!(loads(pickle), Ok(board.clone()));
    }
    assert_eq!(loads(b"I01\n."), Ok(Value::Bool(true)));
    assert_eq!(loads(b"I1\n."), Ok(Value::Int(1)));
    assert_eq!(loads(b"L-5L\n."), Ok(Value::Int(-5)));
    assert_eq!(loads(b"N."), Ok(Value::None));
    assert_eq!(loads(b"(I1\nS'a'\np0\ntp1\n."), Ok(Value::Tuple(vec![Value::Int(1), text("a")])));
    assert_eq!(loads(b"(t."), Ok(Value::Tuple(vec![])));
    assert_eq!(loads(b"V\xe9\\u000a\\u005cx\\u20ac\\U0001f600\np0\n."), Ok(text("é\n\\x€😀")));
    assert_eq!(loads(b"S\"a'b\\n\\xff\"\np0\n."), Ok(text("a'b\nÿ")));
    assert_eq!(loads(b"S'a\\'\"'\np0\n."), Ok(text("a'\"")));
}

#[test]
fn what_is_written_is_read() {
    let all = Value::Tuple(vec![
        Value::List(vec![text("X"), text(""), text("it's\n\\ €😀")]),
        Value::Bool(false),
        Value::Int(i64::MIN),
        Value::None,
    ]);
    let pickle = all.pickled();
    assert_eq!(loads(&pickle), Ok(all));
    for length in 0..pickle.len() {
        assert_eq!(read(&pickle[..length]), Ok(None), "the first {length} bytes");
    }
}

#[test]
fn anything_else_is_refused() {
    let fault = |bytes: &[u8]| read(bytes).expect_err("a fault").to_string();
    assert_eq!(fault(b"cos\nsystem\n(S'true'\ntR."), "byte 0: opcode `c` is none of plain data in protocol 0");
    assert_eq!(fault(b"\x80\x04K\x01."), "byte 0: opcode `\\x80` is none of plain data in protocol 0");
    assert_eq!(fault(b"(i__main__\nX\n."), "byte 1: opcode `i` is none of plain data in protocol 0");
    assert_eq!(fault(b"."), "byte 0: the end, but not of one value");
    for wrong in [
        &b"(."[..],
        b"I1\nI2\n.",
        b"l",
        b"a",
        b"I1\na",
        b"p0\n",
        b"(p0\n",
        b"g7\n",
        b"(lp0\ng0\n.",
        b"g+1\n",
        b"Ix\n",
        b"I99999999999999999999\n",
        b"L5\n",
        b"S'a\n",
        b"Sa\n",
        b"S'\\q'\n",
        b"S'\\x4'\n",
        b"S'\\\n",
        b"V\\ud800\n",
        b"V\\u12\n",
    ] {
        assert!(fault(wrong).starts_with("byte "), "{}", wrong.escape_ascii());
    }
    assert_eq!(fault(&b"(l".repeat(200)), "byte 256: nested too deep");
    assert_eq!(fault(&[b"S'".to_vec(), vec![b'a'; MAX_BYTES]].concat()), "longer than 16384 bytes");
}

#[test]
fn no_bytes_bring_the_reader_down() {
    use rand::{Rng, RngExt};
    let mut rng = turnstone_base::streams::stream(1, turnstone_base::streams::Purpose::Play, [0, 0]);
    let alphabet = b"(ltap0g1SVIL'\"\\xu\n.N01cR\xff";
    for _ in 0..20_000 {
        let length = rng.random_range(0..40);
        let bytes: Vec<u8> = (0..length).map(|_| alphabet[rng.next_u32() as usize % alphabet.len()]).collect();
        let _ = read(&bytes);
    }
}

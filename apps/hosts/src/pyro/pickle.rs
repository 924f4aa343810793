//! Python pickles of plain data in protocol 0; every other opcode is an error.
//!
//! A general unpickler calls the functions that a pickle names, so it must not read data from the network. This one
//! reads strings, integers, booleans, `None`, lists and tuples, as written by Python 2 (`pickle` and `cPickle`) and
//! Python 3, with limits on size and nesting.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use thiserror::Error;

/// Maximum length of a pickle; a world's board takes less than 1,000 bytes.
pub const MAX_BYTES: usize = 16 * 1024;

/// Maximum size of the stack (marks and values), which bounds the nesting.
const MAX_STACK: usize = 128;

/// A value of plain data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A `str` of Python 2 (bytes decoded as Latin-1) or 3, or a `unicode`.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
}

/// Error of [`read`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PickleError {
    /// An opcode of another protocol, or not of plain data.
    #[error("byte {at}: opcode `{}` is none of plain data in protocol 0", .opcode.escape_ascii())]
    Opcode {
        /// The opcode.
        opcode: u8,
        /// Offset of the opcode in bytes.
        at: usize,
    },
    /// The argument of an opcode or the stack is invalid.
    #[error("byte {at}: {fault}")]
    Malformed {
        /// The fault.
        fault: &'static str,
        /// Offset of the opcode in bytes.
        at: usize,
    },
    /// The pickle is longer than [`MAX_BYTES`].
    #[error("longer than {MAX_BYTES} bytes")]
    TooLong,
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Value {
    /// Pickles the value for `pickle.loads` of Python 2 and 3.
    #[must_use]
    pub fn pickled(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes.push(b'.');
        bytes
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => out.push(b'N'),
            Self::Bool(value) => out.extend(format!("I0{}\n", u8::from(*value)).bytes()),
            Self::Int(number) => out.extend(format!("I{number}\n").bytes()),
            Self::Text(text) => write_text(text, out),
            Self::List(elements) => {
                out.extend(b"(l");
                for element in elements {
                    element.write(out);
                    out.push(b'a');
                }
            }
            Self::Tuple(elements) => {
                out.push(b'(');
                elements.iter().for_each(|element| element.write(out));
                out.push(b't');
            }
        }
    }
}

/// Writes printable ASCII as `str`, which both Pythons read, and other text as `unicode`.
fn write_text(text: &str, out: &mut Vec<u8>) {
    let is_plain = |c: char| matches!(c, ' '..='~') && c != '\'' && c != '\\';
    if text.chars().all(is_plain) {
        out.extend(format!("S'{text}'\n").bytes());
        return;
    }
    out.push(b'V');
    for c in text.chars() {
        match u32::from(c) {
            _ if matches!(c, ' '..='~') && c != '\\' => out.push(c as u8),
            code @ ..=0xffff => out.extend(format!("\\u{code:04x}").bytes()),
            code => out.extend(format!("\\U{code:08x}").bytes()),
        }
    }
    out.push(b'\n');
}

/// Reads the value at the start of `bytes` and returns it with its length in bytes, or `None` if it is incomplete.
///
/// # Errors
/// The bytes are not a pickle of plain data, or it is longer than [`MAX_BYTES`].
pub fn read(bytes: &[u8]) -> Result<Option<(Value, usize)>, PickleError> {
    let mut reader = Reader { bytes, at: 0, stack: Vec::new(), memo: BTreeMap::new() };
    match reader.read()? {
        Some(_) if reader.at > MAX_BYTES => Err(PickleError::TooLong),
        None if bytes.len() >= MAX_BYTES => Err(PickleError::TooLong),
        Some(value) => Ok(Some((value, reader.at))),
        None => Ok(None),
    }
}

/// An item of the unpickler's stack.
enum Item {
    Mark,
    Value(Value),
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// Number of bytes read.
    at: usize,
    stack: Vec<Item>,
    /// Memo of strings. Pickles of a board refer to strings again, but never to lists.
    memo: BTreeMap<u32, String>,
}

impl Reader<'_> {
    /// Reads the value; `None` if the bytes end before it does.
    fn read(&mut self) -> Result<Option<Value>, PickleError> {
        while let Some(&opcode) = self.bytes.get(self.at) {
            let at = self.at;
            self.at += 1;
            let argument = if b"gpSVIL".contains(&opcode) {
                let Some(length) = self.bytes[self.at..].iter().position(|&byte| byte == b'\n') else {
                    return Ok(None);
                };
                let line = &self.bytes[self.at..self.at + length];
                self.at += length + 1;
                line
            } else {
                &[]
            };
            let malformed = |fault| PickleError::Malformed { fault, at };
            if opcode == b'.' {
                let fault = malformed("the end, but not of one value");
                return match (self.stack.pop(), self.stack.is_empty()) {
                    (Some(Item::Value(value)), true) => Ok(Some(value)),
                    _ => Err(fault),
                };
            }
            let known = self.step(opcode, argument).map_err(malformed)?;
            if !known {
                return Err(PickleError::Opcode { opcode, at });
            }
            if self.stack.len() > MAX_STACK {
                return Err(malformed("nested too deep"));
            }
        }
        Ok(None)
    }

    /// Executes an opcode. Returns false if it is unknown.
    fn step(&mut self, opcode: u8, argument: &[u8]) -> Result<bool, &'static str> {
        let value = match opcode {
            b'N' => Value::None,
            b'I' => number_or_bool(argument)?,
            b'L' => number(argument.strip_suffix(b"L").ok_or("a long number without its `L`")?)?,
            b'S' => Value::Text(quoted(argument)?),
            b'V' => Value::Text(unescaped(argument, Escapes::Unicode)?),
            b'l' => Value::List(self.down_to_mark()?),
            b't' => Value::Tuple(self.down_to_mark()?),
            b'g' => Value::Text(self.memo.get(&place(argument)?).ok_or("nothing to read was put there")?.clone()),
            b'(' => {
                self.stack.push(Item::Mark);
                return Ok(true);
            }
            b'a' => {
                let element = self.stack.pop();
                let (Some(Item::Value(element)), Some(Item::Value(Value::List(list)))) =
                    (element, self.stack.last_mut())
                else {
                    return Err("no list to append to");
                };
                list.push(element);
                return Ok(true);
            }
            b'p' => {
                let place = place(argument)?;
                match self.stack.last() {
                    Some(Item::Value(Value::Text(text))) => self.memo.insert(place, text.clone()),
                    Some(Item::Value(_)) => self.memo.remove(&place),
                    _ => return Err("no value to remember"),
                };
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.stack.push(Item::Value(value));
        Ok(true)
    }

    /// Removes the last mark and returns the values above it.
    fn down_to_mark(&mut self) -> Result<Vec<Value>, &'static str> {
        let is_mark = |item: &Item| matches!(item, Item::Mark);
        let mark = self.stack.iter().rposition(is_mark).ok_or("a list or tuple without a start")?;
        let values = self.stack.drain(mark..).filter_map(|item| match item {
            Item::Mark => None,
            Item::Value(value) => Some(value),
        });
        Ok(values.collect())
    }
}

fn number_or_bool(argument: &[u8]) -> Result<Value, &'static str> {
    match argument {
        b"00" => Ok(Value::Bool(false)),
        b"01" => Ok(Value::Bool(true)),
        _ => number(argument),
    }
}

fn number(digits: &[u8]) -> Result<Value, &'static str> {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    number.map(Value::Int).ok_or("not a number of 64 bits")
}

fn place(argument: &[u8]) -> Result<u32, &'static str> {
    let digits = std::str::from_utf8(argument).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).ok_or("not a place in the memo")
}

/// Parses a string literal as written by `repr` in Python 2.
fn quoted(literal: &[u8]) -> Result<String, &'static str> {
    match literal {
        [quote @ (b'\'' | b'"'), text @ .., last] if last == quote => unescaped(text, Escapes::Repr),
        _ => Err("a text without its quotes"),
    }
}

/// Kind of escapes in a string.
#[derive(Clone, Copy)]
enum Escapes {
    /// The escapes of a `repr`: `\n`, `\xff` and so on.
    Repr,
    /// `\u20ac` and `\U0001f600` only.
    Unicode,
}

/// Decodes Latin-1 bytes with escapes.
fn unescaped(bytes: &[u8], escapes: Escapes) -> Result<String, &'static str> {
    let mut text = String::new();
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            text.push(char::from(*first));
            continue;
        }
        let [kind, tail @ ..] = rest else { return Err("a text that ends within an escape") };
        let digits = match (escapes, kind) {
            (Escapes::Repr, b'\\' | b'\'' | b'"') => {
                text.push(char::from(*kind));
                0
            }
            (Escapes::Repr, b'n' | b't' | b'r') => {
                text.push(if *kind == b'n' {
                    '\n'
                } else if *kind == b't' {
                    '\t'
                } else {
                    '\r'
                });
                0
            }
            (Escapes::Repr, b'x') => 2,
            (Escapes::Unicode, b'u') => 4,
            (Escapes::Unicode, b'U') => 8,
            _ => return Err("a text with an unknown escape"),
        };
        rest = tail;
        if digits > 0 {
            let code = tail.get(..digits).and_then(|digits| std::str::from_utf8(digits).ok());
            let code = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
            text.push(code.ok_or("a text with an escape that is no character")?);
            rest = &tail[digits..];
        }
    }
    Ok(text)
}

//! Rust source as tokens: identifiers, literals and punctuation, without comments and white space.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident,
    /// A string, character or number, with its quotes.
    Literal,
    /// `::`, or one character. A lifetime is its quote followed by an identifier.
    Punctuation,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// The tokens of a file.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut found, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (None, block_comment(rest))
        } else if let Some(length) = string(rest).or_else(|| character(rest)) {
            (Some(Kind::Literal), length)
        } else if first.is_ascii_digit() {
            (Some(Kind::Literal), word(rest))
        } else if is_word(first) {
            (Some(Kind::Ident), word(rest))
        } else if rest.starts_with("::") {
            (Some(Kind::Punctuation), 2)
        } else {
            (Some(Kind::Punctuation), first.len_utf8())
        };
        let (text, after) = rest.split_at(length);
        found.extend(kind.map(|kind| Token { kind, text, line }));
        line += text.matches('\n').count();
        rest = after;
    }
    found
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn word(text: &str) -> usize {
    text.find(|character| !is_word(character)).unwrap_or(text.len())
}

/// Length of the block comment, which may contain others.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match text.as_bytes().get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of the string that the text starts with, if it does: plain, byte or C string, raw or not.
fn string(text: &str) -> Option<usize> {
    let prefix = word(text);
    if !matches!(&text[..prefix], "" | "b" | "c" | "r" | "br" | "cr") {
        return None;
    }
    let raw = text[..prefix].ends_with('r');
    let hashes = if raw { text[prefix..].bytes().take_while(|&byte| byte == b'#').count() } else { 0 };
    let open = prefix + hashes;
    let body = text[open..].strip_prefix('"')?;
    if raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(open + 1 + body.find(&end).map_or(body.len(), |at| at + end.len()));
    }
    let mut escaped = false;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(open + 1 + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// Length of the character literal that the text starts with; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let prefix = usize::from(text.starts_with("b'"));
    let body = text[prefix..].strip_prefix('\'')?;
    let mut characters = body.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        let (after_escaped, _) = characters.nth(1)?; // what is escaped may be a quote
        return Some(prefix + 1 + after_escaped + body[after_escaped..].find('\'')? + 1);
    }
    let (at, quote) = characters.next()?;
    (quote == '\'').then_some(prefix + 1 + at + 1)
}

/// Whether the tokens at this place are these.
pub(crate) fn starts_with(tokens: &[Token<'_>], at: usize, expected: &[&str]) -> bool {
    tokens.len() >= at + expected.len() && tokens[at..].iter().zip(expected).all(|(token, text)| token.text == *text)
}

/// The index after the attribute `#[...]` or `#![...]` at this place.
pub(crate) fn after_attribute(tokens: &[Token<'_>], at: usize) -> usize {
    let open = at + 1 + usize::from(starts_with(tokens, at + 1, &["!"]));
    after_group(tokens, open)
}

/// The index after the group that opens at this place.
pub(crate) fn after_group(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match (token.kind, token.text) {
            (Kind::Punctuation, "(" | "[" | "{") => depth += 1,
            (Kind::Punctuation, ")" | "]" | "}") => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// The index after the item or statement at this place: after its `;` or its braces.
pub(crate) fn after_item(tokens: &[Token<'_>], mut at: usize) -> usize {
    while at < tokens.len() {
        match (tokens[at].kind, tokens[at].text) {
            (Kind::Punctuation, "#") => at = after_attribute(tokens, at),
            (Kind::Punctuation, ";") => return at + 1,
            (Kind::Punctuation, "}") => return at, // the last of a block
            (Kind::Punctuation, "{") => return after_group(tokens, at),
            (Kind::Punctuation, "(" | "[") => at = after_group(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// The tokens without the items under one of these attributes, each written as its tokens without spaces.
pub(crate) fn without_items<'a>(tokens: &[Token<'a>], attributes: &[&str]) -> Vec<Token<'a>> {
    let (mut left, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if starts_with(tokens, at, &["#", "["]) {
            let after = after_attribute(tokens, at);
            if attributes.contains(&joined(&tokens[at..after]).as_str()) {
                at = after_item(tokens, after);
                continue;
            }
        }
        left.push(tokens[at]);
        at += 1;
    }
    left
}

/// The tokens without attributes.
pub(crate) fn without_attributes<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let (mut left, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if starts_with(tokens, at, &["#", "["]) || starts_with(tokens, at, &["#", "!", "["]) {
            at = after_attribute(tokens, at);
        } else {
            left.push(tokens[at]);
            at += 1;
        }
    }
    left
}

/// The tokens as text without spaces.
pub(crate) fn joined(tokens: &[Token<'_>]) -> String {
    tokens.iter().map(|token| token.text).collect()
}

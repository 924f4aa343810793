//! Rust source as tokens: names, literals and punctuation, without comments and white space.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident,
    /// A string, character or number, with its quotes.
    Literal,
    /// `::`, or one character. A lifetime is its quote followed by an identifier.
    Punctuation,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The tokens of a file, with groups in brackets as trees. Documentation is attributes.
pub(crate) fn trees(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// The tokens of a file as one list.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    listed(trees(text))
}

/// Trees as one list, with their brackets.
pub(crate) fn listed(trees: TokenStream) -> Vec<Token> {
    let mut found = Vec::new();
    list(trees, &mut found);
    found
}

fn list(trees: TokenStream, found: &mut Vec<Token>) {
    let token = |kind, text: String, span: Span| Token { kind, text, line: span.start().line };
    let mut in_colons = false;
    for tree in trees {
        let (kind, text, span) = match tree {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                found.push(token(Kind::Punctuation, open.to_owned(), group.span_open()));
                list(group.stream(), found);
                found.push(token(Kind::Punctuation, close.to_owned(), group.span_close()));
                continue;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => {
                if std::mem::take(&mut in_colons) {
                    found.last_mut().expect("the first colon").text.push(':');
                    continue;
                }
                in_colons = mark.spacing() == Spacing::Joint;
                (Kind::Punctuation, ":".to_owned(), mark.span())
            }
            TokenTree::Punct(mark) => (Kind::Punctuation, mark.as_char().to_string(), mark.span()),
            TokenTree::Ident(name) => (Kind::Ident, name.to_string(), name.span()),
            TokenTree::Literal(literal) => (Kind::Literal, literal.to_string(), literal.span()),
        };
        found.push(token(kind, text, span));
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::None => ("", ""),
    }
}

/// A call of a macro.
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) arguments: Vec<Token>,
}

/// The calls of macros, those in arguments of others included.
pub(crate) fn calls(trees: TokenStream) -> Vec<Call> {
    let trees: Vec<TokenTree> = trees.into_iter().collect();
    let mut found = Vec::new();
    for three in trees.windows(3) {
        if let [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(arguments)] = three
            && mark.as_char() == '!'
        {
            let line = name.span().start().line;
            found.push(Call { name: name.to_string(), line, arguments: listed(arguments.stream()) });
        }
    }
    for tree in trees {
        if let TokenTree::Group(group) = tree {
            found.extend(calls(group.stream()));
        }
    }
    found
}

/// Whether the tokens at this place are these.
pub(crate) fn starts_with(tokens: &[Token], at: usize, expected: &[&str]) -> bool {
    tokens.len() >= at + expected.len() && tokens[at..].iter().zip(expected).all(|(token, text)| token.text == *text)
}

/// The tokens as text without spaces.
pub(crate) fn joined(tokens: &[Token]) -> String {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

/// The trees without the items and statements under one of these attributes, such as `cfg(test)`, without spaces.
pub(crate) fn without_items(trees: TokenStream, attributes: &[&str]) -> TokenStream {
    without(trees, &|attribute| attributes.contains(&attribute).then_some(Left::Item))
}

/// The trees without attributes.
pub(crate) fn without_attributes(trees: TokenStream) -> TokenStream {
    without(trees, &|_| Some(Left::Attribute))
}

/// What is left out where an attribute stands.
enum Left {
    Attribute,
    /// The attribute and what it is about, to its `;` or its braces.
    Item,
}

fn without(trees: TokenStream, left_out: &dyn Fn(&str) -> Option<Left>) -> TokenStream {
    let (mut kept, mut trees) = (Vec::new(), trees.into_iter().peekable());
    // Where the attributes before this place begin, documentation too.
    let mut attributes = None;
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                let inner = trees.next_if(|next| matches!(next, TokenTree::Punct(mark) if mark.as_char() == '!'));
                let attribute = match trees.peek() {
                    Some(TokenTree::Group(group)) => joined(&listed(group.stream())),
                    _ => String::new(), // `#` in the body of a macro
                };
                let first = *attributes.get_or_insert(kept.len());
                if inner.is_some() {
                    attributes = None;
                }
                match left_out(&attribute) {
                    Some(Left::Attribute) => drop(trees.next()),
                    Some(Left::Item) => {
                        kept.truncate(first);
                        attributes = None;
                        trees.by_ref().skip(1).find(ends_item);
                        trees.next_if(|next| matches!(next, TokenTree::Punct(mark) if mark.as_char() == ';'));
                    }
                    None => kept.extend([Some(mark.into()), inner, trees.next()].into_iter().flatten()),
                }
            }
            TokenTree::Group(group) => {
                attributes = None;
                let mut inner = Group::new(group.delimiter(), without(group.stream(), left_out));
                inner.set_span(group.span());
                kept.push(inner.into());
            }
            tree => {
                attributes = None;
                kept.push(tree);
            }
        }
    }
    kept.into_iter().collect()
}

fn ends_item(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    }
}

//! The modules of a crate: what each defines, imports and names by path.

use std::collections::{BTreeMap, BTreeSet};

use crate::tokens::{
    Kind, Token, after_attribute, after_group, after_item, joined, starts_with, tokens, without_items,
};

/// A path into a crate, with the line that it stands on.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

/// One name of a `use` declaration.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// The name that it has here; `*` for all names of the path.
    pub(crate) name: String,
    pub(crate) path: Path,
    /// `pub use`, `pub(crate) use`.
    pub(crate) exported: bool,
}

/// A module: a file, or a block of one.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The file, relative to `src`.
    pub(crate) file: String,
    /// Items of the module itself.
    pub(crate) items: BTreeSet<String>,
    /// Items of blocks, and of the bodies of macros.
    pub(crate) inner_items: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths in code, of two segments at least.
    pub(crate) paths: Vec<Path>,
    /// All names in code.
    pub(crate) names: BTreeSet<String>,
    /// The modules within, in the order of their declarations.
    pub(crate) children: Vec<String>,
    /// Attributes of its declaration and of those around it, without spaces.
    pub(crate) attributes: Vec<String>,
}

/// The modules of a crate by path; the root's is empty. Tests are left out.
pub(crate) type Modules = BTreeMap<Vec<String>, Module>;

/// Reads the crate whose files, by path relative to `src`, are these.
pub(crate) fn modules(files: &BTreeMap<String, String>) -> Modules {
    let mut found = Modules::new();
    if files.contains_key("lib.rs") {
        let mut reader = Reader { files, found: &mut found, macros: Vec::new() };
        reader.file("lib.rs", &[], &[]);
        let macros = reader.macros;
        found.entry(Vec::new()).and_modify(|root| root.imports.extend(macros));
    }
    found
}

struct Reader<'a> {
    files: &'a BTreeMap<String, String>,
    found: &'a mut Modules,
    /// `#[macro_export]` makes these names of the crate's root.
    macros: Vec<Import>,
}

impl Reader<'_> {
    fn file(&mut self, file: &str, path: &[String], attributes: &[String]) {
        let all = tokens(&self.files[file]);
        self.module(file, path, attributes, &without_items(&all, &["#[cfg(test)]", "#[cfg(doctest)]"]));
    }

    fn module(&mut self, file: &str, path: &[String], attributes: &[String], code: &[Token<'_>]) {
        let mut module = Module { file: file.to_owned(), attributes: attributes.to_vec(), ..Module::default() };
        let (mut at, mut depth, mut own, mut public) = (0, 0_usize, Vec::new(), false);
        while at < code.len() {
            let token = code[at];
            let next = code.get(at + 1);
            let next_is = |text: &str| next.is_some_and(|token| token.text == text);
            match (token.kind, token.text) {
                (Kind::Punctuation, "#") if next_is("[") => {
                    let after = after_attribute(code, at);
                    own.push(joined(&code[at..after]));
                    at = after;
                    continue;
                }
                (Kind::Ident, "pub") => public = true,
                (Kind::Ident, "mod") if next.is_some_and(|next| next.kind == Kind::Ident) => {
                    let name = code[at + 1].text.to_owned();
                    let inner = [path, std::slice::from_ref(&name)].concat();
                    let attributes = [attributes, &own].concat();
                    module.children.push(name);
                    let after = after_item(code, at);
                    if starts_with(code, at + 2, &["{"]) {
                        self.module(file, &inner, &attributes, &code[at + 3..after - 1]);
                    } else {
                        self.file(&format!("{}.rs", inner.join("/")), &inner, &attributes);
                    }
                    at = after;
                    (own, public) = (Vec::new(), false);
                    continue;
                }
                (Kind::Ident, "use") if !next_is("<") => {
                    let after = after_item_of_use(code, at);
                    let mut tree = Tree { code, at: at + 1, exported: public, imports: &mut module.imports };
                    tree.read(&[]);
                    at = after;
                    (own, public) = (Vec::new(), false);
                    continue;
                }
                (Kind::Ident, "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static") => {
                    if let Some(name) = next.filter(|next| next.kind == Kind::Ident && next.text != "fn") {
                        let items = if depth == 0 { &mut module.items } else { &mut module.inner_items };
                        items.insert(name.text.to_owned());
                    }
                }
                (Kind::Ident, "macro_rules") if next_is("!") => {
                    let name = code[at + 2].text.to_owned();
                    if own.iter().any(|attribute| attribute == "#[macro_export]") {
                        let segments = [&["crate".to_owned()], path, std::slice::from_ref(&name)].concat();
                        let path = Path { segments, line: token.line };
                        self.macros.push(Import { name: name.clone(), path, exported: true });
                    }
                    module.items.insert(name);
                }
                (Kind::Ident, _) if next_is("::") && (at == 0 || code[at - 1].text != "::") => {
                    module.paths.push(read_path(code, at));
                }
                (Kind::Punctuation, "{") => depth += 1,
                (Kind::Punctuation, "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if token.kind == Kind::Ident {
                module.names.insert(token.text.to_owned());
            }
            if matches!(token.text, ";" | "{" | "}" | ",") {
                (own, public) = (Vec::new(), false);
            }
            at += 1;
        }
        self.found.insert(path.to_vec(), module);
    }
}

/// The index after the `;` of a `use` declaration, whose braces do not end it.
fn after_item_of_use(code: &[Token<'_>], mut at: usize) -> usize {
    while at < code.len() && code[at].text != ";" {
        at = if code[at].text == "{" { after_group(code, at) } else { at + 1 };
    }
    at + 1
}

fn read_path(code: &[Token<'_>], mut at: usize) -> Path {
    let mut path = Path { segments: vec![code[at].text.to_owned()], line: code[at].line };
    while starts_with(code, at + 1, &["::"]) && code.get(at + 2).is_some_and(|next| next.kind == Kind::Ident) {
        at += 2;
        path.segments.push(code[at].text.to_owned());
    }
    path
}

/// Reads the tree of a `use` declaration.
struct Tree<'a> {
    code: &'a [Token<'a>],
    at: usize,
    exported: bool,
    imports: &'a mut Vec<Import>,
}

impl Tree<'_> {
    fn read(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        loop {
            let token = self.code[self.at];
            self.at += 1;
            match token.text {
                "::" => {}
                "{" => {
                    while self.code[self.at].text != "}" {
                        self.read(&segments);
                        self.at += usize::from(self.code[self.at].text == ",");
                    }
                    self.at += 1;
                    return;
                }
                "*" => return self.push("*", segments, token.line),
                name => {
                    if name != "self" || segments.is_empty() {
                        segments.push(name.to_owned());
                    }
                    if starts_with(self.code, self.at, &["as"]) {
                        self.at += 2;
                        let name = self.code[self.at - 1].text;
                        return self.push(name, segments, token.line);
                    }
                    if !starts_with(self.code, self.at, &["::"]) {
                        let name = segments[segments.len() - 1].clone();
                        return self.push(&name, segments, token.line);
                    }
                }
            }
        }
    }

    fn push(&mut self, name: &str, segments: Vec<String>, line: usize) {
        let path = Path { segments, line };
        self.imports.push(Import { name: name.to_owned(), path, exported: self.exported });
    }
}

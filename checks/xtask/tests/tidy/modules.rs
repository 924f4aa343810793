//! The modules of a crate: what each defines, imports and names by path.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use syn::visit::{self, Visit};

use crate::tokens::{Kind, Token, joined, listed, starts_with, trees, without_items};

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

/// A function, or a method, with its body.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The line of `fn`.
    pub(crate) line: usize,
    /// The lines from there to the closing brace.
    pub(crate) length: usize,
    /// The lines below which a comment on it may stand: its attributes' and its own.
    pub(crate) heads: Vec<usize>,
}

/// A module: a file, or a block of one.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The file, relative to `src`.
    pub(crate) file: String,
    /// Items of the module itself.
    pub(crate) items: BTreeSet<String>,
    /// Items that macros may define.
    pub(crate) inner_items: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
    pub(crate) functions: Vec<Function>,
    /// Paths in code, of two segments at least.
    pub(crate) paths: Vec<Path>,
    /// All names in code.
    pub(crate) names: BTreeSet<String>,
    /// The modules within, in the order of their declarations.
    pub(crate) children: Vec<String>,
    /// The conditions (`cfg`) of its declaration and of those around it, without spaces.
    pub(crate) conditions: Vec<String>,
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
    fn file(&mut self, file: &str, path: &[String], conditions: &[String]) {
        let product = without_items(trees(&self.files[file]), &["cfg(test)", "cfg(doctest)"]);
        let parsed = syn::parse2::<syn::File>(product);
        let parsed = parsed.unwrap_or_else(|error| panic!("{file}:{}: {error}", error.span().start().line));
        self.module(file, path, conditions, &parsed.items);
    }

    fn module(&mut self, file: &str, path: &[String], conditions: &[String], items: &[syn::Item]) {
        let mut module = Module { file: file.to_owned(), conditions: conditions.to_vec(), ..Module::default() };
        for item in items {
            module.items.extend(name(item).map(Ident::to_string));
            module.visit_item(item);
            match item {
                syn::Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let inner = [path, std::slice::from_ref(&name)].concat();
                    let conditions = [conditions, &own_conditions(&child.attrs)].concat();
                    module.children.push(name);
                    match &child.content {
                        Some((_, items)) => self.module(file, &inner, &conditions, items),
                        None => self.file(&format!("{}.rs", inner.join("/")), &inner, &conditions),
                    }
                }
                syn::Item::Macro(rules) if rules.attrs.iter().any(|own| own.path().is_ident("macro_export")) => {
                    let exported = rules.ident.as_ref().expect("an exported macro has a name");
                    let segments = [&["crate".to_owned()], path, &[exported.to_string()]].concat();
                    let path = Path { segments, line: exported.span().start().line };
                    self.macros.push(Import { name: exported.to_string(), path, exported: true });
                }
                _ => {}
            }
        }
        self.found.insert(path.to_vec(), module);
    }
}

/// The name that an item defines in its module.
fn name(item: &syn::Item) -> Option<&Ident> {
    match item {
        syn::Item::Const(item) => Some(&item.ident),
        syn::Item::Enum(item) => Some(&item.ident),
        syn::Item::Fn(item) => Some(&item.sig.ident),
        syn::Item::Macro(item) => item.ident.as_ref(),
        syn::Item::Static(item) => Some(&item.ident),
        syn::Item::Struct(item) => Some(&item.ident),
        syn::Item::Trait(item) => Some(&item.ident),
        syn::Item::Type(item) => Some(&item.ident),
        syn::Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

fn own_conditions(attributes: &[syn::Attribute]) -> Vec<String> {
    let lists = attributes.iter().filter_map(|attribute| attribute.meta.require_list().ok());
    lists.filter(|list| list.path.is_ident("cfg")).map(|list| joined(&listed(list.tokens.clone()))).collect()
}

impl Module {
    fn add(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature, body: &syn::Block) {
        let line = signature.fn_token.span.start().line;
        let heads = attributes.iter().map(|attribute| attribute.pound_token.spans[0].start().line).chain([line]);
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line,
            length: body.brace_token.span.close().end().line + 1 - line,
            heads: heads.collect(),
        });
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    /// It is a module of its own.
    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let exported = !matches!(item.vis, syn::Visibility::Inherited);
        add_imports(&item.tree, &[], exported, &mut self.imports);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.attrs, &function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.attrs, &function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.attrs, &function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_ident(&mut self, name: &'ast Ident) {
        self.names.insert(name.to_string());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 && path.leading_colon.is_none() {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.paths.push(Path { segments, line: path.segments[0].ident.span().start().line });
        }
        visit::visit_path(self, path);
    }

    /// Of a block that is externally defined, the names are its module's.
    fn visit_foreign_item_fn(&mut self, function: &'ast syn::ForeignItemFn) {
        self.items.insert(function.sig.ident.to_string());
    }

    /// Its tokens may name and define anything.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        let code = listed(call.tokens.clone());
        for at in (0..code.len()).filter(|&at| code[at].kind == Kind::Ident) {
            self.names.insert(code[at].text.clone());
            if starts_with(&code, at + 1, &["::"]) && (at == 0 || code[at - 1].text != "::") {
                self.paths.push(read_path(&code, at));
            }
            let defines = ["fn", "struct", "enum", "union", "trait", "type", "const", "static"];
            if defines.contains(&&*code[at].text) && code.get(at + 1).is_some_and(|next| next.kind == Kind::Ident) {
                self.inner_items.insert(code[at + 1].text.clone());
            }
        }
    }
}

fn read_path(code: &[Token], mut at: usize) -> Path {
    let mut path = Path { segments: vec![code[at].text.clone()], line: code[at].line };
    while starts_with(code, at + 1, &["::"]) && code.get(at + 2).is_some_and(|next| next.kind == Kind::Ident) {
        at += 2;
        path.segments.push(code[at].text.clone());
    }
    path
}

/// Adds the names of a `use` declaration below `prefix`.
fn add_imports(tree: &syn::UseTree, prefix: &[String], exported: bool, imports: &mut Vec<Import>) {
    let below = |name: &Ident| [prefix, &[name.to_string()]].concat();
    let (name, segments, span) = match tree {
        syn::UseTree::Path(path) => return add_imports(&path.tree, &below(&path.ident), exported, imports),
        syn::UseTree::Group(group) => {
            return group.items.iter().for_each(|tree| add_imports(tree, prefix, exported, imports));
        }
        syn::UseTree::Glob(glob) => ("*".to_owned(), prefix.to_vec(), glob.star_token.spans[0]),
        syn::UseTree::Name(own) if own.ident == "self" => {
            (prefix.last().expect("`self` is of a path").clone(), prefix.to_vec(), own.ident.span())
        }
        syn::UseTree::Name(own) => (own.ident.to_string(), below(&own.ident), own.ident.span()),
        syn::UseTree::Rename(own) => (own.rename.to_string(), below(&own.ident), own.rename.span()),
    };
    imports.push(Import { name, path: Path { segments, line: span.start().line }, exported });
}

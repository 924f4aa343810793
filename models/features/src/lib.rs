//! Selects the features of turnstone's common dependencies (see `Cargo.toml`), so that burn is compiled once; holds no code.

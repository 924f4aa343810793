//! What the crates of turnstone share apart from games and networks.
//!
//! - [`files`]: atomic writes, bounded reads; [`folder_lock`]: one process at a time in a folder;
//! - [`mod@settings`]: declared once, with range and help; [`text`]: line breaks, comments, what may be printed, slips, words of a
//!   shell;
//! - [`checksum`]: of bytes, and of the lines of a file; [`line_io`]: lines of bounded length from other programs;
//! - [`streams`]: a random stream per purpose and place;
//! - [`machine`]: its cores and its memory; [`times`]: durations as text;
//! - `terminal`: lines and progress bars on standard error, not on WebAssembly; [`warnings`]: printed once.

pub mod machine;
pub mod text;
#[cfg(not(target_family = "wasm"))]
pub mod terminal;
pub mod warnings;
pub mod files;
pub mod folder_lock;
pub mod checksum;
pub mod line_io;
pub mod streams;
pub mod times;
pub mod settings;

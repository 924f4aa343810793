//! Lines from a person.

use std::io::{self, IsTerminal, Write};

use turnstone_base::line_io::Lines;

/// Shows the prompt and reads a line; `None` at the end of the input. At a terminal Ctrl-D means `quit`.
pub(super) fn ask(prompt: &str) -> io::Result<Option<String>> {
    loop {
        print!("{prompt}: ");
        let _ = io::stdout().flush(); // the next line that is printed finds the same fault
        let input = io::stdin();
        match Lines::new(input.lock()).read()? {
            None if input.is_terminal() => return Ok(Some("quit".to_owned())),
            None => return Ok(None),
            Some(Ok(line)) => return Ok(Some(line.to_owned())),
            Some(Err(fault)) => println!("{fault}"),
        }
    }
}

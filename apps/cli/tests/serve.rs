//! `turnstone serve` as a process.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::calls::{command, turnstone};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn get(address: &str, target: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// A server of a folder with runs, and its address.
fn serve(runs: &Path) -> (Server, String) {
    let mut child = command(&["serve", "--port", "0", "--runs"]).arg(runs).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).expect("an address");
    (Server(child), address.to_owned())
}

#[test]
fn a_sweep_in_training_is_listed_with_the_time_that_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (config, runs) = (folder.path().join("tiny.toml"), folder.path().join("runs"));
    let text = "[game]\nname = \"mu_torere\"\n[net]\nkind = \"residual_mlp\"\nblocks = 1\nwidth = 8\n[search]\nsimulations = 2\n\
                [self_play]\ngames_per_iteration = 4\n[run]\niterations = 1000000\n";
    fs::write(&config, text).unwrap();
    let mut sweep = command(&["sweep", "--vary", "seed=1,2"]);
    let sweep = sweep.arg(&config).arg("--out").arg(runs.join("seeds")).stdout(Stdio::null()).stderr(Stdio::null());
    let _sweep = Server(sweep.spawn().unwrap());
    let (_server, address) = serve(&runs);
    let begun = Instant::now();
    loop {
        let page = get(&address, "/runs");
        let row = page.split_once(r#"<a href="/runs/seeds%2F1">seeds/1</a>"#);
        if let Some((row, _)) = row.and_then(|(_, row)| row.split_once("</tr>"))
            && row.contains(" left</td>")
        {
            assert!(row.contains(" of 1000000, "), "{row}");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{page}");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn it_prints_its_address_and_serves_page_agents_and_runs() {
    let runs = tempfile::tempdir().unwrap();
    let (_server, address) = serve(&runs.path().join("absent"));
    let address = &address[..];
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let page = get(address, "/?game=konane");
    assert!(
        page.starts_with("HTTP/1.1 200 OK") && page.contains("Content-Security-Policy: default-src 'none'"),
        "{page}"
    );
    let agent = get(address, "/agents/konane.safetensors");
    assert!(agent.starts_with("HTTP/1.1 200") && agent.contains("Content-Type: application/octet-stream"));
    assert!(get(address, "/agents/chess.safetensors").starts_with("HTTP/1.1 404"));
    assert!(get(address, "/runs").contains("There are no runs"));
}

#[test]
fn faults_are_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let fault = |args: &[&str]| {
        let output = turnstone(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        String::from_utf8(output.stderr).unwrap()
    };
    let busy = fault(&["serve", "--port", &port]);
    assert!(busy.starts_with("error: ") && busy.contains(&port) && busy.lines().count() == 1, "{busy}");
    let page = fault(&["serve", "--page", "no/such/folder"]);
    assert!(page.contains("no/such/folder") && page.lines().count() == 1, "{page}");
}

//! `turnstone serve` as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

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

#[test]
fn it_prints_its_address_and_serves_page_agents_and_runs() {
    let runs = tempfile::tempdir().unwrap();
    let runs = runs.path().join("absent");
    let mut child = command(&["serve", "--port", "0", "--runs"]).arg(&runs).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let _server = Server(child);
    let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).expect("an address");
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
    assert!(get(address, "/runs.json").ends_with("\r\n\r\n[]"));
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

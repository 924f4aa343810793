//! A server under attack: malformed requests, paths that try to leave, slow clients, many connections. `ATTACK=200000`
//! sends this many malformed requests instead of 10,000, and on Linux measures what memory they leave behind.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use turnstone_agents::search::Stop;
use turnstone_serve::{Hosts, Settings, Site, serve};

const SECRET: &str = "what no request may see";

/// Panics of all threads: a connection's thread would otherwise die quietly.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Stops the server also where a test fails, so that the failure is shown.
struct Stopping<'a>(&'a Stop);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// Runs a test against a server whose folder of runs is beside a secret.
fn with_server(test: impl FnOnce(SocketAddr, &Path)) {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        print(info);
    }));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret.txt"), SECRET).unwrap();
    fs::write(folder.path().join("config.toml"), SECRET).unwrap();
    let runs = folder.path().join("runs");
    fs::create_dir_all(runs.join("one/checkpoints")).unwrap();
    fs::write(runs.join("one/config.toml"), "[game]\nname = \"mu_torere\"\n").unwrap();
    fs::write(runs.join("one/latest.safetensors"), "no checkpoint").unwrap();
    fs::write(runs.join("one/state.safetensors"), SECRET).unwrap();
    let stop = Stop::default();
    thread::scope(|scope| {
        let (ready, address) = mpsc::channel();
        let site = Site::new(&turnstone_games::list!(turnstone_selfplay::row), &runs, None).unwrap();
        let settings = Settings { address: [127, 0, 0, 1].into(), port: 0, hosts: Hosts::default() };
        let stop = &stop;
        let server = scope.spawn(move || serve(site, &settings, stop, |address| ready.send(address).unwrap()));
        let address = address.recv().unwrap();
        let stopping = Stopping(stop);
        test(address, &runs);
        assert!(get(address, "/").starts_with("HTTP/1.1 200"), "the server still answers");
        drop(stopping);
        server.join().unwrap().unwrap();
    });
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "no thread panicked");
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// The whole answer to some bytes, as text.
fn answer(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = connect(address);
    // The server may answer and close before all is sent.
    _ = stream.write_all(request);
    _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(address: SocketAddr, target: &str) -> String {
    answer(address, format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
}

/// Malformed requests in all, and threads that send them.
fn attack() -> u64 {
    std::env::var("ATTACK").map_or(10_000, |count| count.parse().expect("ATTACK is a number of requests"))
}

const WORKERS: u64 = 4;

/// Memory of this process in bytes, clients included; 0 where it cannot be read.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).and_then(|line| line.split_whitespace().next());
    line.map_or(0, |kilobytes| 1024 * kilobytes.parse::<u64>().expect("a number of kilobytes"))
}

/// A small generator, so that failures repeat.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn malformed_requests_are_refused() {
    with_server(|address, _| {
        let seeds = [
            "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /runs/one/live HTTP/1.1\r\nHost: 127.0.0.1:80\r\nIf-None-Match: \"x\"\r\n\r\n",
            "POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n0123456789",
            "GET /compare?run=one&run=%2e%2e HTTP/1.0\r\n\r\n",
            "HEAD /turnstone.wasm HTTP/1.1\r\nHost: [::1]:1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ];
        thread::scope(|scope| {
            for worker in 0..WORKERS {
                scope.spawn(move || {
                    let mut state = 0x9E37_79B9_7F4A_7C15 ^ (worker + 1);
                    let mut warm = 0;
                    for number in 0..attack() / WORKERS {
                        if number == 500 {
                            warm = memory();
                        }
                        let mut request = seeds[next(&mut state) as usize % seeds.len()].as_bytes().to_vec();
                        for _ in 0..1 + next(&mut state) % 6 {
                            let at = next(&mut state) as usize % request.len();
                            match next(&mut state) % 4 {
                                0 => request[at] = next(&mut state) as u8,
                                1 => request.insert(at, next(&mut state) as u8),
                                2 => request.truncate(at.max(1)),
                                _ => request.extend_from_within(at..),
                            }
                        }
                        let answer = answer(address, &request);
                        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 "), "{answer}");
                        assert!(!answer.contains(SECRET));
                    }
                    // Less than half a kilobyte for each request, beside what the tests at the same time use.
                    let grown = memory().saturating_sub(warm);
                    assert!(grown < (96 << 20) + 512 * attack(), "{grown} bytes are left after {} requests", attack());
                });
            }
        });
    });
}

#[test]
fn no_path_leads_out() {
    with_server(|address, runs| {
        let up =
            ["..", "%2e%2e", "%2E%2e", ".%2e", "%252e%252e", "..%00", "%c0%ae%c0%ae", "%uff0e%uff0e", "．．", "..;"];
        let separators = ["/", "%2f", "%2F", "\\", "%5c", "%255c", "//", "%c0%af"];
        for up in up {
            for separator in separators {
                for start in ["/", "/runs/", "/runs/one/", "/agents/", "/runs/one/checkpoints/", "//"] {
                    for file in ["secret.txt", "config.toml", "runs/../secret.txt", "etc/passwd"] {
                        let target = format!("{start}{}{file}", format!("{up}{separator}").repeat(3));
                        let answer = get(address, &target);
                        assert!(!answer.contains(SECRET) && !answer.contains("root:"), "{target}: {answer}");
                        assert!(!answer.starts_with("HTTP/1.1 200"), "{target}: {answer}");
                    }
                }
            }
        }
        for target in [
            "/runs/one/config.toml",
            "/runs/one/state.safetensors",
            "/runs/one",
            "/runs",
            "/compare?run=one&run=../..",
            "file:///etc/passwd",
            "http://localhost/../secret.txt",
        ] {
            assert!(!get(address, target).contains(SECRET), "{target}");
        }
        assert!(get(address, "/runs/one/latest.safetensors").ends_with("no checkpoint"));
        // A run that is damaged is reported, not a reason to fail.
        let line = turnstone_base::checksum::seal_line("{\"iteration\": \"<b>\"}") + "\n";
        fs::write(runs.join("one/metrics.jsonl"), line).unwrap();
        let page = get(address, "/runs/one");
        assert!(page.starts_with("HTTP/1.1 500") && page.contains("line 1") && !page.contains("<b>\""), "{page}");
        assert!(get(address, "/runs").starts_with("HTTP/1.1 200"));
        assert!(get(address, "/runs/one/games").starts_with("HTTP/1.1 500"));
    });
}

#[test]
fn other_names_and_methods_are_refused() {
    with_server(|address, _| {
        let with = |head: &str| answer(address, format!("{head}\r\nConnection: close\r\n\r\n").as_bytes());
        assert!(with("GET / HTTP/1.1\r\nHost: evil.example").starts_with("HTTP/1.1 421"));
        assert!(with("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example").starts_with("HTTP/1.1 421"));
        assert!(with("GET / HTTP/1.1").starts_with("HTTP/1.1 400"));
        assert!(with("DELETE /runs/one HTTP/1.1\r\nHost: localhost").starts_with("HTTP/1.1 405"));
        let tag = with("GET /page.js HTTP/1.1\r\nHost: localhost");
        let tag = tag.split("ETag: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap().to_owned();
        let again = with(&format!("GET /page.js HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}"));
        assert!(again.starts_with("HTTP/1.1 304") && again.ends_with("\r\n\r\n"), "{again}");
    });
}

#[test]
fn a_thousand_connections_are_answered_at_once() {
    // Both ends are in this process.
    #[cfg(unix)]
    let files = rlimit::increase_nofile_limit(4096).unwrap_or(256);
    #[cfg(not(unix))]
    let files = 4096u64;
    let count = (files / 4).min(1000);
    with_server(|address, _| {
        let mut open: Vec<TcpStream> = (0..count).map(|_| connect(address)).collect();
        for stream in &mut open {
            stream.write_all(b"GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        }
        for (number, stream) in open.iter_mut().enumerate() {
            let mut start = [0; 12];
            stream.read_exact(&mut start).unwrap_or_else(|fault| panic!("connection {number}: {fault}"));
            assert_eq!(&start, b"HTTP/1.1 200");
        }
    });
}

/// A thread that has answered holds memory until it ends.
#[test]
fn few_connections_are_kept() {
    with_server(|address, _| {
        let request = "GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let ask = || {
            let mut stream = connect(address);
            stream.write_all(request.as_bytes()).unwrap();
            let mut start = [0; 2000];
            let mut length = 0;
            while !start[..length].windows(4).any(|end| end == b"\r\n\r\n") {
                length += stream.read(&mut start[length..]).unwrap();
            }
            (stream, String::from_utf8_lossy(&start[..length]).contains("Connection: keep-alive"))
        };
        assert!(ask().1, "a single connection is kept");
        let answered: Vec<_> = (0..100).map(|_| ask()).collect();
        let kept = answered.iter().filter(|(_, kept)| *kept).count();
        assert!((32..=64).contains(&kept), "{kept} of 100 are kept");
    });
}

#[test]
fn slow_and_many_clients_keep_no_one_out() {
    with_server(|address, _| {
        // Clients that never finish their header, and some that do not read their answers.
        let mut open: Vec<TcpStream> = (0..100).map(|_| connect(address)).collect();
        for (i, stream) in open.iter_mut().enumerate() {
            let part: &[u8] =
                if i % 2 == 0 { b"GET / HT" } else { b"GET /turnstone.wasm HTTP/1.1\r\nHost: localhost\r\n\r\n" };
            _ = stream.write_all(part);
        }
        let begin = Instant::now();
        assert!(get(address, "/").starts_with("HTTP/1.1 200"));
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        drop(open);
        // Pipelined requests are answered in turn.
        let one = "GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let last = "GET /icon.svg HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let answers = answer(address, format!("{}{last}", one.repeat(99)).as_bytes());
        assert_eq!(answers.matches("HTTP/1.1 200").count(), 100);
    });
}

//! Counters of a leader or a worker, and their text for Prometheus over HTTP.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Name of each counter, whether it only grows, and its help.
const ALL: [(&str, bool, &str); 17] = [
    ("turnstone_items_total", true, "Games and answers received (leader) or finished (worker)"),
    ("turnstone_positions_total", true, "Positions searched"),
    ("turnstone_bytes_total", true, "Bytes of results received (leader) or sent (worker)"),
    ("turnstone_duplicates_total", true, "Items that had been received before"),
    ("turnstone_stale_total", true, "Results of jobs that are over"),
    ("turnstone_rejected_total", true, "Messages with a fault"),
    ("turnstone_checks_total", true, "Items that were played twice and compared"),
    ("turnstone_overdue_checks_total", true, "Those that the leader compared since no worker did in time"),
    ("turnstone_republished_total", true, "Items handed out again"),
    ("turnstone_missing_items", false, "Items of the current job that are missing"),
    ("turnstone_workers", false, "Workers that play for the run"),
    ("turnstone_threads", false, "Threads of these workers"),
    ("turnstone_excluded_workers", false, "Excluded workers"),
    ("turnstone_queue_ranges", false, "Ranges that wait on the server"),
    ("turnstone_played_ranges", false, "Ranges that workers have and have not acknowledged"),
    ("turnstone_held_items", false, "Items in progress or waiting here"),
    ("turnstone_spooled_ranges", false, "Finished ranges that the server has not acknowledged"),
];

/// A counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum Counter {
    Items,
    Positions,
    Bytes,
    Duplicates,
    Stale,
    Rejected,
    Checks,
    Overdue,
    Republished,
    Missing,
    Workers,
    Threads,
    Excluded,
    Queue,
    Played,
    Held,
    Spooled,
}

/// The counters of a process.
#[derive(Debug, Default)]
pub(crate) struct Counters([AtomicU64; ALL.len()]);

impl Counters {
    pub(crate) fn add(&self, counter: Counter, count: u64) {
        self.0[counter as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, counter: Counter, value: u64) {
        self.0[counter as usize].store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize].load(Ordering::Relaxed)
    }

    /// Names for TensorBoard, and values.
    pub(crate) fn scalars(&self) -> Vec<(String, f64)> {
        let name = |name: &str| format!("cluster/{}", name.trim_start_matches("turnstone_").trim_end_matches("_total"));
        ALL.iter().zip(&self.0).map(|(row, value)| (name(row.0), value.load(Ordering::Relaxed) as f64)).collect()
    }

    /// The text that Prometheus reads.
    pub(crate) fn text(&self, label: &str) -> String {
        let mut text = String::new();
        for ((name, grows, help), value) in ALL.iter().zip(&self.0) {
            let kind = if *grows { "counter" } else { "gauge" };
            let value = value.load(Ordering::Relaxed);
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name}{{{label}}} {value}");
        }
        text
    }
}

/// Serves the counters at `/metrics` of an address, on a thread of its own. `label` names the process, such as
/// `run="mancala-1f"`. Returns the address, whose port may have been chosen by the system.
pub(crate) fn serve(address: SocketAddr, label: String, counters: Arc<Counters>) -> Result<SocketAddr> {
    let listener = TcpListener::bind(address).with_context(|| format!("--metrics-addr {address}"))?;
    let bound = listener.local_addr()?;
    thread::Builder::new().name("metrics".into()).spawn(move || {
        for stream in listener.incoming() {
            // One at a time: a slow client is cut off.
            match stream {
                Ok(stream) => drop(answer(stream, &counters.text(&label))),
                Err(_) => thread::sleep(PAUSE), // such as too many open files
            }
        }
    })?;
    Ok(bound)
}

/// Time for a request and its answer.
const LONGEST_REQUEST: Duration = Duration::from_secs(1);
/// Pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);

fn answer(mut stream: TcpStream, text: &str) -> std::io::Result<()> {
    let until = Instant::now() + LONGEST_REQUEST;
    // A timeout of zero is an error, as intended: the time is up.
    let left = || Some(until.saturating_duration_since(Instant::now()));
    let mut request = [0; 4096];
    let mut length = 0;
    let status = loop {
        stream.set_read_timeout(left())?;
        let read = stream.read(&mut request[length..])?;
        length += read;
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(&request[..length]) {
            Ok(httparse::Status::Complete(_)) if parsed.method != Some("GET") => break "405 Method Not Allowed",
            Ok(httparse::Status::Complete(_)) if parsed.path != Some("/metrics") => break "404 Not Found",
            Ok(httparse::Status::Complete(_)) => break "200 OK",
            Ok(httparse::Status::Partial) if read > 0 && length < request.len() => {}
            _ => break "400 Bad Request",
        }
    };
    stream.set_write_timeout(left())?;
    let body = if status == "200 OK" { text } else { status };
    let (kind, length) = ("text/plain; version=0.0.4", body.len());
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn prometheus_reads_the_counters() {
        let counters = Arc::new(Counters::default());
        counters.add(Counter::Items, 7);
        counters.set(Counter::Spooled, 3);
        let any = "127.0.0.1:0".parse().expect("an address");
        let address = serve(any, "run=\"r\"".into(), Arc::clone(&counters)).expect("a free port");
        let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("# TYPE turnstone_items_total counter\nturnstone_items_total{run=\"r\"} 7\n"));
        assert!(answer.contains("# TYPE turnstone_spooled_ranges gauge\nturnstone_spooled_ranges{run=\"r\"} 3\n"));
        assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert!(ask(address, &"x".repeat(5000)).starts_with("HTTP/1.1 400"));
        // A byte now and then does not keep others away.
        let mut slow = TcpStream::connect(address).expect("it listens");
        let slow = thread::spawn(move || {
            (0..40)
                .take_while(|_| {
                    thread::sleep(Duration::from_millis(100));
                    slow.write_all(b"G").is_ok()
                })
                .count()
        });
        thread::sleep(Duration::from_millis(50));
        counters.add(Counter::Items, 1);
        assert!(ask(address, "GET /metrics HTTP/1.1\r\n\r\n").contains("items_total{run=\"r\"} 8"));
        assert!(slow.join().expect("it ends") < 40, "it is cut off");
        assert!(counters.scalars().contains(&("cluster/items".into(), 8.0)));
    }
}

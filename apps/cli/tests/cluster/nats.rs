//! A server of the tests' own, on a free port, with its store in a temporary folder.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::wire::Client;

pub(crate) struct Server {
    process: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts a server with JetStream and these lines in its configuration. `None` if there is no such program, which is an error where
    /// `TURNSTONE_NATS=required`.
    pub(crate) fn start(config: &str) -> Option<Self> {
        Self::with_room("1GB", config)
    }

    /// Starts a server that stores no more than this.
    pub(crate) fn with_room(room: &str, config: &str) -> Option<Self> {
        Self::with(&format!("jetstream {{ store_dir: store, max_file_store: {room} }}\n{config}"))
    }

    /// Starts a server with this configuration. Paths in it are from a folder of its own.
    pub(crate) fn with(config: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
        let text = format!("listen: \"127.0.0.1:{port}\"\n{config}\n");
        fs::write(folder.path().join("server.conf"), text).expect("writable");
        match spawn(&folder) {
            Ok(process) => {
                let server = Self { process, port, folder };
                server.wait_until_it_listens();
                Some(server)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                assert!(std::env::var("TURNSTONE_NATS").is_err(), "nats-server is not installed");
                eprintln!("skipped: nats-server is not installed");
                None
            }
            Err(error) => panic!("nats-server: {error}"),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Number of messages in a stream.
    pub(crate) fn messages(&self, stream: &str) -> u64 {
        self.info(&format!("STREAM.INFO.{stream}"))["state"]["messages"].as_u64().unwrap_or(0)
    }

    /// Number of bytes that count as stored.
    pub(crate) fn counted(&self) -> u64 {
        self.info("INFO")["storage"].as_u64().expect("a number")
    }

    fn info(&self, question: &str) -> serde_json::Value {
        let mut client = Client::connect(self.port);
        client.subscribe("answer");
        client.request(&format!("$JS.API.{question}"), "answer");
        serde_json::from_slice(&client.next().1).expect("JSON")
    }

    /// Length of all files of its store.
    pub(crate) fn stored(&self) -> u64 {
        fn length(folder: &Path) -> u64 {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries
                .map(|entry| entry.metadata().map_or(0, |m| if m.is_dir() { length(&entry.path()) } else { m.len() }))
                .sum()
        }
        length(&self.folder.path().join("store"))
    }

    /// Kills the server and starts it again, without its store if `wiped`.
    pub(crate) fn restart(&mut self, wiped: bool) {
        let _ = self.process.kill();
        self.process.wait().expect("it was running");
        if wiped {
            fs::remove_dir_all(self.folder.path().join("store")).expect("its store");
        }
        self.process = spawn(&self.folder).expect("it was there before");
        self.wait_until_it_listens();
    }

    fn wait_until_it_listens(&self) {
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!(
            "nats-server does not listen: {}",
            fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
        );
    }
}

fn spawn(folder: &tempfile::TempDir) -> std::io::Result<Child> {
    let log = fs::File::options().create(true).append(true).open(folder.path().join("log"))?;
    Command::new(std::env::var_os("TURNSTONE_NATS_SERVER").unwrap_or_else(|| "nats-server".into()))
        .args(["-c", "server.conf"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

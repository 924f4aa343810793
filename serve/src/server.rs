//! The HTTP server: a thread for each connection, with limits on time, size and number everywhere.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::connections::Connections;
use crate::host::Hosts;
use crate::reply::Reply;
use crate::request::{LARGEST, Parsed, Request};
use crate::route::Route;
use crate::site::Site;

/// Time for a request's header, the wait for it included.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Time to send an answer.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Stack of a connection's thread.
const STACK: usize = 512 << 10;

/// Where to listen.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address.
    pub address: IpAddr,
    /// Port; 0 for any free one.
    pub port: u16,
    /// Names of this server besides addresses and `localhost`.
    pub hosts: Hosts,
}

/// What all connections share.
struct Server {
    site: Site,
    hosts: Hosts,
    connections: Connections,
}

/// Answers requests until `stop` is set. `ready` is called with the address once it listens.
///
/// # Errors
/// The address cannot be listened on.
pub fn serve(site: Site, settings: &Settings, stop: &AtomicBool, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let listener = TcpListener::bind((settings.address, settings.port))?;
    // Accepting must notice the flag.
    listener.set_nonblocking(true)?;
    ready(listener.local_addr()?);
    let server = Arc::new(Server { site, hosts: settings.hosts.clone(), connections: Connections::default() });
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => accept(&server, stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(5)),
            // Out of file descriptors, or the client is gone already.
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
    server.connections.close();
    Ok(())
}

/// Starts a thread for a connection. A connection that cannot be set up is dropped.
fn accept(server: &Arc<Server>, stream: TcpStream) {
    let Ok(handle) = stream.try_clone() else { return };
    if stream.set_nonblocking(false).and_then(|()| stream.set_nodelay(true)).is_err() {
        return;
    }
    let number = server.connections.add(handle);
    let shared = server.clone();
    let answering = move || {
        // A connection that fails is closed; there is no one to tell.
        _ = shared.answer_all(number, stream);
        shared.connections.remove(number);
    };
    if thread::Builder::new().stack_size(STACK).spawn(answering).is_err() {
        server.connections.remove(number);
    }
}

impl Server {
    /// Answers the requests of a connection, one after the other.
    fn answer_all(&self, number: u64, mut stream: TcpStream) -> io::Result<()> {
        let mut received = Vec::new();
        loop {
            let (request, length) = match header(&mut stream, &mut received)? {
                Some(Parsed::Whole(request, length)) => (request, length),
                Some(_) => {
                    let reply = Reply::refused(400, "this is no HTTP request, or its header is too large");
                    return send(&mut stream, &reply, &Request { closes: true, ..Request::default() });
                }
                None => return Ok(()),
            };
            received.drain(..length);
            self.connections.touch(number);
            let reply = self.refusal(&request).unwrap_or_else(|| {
                let (path, query) = request.path_and_query();
                Route::of(path, query).map_or_else(|| Reply::refused(404, "not found"), |route| self.site.answer(&route))
            });
            send(&mut stream, &reply, &request)?;
            if request.closes {
                return Ok(());
            }
        }
    }

    /// Why a request is not answered, if it is not.
    fn refusal(&self, request: &Request) -> Option<Reply> {
        if !matches!(&request.method[..], "GET" | "HEAD") {
            return Some(Reply::refused(405, "only GET and HEAD are answered"));
        }
        match &request.hosts[..] {
            [host] if std::str::from_utf8(host).is_ok_and(|host| self.hosts.allow(host)) => None,
            [] if request.version == 0 => None,
            [] => Some(Reply::refused(400, "the request names no host")),
            _ => Some(Reply::refused(421, "this server does not have that name: start it with --host-name if it does")),
        }
    }
}

/// Reads until the header of a request is whole; `None` if the client is silent or gone.
fn header(stream: &mut TcpStream, received: &mut Vec<u8>) -> io::Result<Option<Parsed>> {
    let end = Instant::now() + HEADER_TIME;
    let mut buffer = [0; 4096];
    loop {
        // Empty lines before a request are allowed.
        let blank = received.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        received.drain(..blank);
        match Request::parse(received) {
            Parsed::Partial if received.len() > LARGEST => return Ok(Some(Parsed::Malformed)),
            Parsed::Partial => {}
            parsed => return Ok(Some(parsed)),
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Ok(None),
        }
    }
}

/// Sends an answer.
fn send(stream: &mut TcpStream, reply: &Reply, request: &Request) -> io::Result<()> {
    let known = reply.tag.as_deref().filter(|tag| reply.status == 200 && lists(&request.tags, tag.as_bytes()));
    let status = if known.is_some() { 304 } else { reply.status };
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    let mut field = |name: &str, value: &str| head += &format!("{name}: {value}\r\n");
    field("Content-Type", reply.kind.content_type());
    field("Content-Security-Policy", reply.kind.policy());
    field("X-Content-Type-Options", "nosniff");
    field("Referrer-Policy", "no-referrer");
    field("Cross-Origin-Resource-Policy", "same-origin");
    field("Cache-Control", "no-cache");
    if let Some(tag) = &reply.tag {
        field("ETag", tag);
    }
    if reply.gzip {
        field("Content-Encoding", "gzip");
    }
    if status == 405 {
        field("Allow", "GET, HEAD");
    }
    if status == 503 {
        field("Retry-After", "2");
    }
    if known.is_none() {
        field("Content-Length", &reply.body.len().to_string());
    }
    field("Connection", if request.closes { "close" } else { "keep-alive" });
    head += "\r\n";
    let end = Instant::now() + ANSWER_TIME;
    write_all(stream, head.as_bytes(), end)?;
    if known.is_none() && request.method != "HEAD" {
        write_all(stream, &reply.body, end)?;
    }
    Ok(())
}

/// Writes until a moment; a client that reads too slowly is left.
fn write_all(stream: &mut TcpStream, mut bytes: &[u8], end: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether `If-None-Match` lists a tag.
fn lists(tags: &[u8], tag: &[u8]) -> bool {
    tags.split(|&byte| byte == b',').any(|listed| {
        let listed = listed.trim_ascii();
        listed.strip_prefix(b"W/").unwrap_or(listed) == tag
    })
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

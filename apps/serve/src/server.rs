//! The HTTP server: a thread for each connection, with limits on time, size and number everywhere.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::reply::Reply;
use crate::request::{Hosts, LARGEST, Parsed, Request};
use crate::route::Route;
use crate::site::Site;
use turnstone_agents::search::Stop;

/// Maximum number of open connections. Each has a thread.
const MOST: usize = 1024;
/// Maximum number of connections of which a request is being answered or has been. Such a thread holds up to 1.3 MB of memory until
/// it ends, since mimalloc keeps pages for each of its threads; one that has only received allocates nothing.
const SEATS: usize = 128;
/// Number of taken seats above which no connection is kept after an answer, and connections are closed soon.
const MOST_KEPT: usize = 64;
/// Time for a request's header, the wait for it included.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Time to send an answer.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Time for a client to read the last answer; and the same where more than [`MOST_KEPT`] seats are taken.
const LEAVING_TIME: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(50)];
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

/// State shared by all connections.
struct Server {
    site: Site,
    hosts: Hosts,
    /// Number of open connections.
    open: AtomicUsize,
    /// Number of taken seats.
    taken: Mutex<usize>,
    /// Woken when a seat is given up.
    free: Condvar,
}

/// The seat of a connection, given up when it is dropped.
struct Seat<'a>(&'a Server);

/// The bytes of a connection that are not answered yet.
struct Received {
    bytes: [u8; LARGEST + 4096],
    length: usize,
}

/// Answers requests until `stop` is raised. `ready` is called with the address once it listens.
///
/// # Errors
/// The address cannot be listened on.
pub fn serve(site: Site, settings: &Settings, stop: &Stop, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let listener = TcpListener::bind((settings.address, settings.port))?;
    let address = listener.local_addr()?;
    ready(address);
    let server = Arc::new(Server {
        site,
        hosts: settings.hosts.clone(),
        open: AtomicUsize::new(0),
        taken: Mutex::new(0),
        free: Condvar::new(),
    });
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| wake(address, stop, &ended));
        while !stop.is_raised() {
            // A client that sends nothing soon makes room for others.
            if server.open.load(Ordering::Relaxed) >= MOST {
                thread::sleep(Duration::from_millis(2));
                continue;
            }
            match listener.accept() {
                Ok((stream, _)) if !stop.is_raised() => accept(&server, stream),
                Ok(_) => {}
                // Out of file descriptors, most likely.
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
        ended.store(true, Ordering::Relaxed);
    });
    Ok(())
}

/// Waits for `stop`, then connects to the server until it has noticed: accepting cannot be interrupted.
fn wake(address: SocketAddr, stop: &Stop, ended: &AtomicBool) {
    let reachable = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from(([127, 0, 0, 1], address.port())),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], address.port())),
        _ => address,
    };
    while !ended.load(Ordering::Relaxed) {
        if stop.is_raised() {
            _ = TcpStream::connect_timeout(&reachable, Duration::from_millis(100));
        }
        thread::sleep(Duration::from_millis(30));
    }
}

/// Starts a thread for a connection. A connection that cannot be set up is dropped.
fn accept(server: &Arc<Server>, stream: TcpStream) {
    _ = stream.set_nodelay(true);
    server.open.fetch_add(1, Ordering::Relaxed);
    let shared = server.clone();
    let answering = move || {
        // A connection that fails is closed; there is no one to tell.
        _ = shared.answer_all(&stream);
        shared.open.fetch_sub(1, Ordering::Relaxed);
    };
    if thread::Builder::new().stack_size(STACK).spawn(answering).is_err() {
        server.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    /// Answers the requests of a connection, one after the other.
    fn answer_all(&self, stream: &TcpStream) -> io::Result<()> {
        let mut received = Received { bytes: [0; LARGEST + 4096], length: 0 };
        let mut seat = None;
        while let Some(parsed) = received.header(stream)? {
            if seat.is_none() {
                seat = Some(self.seat());
            }
            let Parsed::Whole(mut request, length) = parsed else {
                let reply = Reply::refused(400, "this is no HTTP request, or its header is too large");
                Self::send(stream, &reply, &Request { closes: true, ..Request::default() })?;
                break;
            };
            let reply = self.refusal(&request).unwrap_or_else(|| {
                let (path, query) = request.path_and_query();
                Route::of(path, query)
                    .map_or_else(|| Reply::refused(404, "not found"), |route| self.site.answer(&route))
            });
            request.closes |= self.is_crowded();
            Self::send(stream, &reply, &request)?;
            if request.closes {
                break;
            }
            received.drop_first(length);
        }
        leave(stream, LEAVING_TIME[usize::from(self.is_crowded())])
    }

    /// Waits for a seat.
    fn seat(&self) -> Seat<'_> {
        let free = self.free.wait_while(self.taken(), |taken| *taken >= SEATS);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Seat(self)
    }

    fn is_crowded(&self) -> bool {
        *self.taken() > MOST_KEPT
    }

    fn taken(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an answer.
    fn send(stream: &TcpStream, reply: &Reply, request: &Request) -> io::Result<()> {
        let known = reply.tag.as_deref().filter(|tag| reply.status == 200 && lists(request.tags, tag.as_bytes()));
        let status = if known.is_some() { 304 } else { reply.status };
        // In one piece: allocations of many sizes cost the thread of every connection memory.
        let mut head = String::with_capacity(1024);
        write!(head, "HTTP/1.1 {status} {}\r\n", reason(status)).expect("a string");
        let mut field = |name: &str, value: &str| write!(head, "{name}: {value}\r\n").expect("a string");
        field("Content-Type", reply.content_type);
        field("Content-Security-Policy", reply.policy);
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
        Self::write_all(stream, head.as_bytes(), end)?;
        if known.is_none() && request.method != "HEAD" {
            Self::write_all(stream, &reply.body, end)?;
        }
        Ok(())
    }

    /// Writes until `end`; the connection of a client that reads too slowly fails.
    fn write_all(mut stream: &TcpStream, mut bytes: &[u8], end: Instant) -> io::Result<()> {
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

    /// Why a request is refused, if it is.
    fn refusal(&self, request: &Request) -> Option<Reply> {
        if !matches!(request.method, "GET" | "HEAD") {
            return Some(Reply::refused(405, "only GET and HEAD are answered"));
        }
        match request.hosts {
            1 if std::str::from_utf8(request.host).is_ok_and(|host| self.hosts.allow(host)) => None,
            0 if request.version == 0 => None,
            0 => Some(Reply::refused(400, "the request names no host")),
            _ => Some(Reply::refused(421, "this server does not have that name: start it with --host-name if it does")),
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        *self.0.taken() -= 1;
        self.0.free.notify_one();
    }
}

impl Received {
    /// Reads until the header of a request is complete; `None` if the client sends nothing or has closed the connection.
    fn header(&mut self, mut stream: &TcpStream) -> io::Result<Option<Parsed<'_>>> {
        let end = Instant::now() + HEADER_TIME;
        loop {
            // Empty lines before a request are allowed.
            let blank = self.bytes[..self.length].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.drop_first(blank);
            match Request::parse(&self.bytes[..self.length]) {
                Parsed::Partial if self.length > LARGEST => return Ok(Some(Parsed::Malformed)),
                Parsed::Partial => {}
                _ => break,
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            stream.set_read_timeout(Some(left))?;
            match stream.read(&mut self.bytes[self.length..]) {
                Ok(0) => return Ok(None),
                Ok(count) => self.length += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(Request::parse(&self.bytes[..self.length])))
    }

    fn drop_first(&mut self, count: usize) {
        self.bytes.copy_within(count..self.length, 0);
        self.length -= count;
    }
}

/// Ends a connection so that the client can still read the last answer: what it sends meanwhile is read and dropped, since
/// bytes that are never read would reset the connection.
fn leave(mut stream: &TcpStream, time: Duration) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let (end, mut buffer) = (Instant::now() + time, [0; 4096]);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        stream.set_read_timeout(Some(left))?;
        if stream.read(&mut buffer)? == 0 {
            return Ok(());
        }
    }
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

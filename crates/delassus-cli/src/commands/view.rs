//! `delassus view`: a page in the browser, and a run that goes on followed in it.
//!
//! ```text
//! GET /TOKEN/            the file                 GET /TOKEN/stamp   its size and time, as text
//! ```
//!
//! The server listens on the loopback address only and serves one file, to whoever knows the token. A request
//! that names another host or comes from another origin is refused: a foreign page that is open in the same
//! browser cannot read the file, not even through a host name that was made to point here. Every connection
//! has a thread of its own: browsers open some ahead of time and say nothing on them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use clap::Args;

use crate::output::CommandResult;
use crate::run::is_page;

/// Bytes of a request that are read.
const MAX_REQUEST: usize = 16 * 1024;
/// How long reading a request may take, as a whole, and every write of its answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections that are open at a time; those beyond are closed.
const MAX_CONNECTIONS: usize = 64;

/// Arguments of `view`.
#[derive(Args)]
pub struct ViewArgs {
    /// A page that `run` or `analyze` wrote with -o FILE.html
    pub file: PathBuf,
    /// Print the address instead of opening a browser
    #[arg(long)]
    pub no_browser: bool,
}

/// Runs the command: serves until it is interrupted.
pub fn run(args: &ViewArgs) -> CommandResult {
    let name = args.file.display();
    if !is_page(&args.file) {
        return Err(format!(
            "error: {name}: expected a page that ends in .html; `delassus run SCENE -o FILE.html` writes one\n"
        ));
    }
    if let Err(e) = std::fs::metadata(&args.file) {
        return Err(format!("error: {name}: cannot be read: {e}\n"));
    }
    let fail = |e: std::io::Error| format!("error: the loopback address cannot be listened on: {e}\n");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(fail)?;
    let port = listener.local_addr().map_err(fail)?.port();
    let token = token().map_err(|e| format!("error: no random numbers: {e}\n"))?;
    let address = format!("http://127.0.0.1:{port}/{token}/");
    println!("{address}");
    // Who reads this through a pipe waits for it.
    drop(std::io::stdout().flush());
    if !args.no_browser && !open_browser(&address) {
        eprintln!("note: no browser could be started; the address above opens in one on this machine");
    }
    serve(&listener, &Arc::new(Served { file: args.file.clone(), token, port }));
    Ok(0)
}

/// What is served, and to whom.
struct Served {
    file: PathBuf,
    token: String,
    port: u16,
}

/// Answers for ever.
fn serve(listener: &TcpListener, served: &Arc<Served>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Out of descriptors, say: those that are open end by themselves.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        // Each thread holds one.
        if Arc::strong_count(served) > MAX_CONNECTIONS {
            continue;
        }
        let mine = Arc::clone(served);
        // A visitor that breaks off is none of ours.
        std::thread::spawn(move || drop(answer(stream, &mine)));
    }
}

/// 128 random bits: the keys of a hash map come from the system.
fn token() -> std::io::Result<String> {
    use std::hash::{BuildHasher, Hasher};
    let bits = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    let mut bytes = [0u8; 16];
    match std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => Ok(bytes.iter().map(|b| format!("{b:02x}")).collect()),
        Err(_) => Ok(format!("{:016x}{:016x}", bits(), bits())),
    }
}

fn open_browser(address: &str) -> bool {
    let programs: [&[&str]; 3] = match std::env::consts::OS {
        "macos" => [&["open"], &[], &[]],
        "windows" => [&["explorer"], &[], &[]],
        _ => [&["xdg-open"], &["sensible-browser"], &["x-www-browser"]],
    };
    programs.iter().filter(|words| !words.is_empty()).any(|words| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(address).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    })
}

fn answer(mut stream: TcpStream, served: &Served) -> std::io::Result<()> {
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let head = read_head(&mut stream)?;
    let mut lines = head.lines();
    let request = lines.next().unwrap_or_default();
    let headers: Vec<(String, String)> = (lines.filter_map(|line| line.split_once(':')))
        .map(|(key, value)| (key.trim().to_ascii_lowercase(), value.trim().to_string()))
        .collect();
    let response = respond(request, &headers, &served.file, &served.token, served.port);
    write_response(stream, response)
}

/// The request up to its empty line, or what came of it until it was too late or too much.
fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let deadline = Instant::now() + REQUEST_TIMEOUT;
    let (mut head, mut part) = (vec![], [0u8; 2048]);
    while head.len() < MAX_REQUEST && !head.windows(4).any(|w| w == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => break,
            n => head.extend_from_slice(&part[..n]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// What is answered: a status, a type and a body.
struct Response {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
}

impl Response {
    fn refuse(status: &'static str) -> Response {
        Response { status, kind: "text/plain", body: status.as_bytes().to_vec() }
    }
}

fn respond(request: &str, headers: &[(String, String)], file: &Path, token: &str, port: u16) -> Response {
    let of =
        |key: &'static str| headers.iter().filter(move |(k, _)| k == key).map(|(_, value)| value.as_str());
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let mut named = of("host");
    let host = named.next();
    if named.next().is_some() || !host.is_some_and(|host| hosts.iter().any(|known| known == host)) {
        return Response::refuse("403 Forbidden");
    }
    let ours = |origin: &str| hosts.iter().any(|known| origin == format!("http://{known}"));
    if !of("origin").all(ours) || of("sec-fetch-site").any(|site| site == "cross-site") {
        return Response::refuse("403 Forbidden");
    }
    let mut words = request.split(' ');
    let (Some("GET"), Some(target)) = (words.next(), words.next()) else {
        return Response::refuse("405 Method Not Allowed");
    };
    let target = target.split(['?', '#']).next().unwrap_or_default();
    let Some(rest) = target.strip_prefix('/').and_then(|t| t.strip_prefix(token)) else {
        return Response::refuse("404 Not Found");
    };
    match rest {
        "/" => match std::fs::read(file) {
            Ok(body) => Response { status: "200 OK", kind: "text/html; charset=utf-8", body },
            Err(_) => Response::refuse("404 Not Found"),
        },
        "/stamp" => {
            let stamp = std::fs::metadata(file).and_then(|m| Ok((m.len(), m.modified()?)));
            let text = stamp.map_or("gone".into(), |(size, time)| {
                let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
                format!("{size} {}", since.as_nanos())
            });
            Response { status: "200 OK", kind: "text/plain", body: text.into_bytes() }
        }
        _ => Response::refuse("404 Not Found"),
    }
}

fn write_response(mut stream: TcpStream, Response { status, kind, body }: Response) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &str, headers: &[(&str, &str)]) -> &'static str {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        respond(request, &headers, Path::new("Cargo.toml"), "secret", 4000).status
    }

    #[test]
    fn only_this_host_with_the_token_is_answered() {
        let here = ("host", "127.0.0.1:4000");
        assert_eq!(status("GET /secret/ HTTP/1.1", &[here]), "200 OK");
        assert_eq!(
            status("GET /secret/stamp HTTP/1.1", &[here, ("origin", "http://127.0.0.1:4000")]),
            "200 OK"
        );
        for request in [
            "GET / HTTP/1.1",
            "GET /other/ HTTP/1.1",
            "GET /secret/../Cargo.toml HTTP/1.1",
            "GET /secret HTTP/1.1",
        ] {
            assert_eq!(status(request, &[here]), "404 Not Found", "{request}");
        }
        assert_eq!(status("POST /secret/ HTTP/1.1", &[here]), "405 Method Not Allowed");
        for headers in [
            &[][..],
            &[("host", "evil.example:4000")],
            &[("host", "127.0.0.1:4001")],
            &[here, ("host", "evil.example")],
            &[here, ("origin", "http://evil.example")],
            &[here, ("origin", "null")],
            &[here, ("sec-fetch-site", "cross-site")],
        ] {
            assert_eq!(status("GET /secret/ HTTP/1.1", headers), "403 Forbidden", "{headers:?}");
        }
    }

    /// A browser that opens connections ahead of time, and one that sends its request byte by byte, keep
    /// nobody waiting.
    #[test]
    fn idle_connections_delay_nobody() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = Served { file: "Cargo.toml".into(), token: "secret".into(), port };
        std::thread::spawn(move || serve(&listener, &Arc::new(served)));
        let idle: Vec<TcpStream> =
            (0..8).map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap()).collect();
        let mut slow = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        slow.write_all(b"GET /sec").unwrap();
        let begin = Instant::now();
        let mut quick = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        write!(quick, "GET /secret/stamp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").unwrap();
        let mut text = String::new();
        quick.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
        assert!(begin.elapsed() < REQUEST_TIMEOUT / 2, "{:?}", begin.elapsed());
        slow.write_all(b"ret/stamp HTTP/1.1\r\nHost: localhost:").unwrap();
        slow.write_all(format!("{port}\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        slow.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
        drop(idle);
    }

    #[test]
    fn tokens_differ_and_are_long() {
        let [a, b] = [token().unwrap(), token().unwrap()];
        assert!(a != b && a.len() == 32);
    }
}

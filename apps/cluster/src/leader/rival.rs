//! Another leader of the same run, for example on a copy of its folder. Two leaders would take each other's results and remove
//! each other's ranges, so a leader stays silent while it hears another.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use async_nats::{Client, HeaderMap};
use futures_util::StreamExt;

use crate::identity::random;
use crate::messages::{Announcement, decode_announcement, run_subject};
use crate::notes::lock;

/// Time that a leader listens for another one, which announces the run every second, before it resumes a run.
const LISTENS: Duration = Duration::from_millis(1500);
/// Shortest time without an announcement after which the other leader counts as gone. Up to twice that time is added at
/// random, so that one of two leaders that have heard each other begins first.
const SILENT: Duration = Duration::from_secs(4);

/// Header of an announcement with the identifier of its leader.
const LEADER: &str = "Turnstone-Leader";

/// Another leader of the run, if one has been heard.
#[derive(Debug)]
pub(super) struct Rival {
    /// Random identifier of this leader, also a part of the identifiers of its messages.
    pub(super) own: String,
    heard: Mutex<Option<Heard>>,
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    last: Instant,
    patience: Duration,
}

impl Rival {
    pub(super) fn new(own: String) -> Self {
        Self { own, heard: Mutex::default() }
    }

    /// Headers of this leader's announcements.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(LEADER, self.own.as_str());
        headers
    }

    /// Takes a message on the subject of the run.
    fn hear(&self, name: &str, headers: Option<&HeaderMap>, payload: &[u8]) {
        let is_own = headers.and_then(|headers| headers.get(LEADER)).is_some_and(|leader| leader.as_str() == self.own);
        let Some(announcement) = decode_announcement(payload).ok().filter(|it| !is_own && it.run == name) else {
            return;
        };
        let mut heard = lock(&self.heard);
        let known = heard.take_if(|heard| !heard.is_over());
        if !announcement.over {
            let [chance] = random().unwrap_or_default();
            let patience = known.map_or(SILENT + SILENT * u32::from(chance) / 128, |known| known.patience);
            *heard = Some(Heard { last: Instant::now(), patience });
        }
    }

    /// Whether another leader is at work.
    pub(super) fn is_there(&self) -> bool {
        lock(&self.heard).is_some_and(|heard| !heard.is_over())
    }

    /// Announces a run, unless another leader does.
    pub(super) async fn announce(&self, client: &Client, name: &str, announcement: &Mutex<Announcement>) {
        if !self.is_there() {
            let bytes = serde_json::to_vec(&*lock(announcement)).expect("plain fields");
            let _ = client.publish_with_headers(run_subject(name), self.headers(), bytes.into()).await; // it is repeated every second
        }
    }
}

impl Heard {
    fn is_over(&self) -> bool {
        self.last.elapsed() > self.patience
    }
}

/// Listens for announcements of a run by others.
pub(super) async fn listen_for_rival(client: Client, name: String, rival: Arc<Rival>) {
    loop {
        if let Ok(mut announcements) = client.subscribe(run_subject(&name)).await {
            while let Some(message) = announcements.next().await {
                rival.hear(&name, message.headers.as_ref(), &message.payload);
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Waits until no other leader of a run has been heard for a while. Returns whether there was one.
///
/// # Errors
/// `stops` said so before.
pub(super) fn wait_for_rival(rival: &Rival, stops: impl Fn() -> bool, say: impl Fn()) -> Result<bool> {
    let began = Instant::now();
    let mut said = false;
    while began.elapsed() < LISTENS || rival.is_there() {
        ensure!(!stops(), "stopped while another leader may be at work");
        if rival.is_there() && !std::mem::replace(&mut said, true) {
            say();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(said)
}

/// The warning about another leader.
pub(super) fn found(run: &str) -> String {
    format!(
        "another leader is at work on run {run}: waiting for its end (a copy of a run gets a name of its own when its folder \
         `cluster` is removed)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_hears_others_and_not_itself() {
        let announced = |over: bool, name: &str| {
            let text = format!(
                r#"{{"protocol":{},"run":"{name}","program":"p","game":"mancala","version":1,"params":{{}},"probe":{},
                "stage":"","job":"","items":[0,0],"ack_wait":1000,"excluded":[],"over":{over}}}"#,
                crate::PROTOCOL,
                serde_json::to_string(&crate::Probe {
                    network: turnstone_models::NetworkConfig::default(),
                    search: turnstone_selfplay::SearchConfig::default(),
                    precision: turnstone_models::Precision::F32,
                    checksum: String::new(),
                })
                .expect("plain fields")
            );
            text.into_bytes()
        };
        let (one, other) = (Rival::new("1".into()), Rival::new("2".into()));
        one.hear("run", Some(&one.headers()), &announced(false, "run"));
        one.hear("run", Some(&other.headers()), &announced(false, "another"));
        one.hear("run", Some(&other.headers()), b"{}");
        assert!(!one.is_there(), "nothing of this is another leader of the run");
        for headers in [Some(&other.headers()), None] {
            one.hear("run", headers, &announced(false, "run"));
            assert!(one.is_there());
            one.hear("run", headers, &announced(true, "run"));
            assert!(!one.is_there(), "it is over");
        }
        one.hear("run", None, &announced(false, "run"));
        let heard = lock(&one.heard).as_mut().map(|heard| {
            heard.last -= heard.patience;
            heard.patience
        });
        assert!(heard.is_some_and(|patience| (SILENT..3 * SILENT).contains(&patience)) && !one.is_there());
        assert!(!wait_for_rival(&one, || false, || ()).expect("no one stops it"));
        other.hear("run", None, &announced(false, "run"));
        assert!(wait_for_rival(&other, || true, || ()).is_err());
    }
}

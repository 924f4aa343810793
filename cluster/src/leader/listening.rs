//! What goes on beside the leader: it announces the run, listens to workers, and receives results.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::{self, Context as JetStream};
use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::lines::Lines;
use super::roster::Roster;
use crate::messages::{Announcement, decode_beat, is_name};
use crate::names::{ALL_WORKERS, RESULTS, run};
use crate::notes::{Note, TakeNote, lock};
use crate::wire::unhex;

/// Messages that are taken from the connection before they are written to disk together.
pub(super) const AT_ONCE: usize = 256;

/// Announces the run every second.
pub(super) async fn announce(client: async_nats::Client, name: String, announcement: Arc<Mutex<Announcement>>) {
    loop {
        let bytes = serde_json::to_vec(&*lock(&announcement)).expect("plain fields");
        let _ = client.publish(run(&name), bytes.into()).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// What the signs of life are for.
pub(super) struct Listening {
    pub(super) run: String,
    pub(super) roster: Arc<Mutex<Roster>>,
    pub(super) rejections: Arc<Mutex<Lines>>,
    /// What has been said of workers that cannot play.
    pub(super) refusals: Lines,
    pub(super) note: TakeNote,
}

impl Listening {
    /// Takes a sign of life on the subject of a worker of this name.
    fn take(&mut self, name: &str, payload: &[u8]) {
        let beat = decode_beat(payload).map_err(|fault| fault.to_string()).and_then(|beat| {
            let key = unhex(&beat.key).filter(|_| beat.worker == name);
            Ok((key.ok_or_else(|| format!("it is one of worker {}", beat.worker))?, beat))
        });
        let line = match beat.and_then(|(key, beat)| lock(&self.roster).beat(&self.run, key, &beat)) {
            Ok(line) => line.and_then(|line| self.refusals.allow(name, line)),
            Err(fault) => {
                let name = if is_name(name) { name } else { "?" };
                let line = format!("a sign of life on the subject of worker {name} is refused: {fault}");
                lock(&self.rejections).allow(name, line)
            }
        };
        line.into_iter().for_each(|line| (self.note)(Note::Warning(line)));
    }
}

/// Listens for the workers' signs of life.
pub(super) async fn listen(client: async_nats::Client, mut listening: Listening) {
    loop {
        if let Ok(mut beats) = client.subscribe(ALL_WORKERS).await {
            while let Some(message) = beats.next().await {
                listening.take(message.subject.rsplit('.').next().unwrap_or_default(), &message.payload);
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Passes on the results of the run.
pub(super) async fn receive(js: JetStream, run: String, sender: mpsc::Sender<jetstream::Message>) {
    loop {
        let found: Result<jetstream::consumer::Consumer<pull::Config>, _> =
            js.get_consumer_from_stream(&run, RESULTS).await;
        if let Ok(consumer) = found {
            let stream = consumer.stream().max_messages_per_batch(AT_ONCE).expires(Duration::from_secs(10));
            if let Ok(mut messages) = stream.heartbeat(Duration::from_secs(2)).messages().await {
                while let Some(Ok(message)) = messages.next().await {
                    if sender.send(message).await.is_err() {
                        return;
                    }
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

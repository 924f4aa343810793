//! What goes on beside the leader: it announces the run, hears of workers, and receives results.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::{self, Context as JetStream};
use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::roster::Roster;
use crate::messages::{Announcement, decode_beat};
use crate::names::{ALL_WORKERS, RESULTS, run};
use crate::notes::{Note, TakeNote, lock};

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

/// Listens for the workers' signs of life.
pub(super) async fn listen(client: async_nats::Client, run: String, roster: Arc<Mutex<Roster>>, note: TakeNote) {
    loop {
        if let Ok(mut beats) = client.subscribe(ALL_WORKERS).await {
            while let Some(message) = beats.next().await {
                let Ok(beat) = decode_beat(&message.payload) else { continue };
                let line = lock(&roster).beat(&run, &beat);
                line.into_iter().for_each(|line| note(Note::Warning(line)));
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

//! Background tasks of the leader: announcing the run, listening to workers, receiving results.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, ensure};
use async_nats::Client;
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{self, Context as JetStream};
use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::workers::Workers;
use crate::messages::{ALL_WORKERS, Announcement, Beat, RESULTS, decode, run_subject};
use crate::notes::{Note, TakeNote, lock};

/// Maximum number of messages that are taken from the connection and written to disk together.
pub(super) const AT_ONCE: usize = 256;
/// Time that a leader listens for another one of its run, which announces it every second.
const LISTENS: Duration = Duration::from_millis(1500);

/// Checks that no other leader announces a run.
pub(super) async fn refuse_second(client: &Client, run: &str) -> Result<()> {
    let mut announcements = client.subscribe(run_subject(run)).await?;
    let heard = tokio::time::timeout(LISTENS, announcements.next()).await;
    ensure!(
        heard.is_err(),
        "another leader is at work on run {run} (a copy of a run gets a name of its own when its folder `cluster` is removed)"
    );
    Ok(())
}

/// Announces the run.
pub(super) async fn announce(client: &Client, announcement: &Mutex<Announcement>) {
    let (subject, bytes) = {
        let announcement = lock(announcement);
        (run_subject(&announcement.run), serde_json::to_vec(&*announcement).expect("plain fields"))
    };
    let _ = client.publish(subject, bytes.into()).await; // it is repeated every second
}

/// Announces the run every second.
pub(super) async fn keep_announcing(client: Client, announcement: Arc<Mutex<Announcement>>) {
    loop {
        announce(&client, &announcement).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Listens for the workers' heartbeats.
pub(super) async fn listen(client: Client, run: String, workers: Arc<Mutex<Workers>>, note: TakeNote) {
    loop {
        if let Ok(mut beats) = client.subscribe(ALL_WORKERS).await {
            while let Some(message) = beats.next().await {
                // One of another version belongs to a worker that refuses this run, and says so where it runs.
                let Ok(beat) = decode::<Beat>(&message.payload) else { continue };
                let line = lock(&workers).beat(&run, &beat);
                line.into_iter().for_each(|line| note(Note::Warning(line)));
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Receives the results of the run.
pub(super) async fn receive(js: JetStream, run: String, sender: mpsc::Sender<jetstream::Message>) {
    loop {
        let found: Result<Consumer<pull::Config>, _> = js.get_consumer_from_stream(&run, RESULTS).await;
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

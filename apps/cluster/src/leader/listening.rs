//! Background tasks of the leader: announcing the run, listening to workers, receiving results.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::message::AckKind;
use async_nats::jetstream::{self, Context as JetStream};
use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::rival::Rival;
use super::workers::Workers;
use crate::messages::{ALL_WORKERS, Announcement, RESULTS, decode_beat, is_name};
use crate::notes::LogLimit;
use crate::notes::{Note, TakeNote, lock};
use crate::wire::unhex;

/// Maximum number of messages that are taken from the connection and written to disk together.
pub(super) const AT_ONCE: usize = 256;

/// Announces the run every second, unless another leader does.
pub(super) async fn announce(
    client: async_nats::Client,
    name: String,
    announcement: Arc<Mutex<Announcement>>,
    rival: Arc<Rival>,
) {
    loop {
        rival.announce(&client, &name, &announcement).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Takes the heartbeats of workers.
pub(super) struct Listening {
    pub(super) run: String,
    pub(super) workers: Arc<Mutex<Workers>>,
    pub(super) rejections: Arc<Mutex<LogLimit>>,
    /// Lines about workers that cannot play.
    pub(super) refusals: LogLimit,
    pub(super) note: TakeNote,
}

impl Listening {
    /// Takes a heartbeat on the subject of the worker with this name.
    fn take(&mut self, name: &str, payload: &[u8]) {
        let beat = decode_beat(payload).map_err(|fault| fault.to_string()).and_then(|beat| {
            let key = unhex(&beat.key).filter(|_| beat.worker == name);
            Ok((key.ok_or_else(|| format!("it is one of worker {}", beat.worker))?, beat))
        });
        let line = match beat.and_then(|(key, beat)| lock(&self.workers).beat(&self.run, key, &beat)) {
            Ok(line) => line.and_then(|line| self.refusals.allow(name, line)),
            Err(fault) => {
                let name = if is_name(name) { name } else { "?" };
                let line = format!("a heartbeat on the subject of worker {name} is refused: {fault}");
                lock(&self.rejections).allow(name, line)
            }
        };
        line.into_iter().for_each(|line| (self.note)(Note::Warning(line)));
    }
}

/// Listens for the workers' heartbeats.
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

/// Receives the results of the run, unless another leader does.
pub(super) async fn receive(js: JetStream, run: String, sender: mpsc::Sender<jetstream::Message>, rival: Arc<Rival>) {
    loop {
        if rival.is_there() {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        }
        let found: Result<jetstream::consumer::Consumer<pull::Config>, _> =
            js.get_consumer_from_stream(&run, RESULTS).await;
        if let Ok(consumer) = found {
            let stream = consumer.stream().max_messages_per_batch(AT_ONCE).expires(Duration::from_secs(10));
            if let Ok(mut messages) = stream.heartbeat(Duration::from_secs(2)).messages().await {
                while let Some(Ok(message)) = messages.next().await {
                    if rival.is_there() {
                        let _ = message.ack_with(AckKind::Nak(None)).await;
                        break;
                    }
                    if sender.send(message).await.is_err() {
                        return;
                    }
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use crate::messages::Beat;
    use crate::messages::PROTOCOL;
    use crate::wire::hex;

    #[test]
    fn a_sign_of_life_is_of_the_worker_of_its_subject() {
        let said = Arc::<Mutex<Vec<String>>>::default();
        let notes = Arc::clone(&said);
        let note: TakeNote = Arc::new(move |note| match note {
            Note::Line(text) | Note::Warning(text) => lock(&notes).push(text),
        });
        let workers = Arc::<Mutex<Workers>>::default();
        let (run, rejections) = ("run".to_owned(), Arc::default());
        let mut listening =
            Listening { run, workers: Arc::clone(&workers), rejections, refusals: LogLimit::default(), note };
        let identity = Identity::new().expect("a key");
        let mut beat = |worker: &str, subject: &str, why: Option<&str>| {
            let beat = Beat {
                protocol: PROTOCOL,
                worker: worker.into(),
                key: hex(&identity.key()),
                program: "p".into(),
                threads: 3,
                runs: vec!["run".into()],
                done: [0, 0],
                rate: 1.0,
                held: 0,
                spooled: 0,
                refusals: why.map(|why| ("run".into(), why.into())).into_iter().collect(),
            };
            listening.take(subject, &beat.encode(&identity));
        };
        beat("mallory", "honest", None);
        assert_eq!(lock(&workers).threads(), 0);
        assert!(lock(&said)[0].contains("of worker honest is refused: it is one of worker mallory"));
        beat("honest", "honest", None);
        assert_eq!(lock(&workers).threads(), 3);
        // Reasons that change do not fill the log.
        (0..100).for_each(|number| beat("honest", "honest", Some(&format!("reason {number}"))));
        assert!((2..10).contains(&lock(&said).len()), "{:?}", lock(&said));
    }
}

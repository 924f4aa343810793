//! Jobs on the server, in pieces that the server takes as messages.
//!
//! A job is the sequence of pieces on the subject of its checksum and nothing else: no index can be wrong, and no marker of a
//! removed job stays behind. (Such a marker would keep the server from giving back the disk space of
//! the jobs around it, since the server removes whole files of messages only.)

use anyhow::{Context as _, Result, anyhow, ensure};
use async_nats::jetstream::Context;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{DirectGetError, DirectGetErrorKind, Stream};

use crate::messages::{JOBS, job_subject};
use crate::wire::{sha256, short};

/// Maximum length of a piece, if the server takes it.
const LONGEST_PIECE: usize = 512 << 10;
/// Room for the headers of a message.
const HEADERS: usize = 4 << 10;

/// Stores a job, unless the server has it complete. Pieces of an earlier attempt are removed first. Returns whether it was
/// missing.
pub(crate) async fn put_job(js: &Context, bytes: &[u8]) -> Result<bool> {
    let sum = sha256(bytes);
    if get_job(js, &sum, bytes.len()).await.is_ok() {
        return Ok(false);
    }
    remove_job(js, &sum).await.context("removing what is left of a job")?;
    let longest = js.client().max_payload().saturating_sub(HEADERS).clamp(1, LONGEST_PIECE);
    for piece in bytes.chunks(longest) {
        js.publish(job_subject(&sum), piece.to_vec().into()).await?.await.context("storing a job")?;
    }
    Ok(true)
}

/// Reads a job of at most `most` bytes, and checks that it is what its name says.
pub(crate) async fn get_job(js: &Context, sum: &[u8; 32], most: usize) -> Result<Vec<u8>> {
    let (stream, subject, name) = (js.get_stream_no_info(JOBS).await?, job_subject(sum), short(sum));
    let (mut bytes, mut after) = (Vec::new(), 0);
    loop {
        let next = next_piece(&stream, &subject, after).await.with_context(|| format!("reading job {name}"))?;
        let Some(piece) = next else { break };
        bytes.extend_from_slice(&piece.payload);
        after = piece.sequence;
        ensure!(bytes.len() <= most, "job {name} has more than {most} bytes");
    }
    ensure!(!bytes.is_empty(), "job {name} is not on the server");
    ensure!(sha256(&bytes) == *sum, "job {name} is not what its name says: incomplete or damaged");
    Ok(bytes)
}

/// Removes a job, message by message: where nats-server 2.9 purges a subject, it counts the bytes as stored until it is
/// restarted, and takes nothing more when they are as many as it may store.
pub(crate) async fn remove_job(js: &Context, sum: &[u8; 32]) -> Result<()> {
    let (stream, subject, mut after) = (js.get_stream_no_info(JOBS).await?, job_subject(sum), 0);
    while let Some(piece) = next_piece(&stream, &subject, after).await? {
        after = piece.sequence;
        stream.delete_message(after).await.map_err(|error| anyhow!(error))?;
    }
    Ok(())
}

/// The first message of a subject after a sequence number; `None` if there is none.
async fn next_piece(stream: &Stream<()>, subject: &str, after: u64) -> Result<Option<StreamMessage>, DirectGetError> {
    match stream.direct_get_next_for_subject(subject, Some(after + 1)).await {
        Ok(piece) => Ok(Some(piece)),
        Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

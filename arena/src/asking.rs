//! Searches that are asked about many positions, as many of them side by side as each can think about at once.

use std::ops::DerefMut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Result;
use turnstone_agents::{Chosen, Search, SearchRequest};
use turnstone_base::streams::Stream;
use turnstone_env::AnyState;

/// Number of games or positions that a thread searches side by side, if memory allows it. Larger batches are not faster:
/// self-play takes the same processor time per position with batches of 22 as of 40.
pub(crate) const MOST_AT_ONCE: usize = 24;

/// Number of seats for `share` games or positions of one thread. Half of the share is begun later, by whichever thread has a
/// free seat, so that the threads end together.
pub(crate) fn seats_for(most: usize, share: usize) -> usize {
    most.min(MOST_AT_ONCE).min(share.div_ceil(2)).max(1)
}

/// What is an answer: from the number of a position, the position, what the search has chosen, the search, and its seat.
type Take<'a, T> = dyn Fn(usize, &AnyState, Chosen, &mut dyn Search, usize) -> Result<T> + Sync + 'a;

/// Asks searches, each made on a thread of its own, about `count` positions, in which the game is not over. `question` gives
/// them by their numbers, with the random streams of the games that begin there. `take` turns what a seat of the search has
/// chosen into an answer. Returns the answers in order; `None` if the flag of the request was raised before the end.
///
/// # Errors
/// A search cannot be made, positions cannot be evaluated, or those of `question` and `take`.
pub(crate) fn ask_on_threads<S: DerefMut<Target = dyn Search>, T: Send>(
    searches: impl ExactSizeIterator<Item = impl FnOnce() -> Result<S> + Send>,
    count: usize,
    request: &SearchRequest,
    question: &(dyn Fn(usize) -> Result<(AnyState, Stream)> + Sync),
    take: &Take<'_, T>,
) -> Result<Option<Vec<T>>> {
    let (stop, share) = (&request.control.stop, count.div_ceil(searches.len()));
    let first_free = AtomicUsize::new(0);
    let answers: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    let work = |search: &mut dyn Search| -> Result<()> {
        let most = if search.is_batched() { seats_for(search.most_seats(), share) } else { 1 };
        let mut asked: Vec<Option<(usize, AnyState)>> = vec![None; most];
        while !stop.is_raised() {
            for (seat, place) in asked.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
                let number = first_free.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    break;
                }
                let (state, rng) = question(number)?;
                search.new_game(seat, &state, rng);
                search.begin(seat, &state, request.clone());
                *place = Some((number, state));
            }
            if asked.iter().all(Option::is_none) {
                break;
            }
            for (seat, chosen) in search.advance(&mut |_, _| ())? {
                // What was cut short is no answer.
                if stop.is_raised() {
                    break;
                }
                if let Some((number, state)) = asked[seat].take() {
                    let answer = take(number, &state, chosen, search, seat)?;
                    answers.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(answer);
                }
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = searches.map(|search| scope.spawn(move || work(&mut *search()?))).collect();
        threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(answers.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect())
}

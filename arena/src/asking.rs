//! One search that is asked about many positions, as many of them side by side as it can think about at once.

use anyhow::Result;
use turnstone_agents::{Chosen, Search, SearchRequest};
use turnstone_base::streams::Stream;
use turnstone_env::AnyState;

/// Number of games or positions that a thread searches side by side, if memory allows it. Larger batches are not faster:
/// self-play takes the same processor time per position with batches of 22 as of 40.
pub(crate) const MOST_AT_ONCE: usize = 24;

/// A position that a search is asked about, the game of which begins there.
pub(crate) struct Question<T> {
    /// The asker's key for it.
    pub(crate) key: T,
    pub(crate) state: AnyState,
    pub(crate) rng: Stream,
}

/// Gives the next position, in which the game is not over; `None` after the last.
pub(crate) type Next<'a, T> = dyn FnMut() -> Result<Option<Question<T>>> + 'a;

/// Takes what the search has chosen in a position, and the seat to ask for more.
pub(crate) type Put<'a, T> = dyn FnMut(T, &AnyState, Chosen, &mut dyn Search, usize) -> Result<()> + 'a;

/// Number of seats for `share` games or positions of one thread. Half of the share is begun later, by whichever thread has a
/// free seat, so that the threads end together.
pub(crate) fn seats_for(most: usize, share: usize) -> usize {
    most.min(MOST_AT_ONCE).min(share.div_ceil(2)).max(1)
}

/// Asks a search about all positions, until the flag of the request is raised. Answers that were cut short by it are dropped.
///
/// # Errors
/// Positions cannot be evaluated, or that of `next` and `put`.
pub(crate) fn ask_all<T>(
    search: &mut dyn Search,
    share: usize,
    request: &SearchRequest,
    next: &mut Next<'_, T>,
    put: &mut Put<'_, T>,
) -> Result<()> {
    let most = if search.is_batched() { seats_for(search.most_seats(), share) } else { 1 };
    let mut asked: Vec<Option<(T, AnyState)>> = (0..most).map(|_| None).collect();
    let stop = &request.control.stop;
    while !stop.is_raised() {
        for (seat, place) in asked.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            let Some(Question { key, state, rng }) = next()? else { break };
            search.new_game(seat, &state, rng);
            search.begin(seat, &state, request.clone());
            *place = Some((key, state));
        }
        if asked.iter().all(Option::is_none) {
            break;
        }
        for (seat, chosen) in search.advance(&mut |_, _| ())? {
            if stop.is_raised() {
                break;
            }
            if let Some((key, state)) = asked[seat].take() {
                put(key, &state, chosen, search, seat)?;
            }
        }
    }
    Ok(())
}

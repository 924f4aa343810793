//! Searches that answer one position after another: random actions, exact values, classical searches; and seats with a search
//! of their own each.

use turnstone_base::streams::Stream;
use turnstone_env::{Action, AnyState};
use turnstone_search::{Fault, RootAction};

use crate::analysis::Analysis;
use crate::interface::{Chosen, OnInfo, Search};
use crate::request::{SearchInfo, SearchRequest};

/// Takes reports of a search that goes on.
pub type OnReport<'a> = dyn FnMut(&SearchInfo) + 'a;

/// Chooses actions, one position after another: the simple way to write an agent.
pub trait Chooser: Send {
    /// Forgets earlier games.
    fn new_game(&mut self) {}

    /// The result for a position, whose line begins with the chosen action. `rng` is the random stream of the seat.
    fn choose(
        &mut self,
        state: &AnyState,
        request: &SearchRequest,
        rng: &mut Stream,
        on_info: &mut OnReport<'_>,
    ) -> SearchInfo;

    /// Sets the number of threads of a search.
    fn set_threads(&mut self, _threads: usize) {}

    /// A line about its last choice, for a person to read.
    fn comment(&self, _last: &SearchInfo) -> Option<String> {
        None
    }
}

/// The search of a [`Chooser`]: seats that share it, as it keeps nothing from one position to the next of another seat.
pub struct OneByOne<C> {
    chooser: C,
    most: usize,
    seats: Vec<Option<Seat>>,
}

struct Seat {
    rng: Stream,
    asked: Option<(AnyState, SearchRequest)>,
    found: SearchInfo,
}

const NO_GAME: &str = "the seat has begun a game";

impl<C: Chooser> OneByOne<C> {
    /// Seats that share a chooser, up to `most`; a single one where the chooser keeps something from one position to the next.
    pub fn new(chooser: C, most: usize) -> Self {
        Self { chooser, most, seats: Vec::new() }
    }
}

impl<C: Chooser> Search for OneByOne<C> {
    fn most_seats(&self) -> usize {
        self.most
    }

    fn new_game(&mut self, seat: usize, _: &AnyState, rng: Stream) {
        if self.seats.len() <= seat {
            self.seats.resize_with(seat + 1, || None);
        }
        self.chooser.new_game();
        self.seats[seat] = Some(Seat { rng, asked: None, found: SearchInfo::default() });
    }

    fn begin(&mut self, seat: usize, state: &AnyState, request: SearchRequest) {
        self.seats[seat].as_mut().expect(NO_GAME).asked = Some((state.clone(), request));
    }

    fn advance(&mut self, on_info: &mut OnInfo<'_>) -> Result<Vec<(usize, Chosen)>, Fault> {
        let mut chosen = Vec::new();
        for (number, seat) in self.seats.iter_mut().enumerate() {
            let Some(Seat { rng, asked, found }) = seat else { continue };
            let Some((state, request)) = asked.take() else { continue };
            let mut report = |info: &SearchInfo| {
                if request.reports {
                    on_info(number, info);
                }
            };
            *found = self.chooser.choose(&state, &request, rng, &mut report);
            report(found);
            chosen.push((number, Ok(found.line[0])));
        }
        Ok(chosen)
    }

    fn report(&self, seat: usize) -> SearchInfo {
        self.seats[seat].as_ref().expect(NO_GAME).found.clone()
    }

    fn comment(&self, seat: usize) -> Option<String> {
        self.chooser.comment(&self.seats[seat].as_ref().expect(NO_GAME).found)
    }

    fn set_threads(&mut self, threads: usize) {
        self.chooser.set_threads(threads);
    }

    fn clear(&mut self) {
        self.seats.iter_mut().flatten().for_each(|seat| seat.asked = None);
    }
}

/// A search of its own for every seat, for those that keep something of their game, or draw random numbers in the order of
/// their positions.
pub(crate) struct PerSeat {
    make: Box<dyn Fn() -> Box<dyn Search> + Send>,
    most: usize,
    seats: Vec<Option<Box<dyn Search>>>,
    threads: Option<usize>,
}

impl PerSeat {
    pub(crate) fn new(make: impl Fn() -> Box<dyn Search> + Send + 'static, most: usize) -> Self {
        Self { make: Box::new(make), most, seats: Vec::new(), threads: None }
    }

    fn seat(&self, seat: usize) -> &dyn Search {
        &**self.seats[seat].as_ref().expect(NO_GAME)
    }

    fn seat_mut(&mut self, seat: usize) -> &mut dyn Search {
        &mut **self.seats[seat].as_mut().expect(NO_GAME)
    }
}

impl Search for PerSeat {
    fn most_seats(&self) -> usize {
        self.most
    }

    fn new_game(&mut self, seat: usize, state: &AnyState, rng: Stream) {
        if self.seats.len() <= seat {
            self.seats.resize_with(seat + 1, || None);
        }
        let search = self.seats[seat].get_or_insert_with(|| {
            let mut search = (self.make)();
            self.threads.into_iter().for_each(|threads| search.set_threads(threads));
            search
        });
        search.new_game(0, state, rng);
    }

    fn played(&mut self, seat: usize, action: Action) {
        self.seat_mut(seat).played(0, action);
    }

    fn begin(&mut self, seat: usize, state: &AnyState, request: SearchRequest) {
        self.seat_mut(seat).begin(0, state, request);
    }

    fn advance(&mut self, on_info: &mut OnInfo<'_>) -> Result<Vec<(usize, Chosen)>, Fault> {
        let mut all = Vec::new();
        for (number, seat) in self.seats.iter_mut().enumerate() {
            let Some(search) = seat else { continue };
            match search.advance(&mut |_, info| on_info(number, info)) {
                Ok(chosen) => all.extend(chosen.into_iter().map(|(_, chosen)| (number, chosen))),
                // It fails again in the next call, if this one has chosen something.
                Err(fault) if all.is_empty() => return Err(fault),
                Err(_) => break,
            }
        }
        Ok(all)
    }

    fn report(&self, seat: usize) -> SearchInfo {
        self.seat(seat).report(0)
    }

    fn analysis(&self, seat: usize) -> Option<Analysis> {
        self.seat(seat).analysis(0)
    }

    fn actions_after(&self, seat: usize, line: &[Action]) -> Option<Vec<RootAction>> {
        self.seat(seat).actions_after(0, line)
    }

    fn comment(&self, seat: usize) -> Option<String> {
        self.seat(seat).comment(0)
    }

    fn set_threads(&mut self, threads: usize) {
        self.threads = Some(threads);
        self.seats.iter_mut().flatten().for_each(|search| search.set_threads(threads));
    }

    fn clear(&mut self) {
        self.seats.iter_mut().flatten().for_each(|search| search.clear());
    }

    fn forget(&mut self) {
        self.seats.iter_mut().flatten().for_each(|search| search.forget());
    }
}

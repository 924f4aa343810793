//! Certifying: the worst result that an agent can come to against any opponent, found by asking it for its move in every
//! position that can arise.

mod journal;

pub use journal::WalkJournal;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use turnstone_agents::exact::{Certificate, Claim, Extent, MoveReader, Moves};
use turnstone_agents::search::Stop;
use turnstone_agents::search::hash::hash;
use turnstone_agents::{
    Agent, Book, Change, DynExactValues, DynWalk, Findings, LoadedNetwork, LosingMove, Network, PlayableGame, Role,
    Search, SearchRequest,
};
use turnstone_base::checksum::crc32_text;
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, ActionList, AnyState, Side};

use crate::asking::{MOST_AT_ONCE, ask_on_threads};
use crate::openings::read_book;
use crate::saved_games::PlayedGame;

/// Positions that an agent is asked about before its moves are written to the journal.
const AT_ONCE: usize = 1 << 12;

/// Simulations of the search for a move to replace one that loses.
const DEEPER: u32 = 400;

/// An agent to be certified, and how.
pub struct Certifying<'a> {
    /// The game.
    pub game: &'a dyn PlayableGame,
    /// The game that the agent is asked in: `game`, or the same with limits on plies, whose counts are then 0 in every
    /// position that the agent sees.
    pub asked: &'a dyn PlayableGame,
    /// The agent.
    pub agent: &'a Agent,
    /// Seed of its random choices. Each position has a stream of its own, so that it is a function of the position.
    pub seed: u64,
    /// Number of threads. It does not change the result.
    pub threads: usize,
    /// Most positions, about.
    pub most: usize,
    /// The program, for the certificate.
    pub program: &'a str,
    /// Called with the walk after some positions.
    pub progress: &'a (dyn Fn(&dyn DynWalk) + Sync),
    /// Ends it when raised.
    pub stop: &'a Stop,
}

/// Exact values of a game, to repair agents by.
#[derive(Clone, Copy)]
pub struct Truth<'a> {
    /// Those that need no search.
    pub quick: &'a dyn DynExactValues,
    /// All that can be had.
    pub full: &'a dyn DynExactValues,
}

/// Gives another move in place of an agent's.
type Correct<'a> = dyn Fn(&AnyState, Action) -> Option<Action> + 'a;

/// An agent that has been corrected.
pub struct Repaired {
    /// Positions, as the agent is asked for them, with the moves that it has to play there.
    pub corrections: Vec<(AnyState, Action)>,
    /// The walk by the corrected agent.
    pub walk: Box<dyn DynWalk>,
    /// Progress.
    pub extent: Extent,
}

/// Checks that the agent's move depends on the position alone, as far as its spec tells.
///
/// # Errors
/// One line that says why not.
pub fn check_fixed(agent: &Agent) -> Result<()> {
    let traits = agent.spec.traits();
    let reason = match traits.role {
        Role::Person | Role::Program => Some("this program does not choose its moves"),
        _ if traits.temperature != 0.0 => Some("its moves are drawn at a temperature"),
        _ => agent.spec.varies_by(),
    };
    match reason {
        Some(reason) => bail!("`{}` is no function of the position: {reason}", agent.spec),
        None => Ok(()),
    }
}

/// The openings of a book, one in each line, as their moves and the position after them.
///
/// # Errors
/// The book cannot be read, has a fault, or has no opening.
pub fn starts_of_book(path: &Path, game: &dyn PlayableGame) -> Result<Vec<(Vec<Action>, AnyState)>> {
    let book = read_book(path, game)?;
    ensure!(!book.is_empty(), "opening book {}: there is no opening", path.display());
    Ok(book.into_iter().map(|opening| (opening.actions, opening.state)).collect())
}

impl Certifying<'_> {
    /// Walks through all positions that can arise from the starts with the agent as `seat`. Moves that the journal has are not
    /// asked for again. Returns `None` if `stop` was raised before the end.
    ///
    /// # Errors
    /// The agent fails, or the journal cannot be written.
    pub fn walk(
        &self,
        seat: Side,
        starts: &[AnyState],
        journal: Option<WalkJournal>,
    ) -> Result<Option<(Box<dyn DynWalk>, Extent)>> {
        let mut walk = self.game.walk(seat, starts);
        let extent = self.go_on(&mut *walk, &mut self.searches()?, journal, &|_, _| None)?;
        Ok(extent.map(|extent| (walk, extent)))
    }

    /// A search of the agent for each thread.
    fn searches(&self) -> Result<Vec<Box<dyn Search>>> {
        (0..self.threads.max(1)).map(|_| Ok(self.agent.search(self.asked, MOST_AT_ONCE)?)).collect()
    }

    /// Walks on until all positions are met or there are too many, by the agent's moves or what `correct` has in place of them.
    /// The journal has the agent's own.
    fn go_on(
        &self,
        walk: &mut dyn DynWalk,
        searches: &mut [Box<dyn Search>],
        mut journal: Option<WalkJournal>,
        correct: &Correct<'_>,
    ) -> Result<Option<Extent>> {
        let kept = journal.as_mut().map(WalkJournal::take_moves).unwrap_or_default();
        let (mut kept, mut own) = (MoveReader::new(&kept), Moves::default());
        let mut extent = walk.answer(self.most, &[]).context("a move that is known")?;
        while extent == Extent::Open {
            let questions = walk.questions(AT_ONCE);
            let legal: Vec<ActionList> = questions.iter().map(|state| self.game.legal_actions(state)).collect();
            let known = legal.iter().map_while(|legal| legal.get(kept.next(legal.len())?).copied());
            let mut answers: Vec<Action> = known.collect();
            if answers.len() < questions.len() {
                (self.progress)(walk);
                match self.answers(searches, &questions[answers.len()..])? {
                    Some(asked) => answers.extend(asked),
                    None => return Ok(None),
                }
            }
            for ((state, legal), answer) in questions.iter().zip(&legal).zip(&mut answers) {
                let Ok(place) = legal.binary_search(answer) else { continue };
                own.push(place, legal.len());
                *answer = correct(state, *answer).unwrap_or(*answer);
            }
            extent = walk.answer(self.most, &answers).with_context(|| format!("agent `{}`", self.agent.spec))?;
            if let Some(journal) = &mut journal {
                journal.add(own.whole_bytes())?;
            }
        }
        Ok(Some(extent))
    }

    /// Corrects the agent until it comes to the value of the start by best play: walks, replaces moves that give the value away,
    /// and walks again, until there are none. Returns `None` if `stop` was raised before the end.
    ///
    /// With exact values these are the moves that do by `quick` values, which are replaced before the walk goes on, and then
    /// the first ones by `full` values on every way to a worse end. Without any, they are the moves after
    /// which the agent is lost whatever it plays, as far as the walks have found; what replaces them is safe in the walk, or
    /// else what a search of 400 simulations prefers. The agent is then corrected until it cannot be beaten.
    ///
    /// # Errors
    /// As [`Certifying::walk`], or the start is lost for the agent, or its exact value is not known.
    pub fn repair(
        &self,
        seat: Side,
        start: &AnyState,
        journal: Option<WalkJournal>,
        truth: Option<Truth<'_>>,
        on_round: &dyn Fn(&dyn DynWalk, usize),
    ) -> Result<Option<Repaired>> {
        let sign = seat.sign() as i8;
        let best = match truth.map(|truth| truth.full.value(start)) {
            None => 0,
            Some(value) => {
                sign * value.with_context(|| format!("no exact value of the start of {} is known", self.game.name()))?
            }
        };
        let lost = || format!("{seat} of {} loses against best play, which no book can repair", self.game.name());
        ensure!(best >= 0, lost());
        let (corrections, mut searches) = (RefCell::new(HashMap::new()), self.searches()?);
        let correct = |state: &AnyState, action: Action| {
            let (truth, mut next) = (truth?.quick, state.clone());
            self.game.play(&mut next, action);
            truth.value(&next).filter(|value| sign * value < best)?;
            let better = *truth.optimal_actions(state)?.first()?;
            corrections.borrow_mut().insert(state.clone(), better);
            Some(better)
        };
        let mut walk = self.game.walk(seat, std::slice::from_ref(start));
        let Some(mut extent) = self.go_on(&mut *walk, &mut searches, journal, &correct)? else {
            return Ok(None);
        };
        loop {
            let mut found = match truth {
                // Of a walk that is not complete only losses are certain.
                Some(truth) => by_truth(&*walk, truth.full, sign, if extent == Extent::Complete { best } else { 0 }),
                None => match self.by_search(&mut *walk)? {
                    Some(found) => found,
                    None => return Ok(None),
                },
            };
            ensure!(!walk.is_lost(start), lost());
            found.retain(|(state, action)| corrections.borrow().get(state) != Some(action));
            on_round(&*walk, found.len());
            if found.is_empty() {
                break;
            }
            walk = walk.corrected(&found);
            match self.go_on(&mut *walk, &mut searches, None, &correct)? {
                Some(reached) => extent = reached,
                None => return Ok(None),
            }
            corrections.borrow_mut().extend(found);
        }
        let met = corrections.into_inner().into_iter().filter(|(state, _)| walk.has_met(state));
        let corrections = met.map(|(state, action)| Ok((self.as_asked(&state)?, action)));
        Ok(Some(Repaired { corrections: corrections.collect::<Result<_>>()?, walk, extent }))
    }

    /// Moves in place of those after which the agent is lost, one for each of their positions; `None` if `stop` was raised.
    fn by_search(&self, walk: &mut dyn DynWalk) -> Result<Option<Vec<(AnyState, Action)>>> {
        let judge = self.agent.adjusted(Change::Simulations(DEEPER));
        let losing = walk.losing_moves();
        let safe = losing.iter().filter_map(|losing| Some((losing.state.clone(), *losing.safe.first()?)));
        let asked: Vec<&LosingMove> = losing.iter().filter(|losing| losing.safe.is_empty()).collect();
        let found = ask_on_threads(
            [|| judge.search(self.asked, MOST_AT_ONCE).map_err(anyhow::Error::new)].into_iter(),
            asked.len(),
            &SearchRequest::stopped_by(self.stop),
            &|number| self.question(&asked[number].state),
            &|number, _, chosen, search, seat| {
                let LosingMove { state, open, .. } = asked[number];
                let analysed = search.analysis(seat).map_or_else(Vec::new, |analysis| analysis.actions);
                let ranked = analysed.iter().map(|action| action.root.action).chain([chosen?]);
                let best = ranked.chain(open.iter().copied()).find(|action| open.contains(action));
                Ok(best.map(|action| (state.clone(), action)))
            },
        )?;
        let found = found.filter(|_| !self.stop.is_raised());
        Ok(found.map(|found| safe.chain(found.into_iter().flatten()).collect()))
    }

    /// The agent's moves in these positions; `None` if `stop` was raised.
    fn answers(&self, searches: &mut [Box<dyn Search>], questions: &[AnyState]) -> Result<Option<Vec<Action>>> {
        ask_on_threads(
            searches.iter_mut().map(|search| {
                let search = &mut **search;
                move || Ok(search)
            }),
            questions.len(),
            &SearchRequest::stopped_by(self.stop),
            &|number| self.question(&questions[number]),
            &|_, _, chosen, _, _| Ok(chosen?),
        )
    }

    /// A position as the agent sees it.
    fn question(&self, state: &AnyState) -> Result<(AnyState, Stream)> {
        let state = self.as_asked(state)?;
        let rng = stream(self.seed, Purpose::Play, [hash(&state), 0]);
        Ok((state, rng))
    }

    /// A position in the game that the agent is asked in.
    fn as_asked(&self, state: &AnyState) -> Result<AnyState> {
        match self.is_asked_elsewhere() {
            true => Ok(self.asked.parse_position(&self.game.position_text(state))?),
            false => Ok(state.clone()),
        }
    }

    /// Whether the agent is asked in a game with other parameters.
    #[must_use]
    pub fn is_asked_elsewhere(&self) -> bool {
        self.asked.params() != self.game.params()
    }

    /// The certified agent, as a claim about all positions from the start that is not proven yet.
    fn claim(&self, seat: Side) -> Claim {
        let book = self.agent.spec.settings::<Network>().and_then(|network| network.book.as_ref());
        Claim {
            game: self.game.name().to_owned(),
            version: self.game.version(),
            params: self.game.params(),
            seat: seat.number(),
            result: 0,
            positions: 0,
            decisions: 0,
            agent: self.agent.spec.to_string(),
            seed: self.seed,
            network: self.agent.network().map(LoadedNetwork::checksums),
            book: book.and_then(|path| Book::checksum(path, self.game.files().book).ok()),
            asked: self.is_asked_elsewhere().then(|| self.asked.params()),
            program: self.program.to_owned(),
        }
    }

    /// What identifies a walk from these starts, for its journal.
    #[must_use]
    pub fn identity(&self, seat: Side, starts: &[AnyState]) -> serde_json::Value {
        let texts: Vec<String> = starts.iter().map(|start| self.game.position_text(start)).collect();
        let mut claim = serde_json::json!(self.claim(seat));
        let fields = claim.as_object_mut().expect("a struct with named fields is an object");
        // A newer program may continue it; the rest is not known yet.
        ["program", "result", "positions", "decisions"].iter().for_each(|&key| drop(fields.remove(key)));
        fields.insert("starts".to_owned(), crc32_text(texts.join("\n").as_bytes()).into());
        claim
    }

    /// The certificate of a walk from the start that is complete.
    ///
    /// # Errors
    /// The agent can be beaten.
    pub fn certificate(&self, seat: Side, walk: &dyn DynWalk, findings: &Findings) -> Result<Certificate> {
        let result = findings.values[0];
        ensure!(result >= 0, "`{}` can be beaten as {seat}, so there is no certificate", self.agent.spec);
        let (positions, moves) = (walk.positions() as u64, walk.moves());
        let claim = Claim { result, positions, decisions: moves.count(), ..self.claim(seat) };
        Ok(Certificate { claim, moves: moves.bytes().to_owned() })
    }

    /// A game that the agent loses as `seat`, to be saved.
    #[must_use]
    pub fn record(&self, seat: Side, start: &AnyState, line: &[Action]) -> PlayedGame {
        let mut players = [const { String::new() }; 2];
        players[seat.index()] = self.agent.spec.to_string();
        players[seat.other().index()] = "refutation".to_owned();
        PlayedGame::new(self.game, players, start, line)
    }
}

/// Moves in place of the first ones that give a value of at least `least` away, by exact values.
fn by_truth(walk: &dyn DynWalk, truth: &dyn DynExactValues, sign: i8, least: i8) -> Vec<(AnyState, Action)> {
    let mut is_worse = |next: &AnyState| truth.value(next).is_some_and(|value| sign * value < least);
    let mistakes = walk.first_mistakes(least, &mut is_worse).into_iter();
    let correction = |(state, safe): (AnyState, Vec<Action>)| {
        let keeping = truth.best_actions(&state)?;
        let safe = safe.into_iter().find(|action| keeping.contains(action));
        let action = safe.or_else(|| truth.optimal_actions(&state)?.first().copied())?;
        Some((state, action))
    };
    mistakes.filter_map(correction).collect()
}

#[cfg(test)]
mod tests;

//! Shard of one iteration's positions: flat arrays in memory, and a versioned file with a checksum on disk.
//!
//! The file consists of the magic `TURNSHRD`, the format version (u32), the length of the JSON header (u32) and the
//! header (game, version, parameters, iteration, sizes), followed by the arrays `records`, `policy_ends`
//! (u32), `policy_indices` (u16), `policy` (f32) and `features` (f32), whose lengths follow from the header, and the
//! CRC-32 of all preceding bytes (u32). The byte order is little-endian.

#[cfg(test)]
pub(super) mod tests;

use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_base::files::read_bounded;
use turnstone_env::{Outcome, Params, Side, Spec};
use turnstone_search::Evaluation;

const MAGIC: &[u8; 8] = b"TURNSHRD";
const FORMAT: u32 = 1;
const PREFIX: usize = 16;
/// Tolerance of the sum of a policy, half of a learner's.
const SUM_TOLERANCE: f64 = 5e-4;
/// Maximum length of a file to read, far above that of any iteration.
const LONGEST: u64 = 1 << 33;

/// Error of reading a shard's file.
#[derive(Debug, Error)]
#[error("replay shard {}: {fault}", path.display())]
pub struct ShardError {
    /// The file.
    pub path: PathBuf,
    /// The fault.
    pub fault: String,
}

/// Data of a position besides its features and policy. Values are for the first side.
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
#[repr(C)]
struct Record {
    root_value: f32,
    root_draw: f32,
    plies_left: u16,
    margin: i16,
    result: i8,
    second_to_move: u8,
    padding: [u8; 2],
}

impl Record {
    /// Whether a game can have these values: with probabilities of win, draw and loss that are not negative.
    fn is_sound(&self) -> bool {
        /// Tolerances of values that are means over up to a million simulations, and of the sum of two.
        const ROUNDING: f32 = 0.01;
        const OF_SUM: f32 = 0.03;
        let (value, draw) = (self.root_value, self.root_draw);
        (-1.0 - ROUNDING..=1.0 + ROUNDING).contains(&value)
            && (-ROUNDING..=1.0 + ROUNDING).contains(&draw)
            && value.abs() + draw <= 1.0 + OF_SUM
            && (-1..=1).contains(&self.result)
    }
}

/// Whether a game may show this number to a network, as [`Rules::observe`](turnstone_env::Rules::observe) promises.
fn is_observed(feature: f32) -> bool {
    feature.abs() <= Spec::MAX_FEATURE
}

/// Positions of one iteration of self-play.
#[derive(Clone, PartialEq, Debug)]
pub struct Shard {
    /// Iteration in which the positions were played.
    pub iteration: u64,
    features_per_position: usize,
    features: Vec<f32>,
    records: Vec<Record>,
    /// End of each position's part of the policy arrays.
    policy_ends: Vec<u32>,
    policy_indices: Vec<u16>,
    policy: Vec<f32>,
}

/// One training position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Position<'a> {
    /// Features from the mover's point of view.
    pub features: &'a [f32],
    /// Indices of the legal actions in the policy vector.
    pub policy_indices: &'a [u16],
    /// Policy target: the search's probability of each legal action; their sum is 1.
    pub policy: &'a [f32],
    /// The side to move.
    pub mover: Side,
    /// Evaluation of the search's root, for the first side.
    pub root: Evaluation,
    /// Result of the game for the first side: 1, 0 or -1.
    pub result: i8,
    /// Final margin for the first side.
    pub margin: i16,
    /// Number of plies from the position to the end of the game.
    pub plies_left: u16,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    game: String,
    game_version: u32,
    params: Params,
    iteration: u64,
    features: usize,
    positions: usize,
    policy_entries: usize,
}

/// Identity of a shard's game, as stored in the header.
#[derive(Clone, PartialEq, Debug)]
pub struct GameId {
    /// Name of the game.
    pub name: String,
    /// Version of the game's rules.
    pub version: u32,
    /// Parameter values in force.
    pub params: Params,
}

impl Shard {
    /// Creates an empty shard for positions with `features` features.
    #[must_use]
    pub fn new(iteration: u64, features: usize) -> Self {
        Self {
            iteration,
            features_per_position: features,
            features: Vec::new(),
            records: Vec::new(),
            policy_ends: Vec::new(),
            policy_indices: Vec::new(),
            policy: Vec::new(),
        }
    }

    /// Number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether the shard has no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a position of an unfinished game; [`Shard::finish_game`] sets its result.
    pub fn push(&mut self, features: &[f32], policy: impl Iterator<Item = (u16, f32)>, mover: Side, root: Evaluation) {
        assert_eq!(features.len(), self.features_per_position, "features of a position");
        self.features.extend_from_slice(features);
        for (index, share) in policy {
            self.policy_indices.push(index);
            self.policy.push(share);
        }
        self.policy_ends.push(self.policy_indices.len() as u32);
        self.records.push(Record {
            root_value: root.value,
            root_draw: root.draw,
            second_to_move: mover.index() as u8,
            ..Record::zeroed()
        });
    }

    /// Sets the result of the positions, which are all of one game, without gaps up to its end.
    pub fn finish_game(&mut self, outcome: &Outcome) {
        for (later, record) in self.records.iter_mut().rev().enumerate() {
            record.result = outcome.value();
            record.margin = outcome.margin;
            record.plies_left = u16::try_from(later + 1).unwrap_or(u16::MAX);
        }
    }

    /// Appends another shard's positions.
    pub fn append(&mut self, other: &Self) {
        assert_eq!(self.features_per_position, other.features_per_position, "features of a position");
        let offset = self.policy_indices.len() as u32;
        self.features.extend_from_slice(&other.features);
        self.records.extend_from_slice(&other.records);
        self.policy_ends.extend(other.policy_ends.iter().map(|end| offset + end));
        self.policy_indices.extend_from_slice(&other.policy_indices);
        self.policy.extend_from_slice(&other.policy);
    }

    /// Returns the position at index `i`.
    #[must_use]
    pub fn position(&self, i: usize) -> Position<'_> {
        let record = &self.records[i];
        let start = if i == 0 { 0 } else { self.policy_ends[i - 1] as usize };
        let policy = start..self.policy_ends[i] as usize;
        Position {
            features: &self.features[i * self.features_per_position..][..self.features_per_position],
            policy_indices: &self.policy_indices[policy.clone()],
            policy: &self.policy[policy],
            mover: Side::BOTH[usize::from(record.second_to_move)],
            root: Evaluation { value: record.root_value, draw: record.root_draw },
            result: record.result,
            margin: record.margin,
            plies_left: record.plies_left,
        }
    }

    /// Serialises the shard to the bytes of its file.
    #[must_use]
    pub fn to_bytes(&self, game: &GameId) -> Vec<u8> {
        let header = serde_json::to_vec(&Header {
            game: game.name.clone(),
            game_version: game.version,
            params: game.params.clone(),
            iteration: self.iteration,
            features: self.features_per_position,
            positions: self.len(),
            policy_entries: self.policy_indices.len(),
        })
        .expect("a header of plain fields can be written");
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(bytemuck::cast_slice(&self.records));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.policy_ends));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.policy_indices));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.policy));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.features));
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the shard of `iteration` of this game, whose positions have `features` features and `actions` actions.
    ///
    /// # Errors
    /// The file is missing or damaged, of another format, game, iteration or number of features, or contains values that
    /// self-play does not write.
    pub fn read(
        path: &Path,
        game: &GameId,
        iteration: u64,
        features: usize,
        actions: usize,
    ) -> Result<Self, ShardError> {
        let error = |fault: String| ShardError { path: path.to_owned(), fault };
        let bytes = read_bounded(path, LONGEST).map_err(|e| error(e.to_string()))?;
        let shard = parse(&bytes, game).map_err(error)?;
        if shard.iteration != iteration || shard.features_per_position != features {
            return Err(error(format!("it is from iteration {} with other features", shard.iteration)));
        }
        shard.validate(actions).map_err(error)?;
        Ok(shard)
    }

    /// Checks what a learner relies on, in a file with a valid checksum that need not come from this program, and in games
    /// that a network with outputs beyond all numbers may have played.
    ///
    /// # Errors
    /// The first fault.
    pub fn validate(&self, actions: usize) -> Result<(), String> {
        let share = |share: &f32| (0.0..=1.0).contains(share);
        if self.policy_indices.iter().any(|&index| usize::from(index) >= actions) {
            return Err(format!("it has a policy index beyond the {actions} actions of the game"));
        }
        if !self.policy.iter().all(share) {
            return Err("it has a share of the policy that is not from 0 to 1".into());
        }
        let mut last = vec![usize::MAX; actions]; // the last position with each index
        for i in 0..self.len() {
            let position = self.position(i);
            let sum: f64 = position.policy.iter().copied().map(f64::from).sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(format!("the policy of position {i} adds up to {sum}, not 1"));
            }
            for &index in position.policy_indices {
                if std::mem::replace(&mut last[usize::from(index)], i) == i {
                    return Err(format!("the policy of position {i} has index {index} twice"));
                }
            }
        }
        if let Some(feature) = self.features.iter().find(|feature| !is_observed(**feature)) {
            return Err(format!("it has a feature of {feature:e}, which no game has"));
        }
        let Some(i) = self.records.iter().position(|record| !record.is_sound()) else { return Ok(()) };
        let Record { root_value, root_draw, result, .. } = self.records[i];
        Err(format!(
            "position {i} has a value or result that no game has: a root value of {root_value}, a draw share of \
             {root_draw}, a result of {result}"
        ))
    }
}

fn parse(bytes: &[u8], game: &GameId) -> Result<Shard, String> {
    let word = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
    if bytes.get(..8) != Some(MAGIC) {
        return Err("this is not a replay shard".into());
    }
    match word(8) {
        Some(FORMAT) => {}
        Some(format) => return Err(format!("its format is version {format}, this program reads {FORMAT}")),
        None => return Err("it is cut short".into()),
    }
    let body = bytes.len().checked_sub(4).filter(|&len| len >= PREFIX).ok_or("it is cut short")?;
    if word(body) != Some(crc32fast::hash(&bytes[..body])) {
        return Err("its checksum does not fit its contents: it is damaged or cut short".into());
    }
    let header_len = word(12).ok_or("it is cut short")? as usize;
    let (header, mut rest) = bytes[PREFIX..body].split_at_checked(header_len).ok_or("its header is cut short")?;
    let header: Header = serde_json::from_slice(header).map_err(|e| format!("its header: {e}"))?;
    let id = GameId { name: header.game, version: header.game_version, params: header.params };
    if id != *game {
        return Err(format!("it is for {} version {} ({}), not for this game", id.name, id.version, id.params));
    }
    let shard = Shard {
        iteration: header.iteration,
        features_per_position: header.features,
        records: take(&mut rest, Some(header.positions))?,
        policy_ends: take(&mut rest, Some(header.positions))?,
        policy_indices: take(&mut rest, Some(header.policy_entries))?,
        policy: take(&mut rest, Some(header.policy_entries))?,
        features: take(&mut rest, header.positions.checked_mul(header.features))?,
    };
    let ends_fit = shard.policy_ends.is_sorted()
        && shard.policy_ends.last().is_none_or(|&end| end as usize == shard.policy_indices.len())
        && shard.records.iter().all(|record| record.second_to_move < 2);
    if !rest.is_empty() || !ends_fit {
        return Err("its arrays do not fit together".into());
    }
    Ok(shard)
}

/// Takes an array of `len` elements from the front of `rest`.
fn take<T: Pod>(rest: &mut &[u8], len: Option<usize>) -> Result<Vec<T>, String> {
    let bytes = len.and_then(|len| len.checked_mul(size_of::<T>())).filter(|&bytes| bytes <= rest.len());
    let (array, after) = rest.split_at(bytes.ok_or("an array is cut short")?);
    *rest = after;
    Ok(bytemuck::pod_collect_to_vec(array))
}

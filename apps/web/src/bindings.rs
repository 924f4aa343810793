//! The JavaScript classes of the module.

#![expect(clippy::needless_pass_by_value, reason = "wasm-bindgen hands over owned values")]
// The attribute writes the functions that JavaScript calls, which take pointers into the module's memory.
#![allow(unsafe_code)]
// What the attribute exports is reachable from JavaScript.
#![allow(unreachable_pub)]

use wasm_bindgen::prelude::*;

use crate::error::Fault;
use crate::{review, searcher, table, truth};

impl From<Fault> for JsValue {
    fn from(fault: Fault) -> Self {
        JsError::new(&fault.0).into()
    }
}

/// [`table::Table`] for JavaScript.
#[wasm_bindgen]
pub struct Table(table::Table);

#[wasm_bindgen]
impl Table {
    /// See [`table::Table::new`].
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, params: &str) -> Result<Table, JsValue> {
        Ok(Self(table::Table::new(name, params)?))
    }

    /// See [`table::Table::names`].
    #[must_use]
    pub fn names() -> String {
        table::Table::names()
    }

    /// See [`table::Table::board`].
    #[must_use]
    pub fn board(&self) -> String {
        self.0.board()
    }

    /// See [`table::Table::view`].
    pub fn view(&self, position: &str) -> Result<String, JsValue> {
        Ok(self.0.view(position)?)
    }

    /// See [`table::Table::play`].
    pub fn play(&self, position: &str, action: &str) -> Result<String, JsValue> {
        Ok(self.0.play(position, action)?)
    }

    /// See [`table::Table::movement`].
    pub fn movement(&self, position: &str, action: &str) -> Result<String, JsValue> {
        Ok(self.0.movement(position, action)?)
    }

    /// See [`searcher::Searcher::fits`].
    #[must_use]
    pub fn fits(&self, network: &[u8]) -> bool {
        searcher::Searcher::fits(&self.0, network)
    }
}

/// [`searcher::Searcher`] for JavaScript.
#[wasm_bindgen]
pub struct Searcher(searcher::Searcher);

#[wasm_bindgen]
impl Searcher {
    /// See [`searcher::Searcher::new`].
    #[wasm_bindgen(constructor)]
    pub fn new(table: &Table, spec: &str, network: Option<Vec<u8>>, seed: u32) -> Result<Searcher, JsValue> {
        Ok(Self(searcher::Searcher::new(table.0.clone(), spec, network.as_deref(), seed.into())?))
    }

    /// See [`searcher::Searcher::checkpoint`].
    pub fn checkpoint(network: &[u8]) -> Result<String, JsValue> {
        Ok(searcher::Searcher::checkpoint(network)?)
    }

    /// See [`searcher::Searcher::is_tree`].
    #[must_use]
    pub fn is_tree(&self) -> bool {
        self.0.is_tree()
    }

    /// See [`searcher::Searcher::simulations`].
    #[must_use]
    pub fn simulations(&self) -> Option<u32> {
        self.0.simulations()
    }

    /// See [`searcher::Searcher::begin`].
    pub fn begin(&mut self, position: &str, simulations: u32) -> Result<(), JsValue> {
        Ok(self.0.begin(position, simulations)?)
    }

    /// See [`searcher::Searcher::advance`].
    pub fn advance(&mut self, milliseconds: f64) -> Result<bool, JsValue> {
        Ok(self.0.advance(milliseconds)?)
    }

    /// See [`searcher::Searcher::report`].
    pub fn report(&self) -> Result<String, JsValue> {
        Ok(self.0.report()?)
    }

    /// See [`searcher::Searcher::below`].
    pub fn below(&self, line: &str) -> Result<String, JsValue> {
        Ok(self.0.below(line)?)
    }

    /// See [`searcher::Searcher::predict`].
    pub fn predict(&mut self, position: &str) -> Result<String, JsValue> {
        Ok(self.0.predict(position)?)
    }

    /// See [`searcher::Searcher::choose`].
    pub fn choose(
        &mut self,
        position: &str,
        milliseconds: Option<f64>,
        report: &js_sys::Function,
    ) -> Result<String, JsValue> {
        let mut tell = |text: String| {
            // A listener that throws does not end the search.
            _ = report.call1(&JsValue::NULL, &JsValue::from_str(&text));
        };
        Ok(self.0.choose(position, milliseconds, &mut tell)?)
    }
}

/// [`truth::Truth`] for JavaScript.
#[wasm_bindgen]
pub struct Truth(truth::Truth);

#[wasm_bindgen]
impl Truth {
    /// See [`truth::Truth::of`].
    pub fn of(table: &Table) -> Result<Option<Truth>, JsValue> {
        Ok(truth::Truth::of(&table.0)?.map(Self))
    }

    /// See [`truth::Truth::values`].
    pub fn values(&self, position: &str) -> Result<String, JsValue> {
        Ok(self.0.values(position)?)
    }
}

/// [`review::Review`] for JavaScript.
#[wasm_bindgen]
pub struct Review(review::Review);

#[wasm_bindgen]
impl Review {
    /// See [`review::Review::new`].
    #[wasm_bindgen(constructor)]
    pub fn new(table: &Table, start: &str, moves: &str) -> Result<Review, JsValue> {
        Ok(Self(review::Review::new(&table.0, start, moves)?))
    }

    /// See [`review::Review::know`].
    pub fn know(&mut self, truth: &Truth) {
        self.0.know(&truth.0);
    }

    /// See [`review::Review::wanted`].
    pub fn wanted(&mut self) -> Option<String> {
        self.0.wanted()
    }

    /// See [`review::Review::take`].
    pub fn take(&mut self, searcher: &Searcher) -> Result<(), JsValue> {
        Ok(self.0.take(&searcher.0)?)
    }

    /// See [`review::Review::report`].
    #[must_use]
    pub fn report(&self) -> String {
        self.0.report()
    }
}

/// See [`turnstone_agents::review::curve`]; the marks are separated by spaces.
#[wasm_bindgen]
#[must_use]
pub fn curve(values: &[f32], marks: &str, upper: &str, lower: &str, at: usize) -> String {
    turnstone_agents::review::curve(values, &marks.split(' ').collect::<Vec<_>>(), [upper, lower], at)
}

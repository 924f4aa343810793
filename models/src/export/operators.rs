//! A forward pass as a list of operators, and its builder.

use std::collections::{BTreeMap, HashSet};

/// Version of the standard operators (opset) of all steps.
pub const OPSET: i64 = 17;

/// Name of the input, `[batch, planes, height, width]`.
pub const OBSERVATION: &str = "observation";
/// Name of the output with the logits of all actions, legal or not, `[batch, actions]`.
pub const POLICY_LOGITS: &str = "policy_logits";
/// Name of the output with the logits of win, draw and loss for the mover, `[batch, 3]`.
pub const VALUE_LOGITS: &str = "value_logits";

/// One operator of the ONNX standard, applied to named tensors.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct ForwardStep {
    /// The operator's name in the standard.
    pub(super) operator: &'static str,
    /// Names of its inputs: the observation, parameters, constants, and outputs of earlier steps.
    pub(super) inputs: Vec<String>,
    /// Name of its output.
    pub(super) output: String,
    /// The operator's attributes by name.
    #[cfg_attr(test, serde(skip_serializing_if = "BTreeMap::is_empty"))]
    pub(super) attributes: BTreeMap<&'static str, Attribute>,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[cfg_attr(test, serde(untagged))]
pub(super) enum Attribute {
    /// An integer.
    Int(i64),
    /// A list of integers.
    Ints(Vec<i64>),
}

/// The operators from an observation to the two outputs, in order. Parameters have the names and shapes of the
/// checkpoint.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct ForwardPass {
    /// Planes, height and width of an observation.
    pub(super) observation: [usize; 3],
    /// Integer vectors by name: shapes, axes, indices.
    pub(super) constants: BTreeMap<String, Vec<i64>>,
    /// The operators.
    pub(super) steps: Vec<ForwardStep>,
}

/// Builds a [`ForwardPass`]. A name that something else has already is followed by a number.
pub(super) struct PassBuilder {
    pass: ForwardPass,
    /// Names of parameters, constants, the input and all outputs.
    taken: HashSet<String>,
}

impl PassBuilder {
    pub(super) fn new(observation: [usize; 3], parameters: impl Iterator<Item = String>) -> PassBuilder {
        let reserved = [OBSERVATION, POLICY_LOGITS, VALUE_LOGITS].map(str::to_owned);
        let pass = ForwardPass { observation, constants: BTreeMap::new(), steps: Vec::new() };
        PassBuilder { pass, taken: parameters.chain(reserved).collect() }
    }

    pub(super) fn finish(self) -> ForwardPass {
        self.pass
    }

    /// Adds a step and returns the name of its output.
    pub(super) fn step(&mut self, operator: &'static str, inputs: &[&str], output: &str) -> String {
        let output = candidates(output).find(|name| !self.taken.contains(name)).expect("there is always another");
        self.taken.insert(output.clone());
        self.step_named(operator, inputs, &output)
    }

    /// Adds a step whose output has a name that is kept for it.
    fn step_named(&mut self, operator: &'static str, inputs: &[&str], output: &str) -> String {
        let inputs = inputs.iter().map(|&input| input.to_owned()).collect();
        self.pass.steps.push(ForwardStep { operator, inputs, output: output.to_owned(), attributes: BTreeMap::new() });
        output.to_owned()
    }

    fn with_attribute(&mut self, name: &'static str, value: Attribute) {
        self.pass.steps.last_mut().expect("a step has just been added").attributes.insert(name, value);
    }

    /// A constant of this name; equal constants share one.
    fn constant(&mut self, name: &str, values: &[i64]) -> String {
        let suits = |name: &String| match self.pass.constants.get(name) {
            Some(known) => known == values,
            None => !self.taken.contains(name),
        };
        let name = candidates(name).find(suits).expect("there is always another");
        self.pass.constants.entry(name.clone()).or_insert_with(|| values.to_owned());
        self.taken.insert(name.clone());
        name
    }

    /// `x W + b` along the last axis. It is made under the layer's name, or as this output of the file.
    pub(super) fn linear(&mut self, x: &str, layer: &str, output: Option<&str>) -> String {
        let product = format!("{}.product", output.unwrap_or(layer));
        let product = self.step("MatMul", &[x, &format!("{layer}.weight")], &product);
        let inputs = [&product, &format!("{layer}.bias")[..]];
        match output {
            Some(output) => self.step_named("Add", &inputs, output),
            None => self.step("Add", &inputs, layer),
        }
    }

    /// Gives `x`, which has this number of columns, the name of an output of the file.
    pub(super) fn output(&mut self, x: &str, columns: usize, output: &str) {
        let shape = self.shape(&[0, columns]);
        self.step_named("Reshape", &[x, &shape], output);
    }

    /// Adds an operator of one input. Its output has the name of the input and `suffix`.
    pub(super) fn one(&mut self, operator: &'static str, x: &str, suffix: &str) -> String {
        self.step(operator, &[x], &format!("{x}.{suffix}"))
    }

    /// An operator over the rows, `[batch, rows, n]` to `[batch, 1, n]`.
    pub(super) fn over_rows(&mut self, operator: &'static str, x: &str, suffix: &str) -> String {
        let output = self.one(operator, x, suffix);
        self.with_attribute("axes", Attribute::Ints(vec![1]));
        self.with_attribute("keepdims", Attribute::Int(1));
        output
    }

    /// Changes the shape; 0 keeps the length of the axis, which is that of the batch.
    pub(super) fn reshape(&mut self, x: &str, shape: &[usize], output: &str) -> String {
        let shape = self.shape(shape);
        self.step("Reshape", &[x, &shape], output)
    }

    fn shape(&mut self, shape: &[usize]) -> String {
        let shape: Vec<i64> = shape.iter().map(|&length| length as i64).collect();
        let name = format!("shape.{}", shape.iter().map(i64::to_string).collect::<Vec<_>>().join("x"));
        self.constant(&name, &shape)
    }

    /// Exchanges the last two of three axes.
    pub(super) fn transpose(&mut self, x: &str) -> String {
        let output = self.one("Transpose", x, "transposed");
        self.with_attribute("perm", Attribute::Ints(vec![0, 2, 1]));
        output
    }

    pub(super) fn concat(&mut self, parts: &[&str], axis: i64, output: &str) -> String {
        let output = self.step("Concat", parts, output);
        self.with_attribute("axis", Attribute::Int(axis));
        output
    }

    /// Takes these entries of an axis.
    pub(super) fn gather(&mut self, x: &str, (name, indices): (&str, &[i64]), axis: i64, output: &str) -> String {
        let indices = self.constant(name, indices);
        let output = self.step("Gather", &[x, &indices], output);
        self.with_attribute("axis", Attribute::Int(axis));
        output
    }

    /// Takes `[batch, from.0..to.0, from.1..to.1]`.
    pub(super) fn slice(&mut self, x: &str, from: (usize, usize), to: (usize, usize), output: &str) -> String {
        let pair = |(a, b): (usize, usize)| [a as i64, b as i64];
        let starts = self.constant(&format!("{output}.from"), &pair(from));
        let ends = self.constant(&format!("{output}.to"), &pair(to));
        let axes = self.constant("slice.axes", &[1, 2]);
        self.step("Slice", &[x, &starts, &ends, &axes], output)
    }

    /// `[batch, 1, n]` to `[batch, rows, n]`, the same in every row.
    pub(super) fn repeat(&mut self, x: &str, rows: usize, output: &str) -> String {
        let shape = self.constant("repeat.shape", &[1, rows as i64, 1]);
        self.step("Expand", &[x, &shape], output)
    }

    /// `[batch, n, m]` to `[batch, n + 1, m]`, the last row zeros.
    pub(super) fn with_row_of_zeros(&mut self, x: &str) -> String {
        let pads = self.constant("one_row", &[0, 0, 0, 0, 1, 0]);
        self.step("Pad", &[x, &pads], &format!("{x}.padded"))
    }
}

/// The name, then the name with numbers.
fn candidates(name: &str) -> impl Iterator<Item = String> {
    std::iter::once(name.to_owned()).chain((2..).map(move |number: usize| format!("{name}_{number}")))
}

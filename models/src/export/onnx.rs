//! The ONNX file: operators, weights, names and shapes of inputs and outputs, metadata.

use prost::Message;

use super::forward::forward_pass;
use super::messages::{
    AttributeProto, Dimension, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto,
    TensorProto, TensorShapeProto, TensorType, TypeProto, ValueInfoProto,
};
use super::operators::{Attribute, ForwardStep, OBSERVATION, OPSET, POLICY_LOGITS, VALUE_LOGITS};
use crate::checkpoint::CheckpointInfo;
use crate::network::OUTCOMES;
use crate::tensor_file::Fault;
use crate::weights::Weights;

/// Version of the file format: the oldest that allows [`OPSET`], for the sake of old runtimes.
pub const IR_VERSION: i64 = 8;

/// The bytes of an ONNX model: input [`OBSERVATION`], outputs [`POLICY_LOGITS`] and [`VALUE_LOGITS`], of any batch size.
/// Parameters are initialisers with the names of the checkpoint, and the metadata is that of the checkpoint. Equal contents
/// give equal bytes.
///
/// # Errors
/// The weights are not those of the network of `info`, the board has no lattice, or `extra` has a reserved key.
pub fn onnx(info: &CheckpointInfo, weights: &Weights) -> Result<Vec<u8>, Fault> {
    weights.check(&info.network.layout(&info.shape)?)?;
    let pass = forward_pass(&info.network, &info.shape)?;
    let floats = weights.tensors().iter().map(|tensor| {
        let bytes = tensor.data.iter().flat_map(|x| x.to_le_bytes()).collect();
        initialiser(&tensor.name, TensorProto::FLOAT, &tensor.shape, bytes)
    });
    let integers = pass.constants.iter().map(|(name, values)| {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        initialiser(name, TensorProto::INT64, &[values.len()], bytes)
    });
    let graph = GraphProto {
        node: pass.steps.iter().map(node).collect(),
        name: info.game.clone(),
        initializer: floats.chain(integers).collect(),
        input: vec![value(OBSERVATION, &pass.observation, "planes as seen by the mover")],
        output: vec![
            value(POLICY_LOGITS, &[info.shape.actions], "of all actions, legal or not, as the mover numbers them"),
            value(VALUE_LOGITS, &[OUTCOMES], "of win, draw and loss for the mover"),
        ],
    };
    let entry = |(key, value)| StringStringEntryProto { key, value };
    let model = ModelProto {
        ir_version: Some(IR_VERSION),
        producer_name: "turnstone".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        doc_string: format!("{} for {}", info.network, info.game),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto { version: Some(OPSET) }],
        metadata_props: info.to_metadata()?.into_iter().map(entry).collect(),
    };
    Ok(model.encode_to_vec())
}

fn initialiser(name: &str, data_type: i32, shape: &[usize], raw_data: Vec<u8>) -> TensorProto {
    let dims = shape.iter().map(|&length| length as i64).collect();
    TensorProto { dims, data_type, name: name.into(), raw_data }
}

fn node(step: &ForwardStep) -> NodeProto {
    let attribute = |(&name, value): (&&str, &Attribute)| match value {
        Attribute::Int(i) => {
            AttributeProto { name: name.into(), i: Some(*i), ints: Vec::new(), kind: AttributeProto::INT }
        }
        Attribute::Ints(ints) => {
            AttributeProto { name: name.into(), i: None, ints: ints.clone(), kind: AttributeProto::INTS }
        }
    };
    NodeProto {
        input: step.inputs.clone(),
        output: vec![step.output.clone()],
        name: step.output.clone(),
        op_type: step.operator.into(),
        attribute: step.attributes.iter().map(attribute).collect(),
    }
}

/// A tensor of floats whose first axis is the batch.
fn value(name: &str, rest: &[usize], doc: &str) -> ValueInfoProto {
    let batch = Dimension { dim_value: None, dim_param: Some("batch".into()) };
    let length = |&length: &usize| Dimension { dim_value: Some(length as i64), dim_param: None };
    let dim = std::iter::once(batch).chain(rest.iter().map(length)).collect();
    let tensor = TensorType { elem_type: TensorProto::FLOAT, shape: Some(TensorShapeProto { dim }) };
    let kind = Some(TypeProto { tensor_type: Some(tensor) });
    ValueInfoProto { name: name.into(), kind, doc_string: doc.into() }
}

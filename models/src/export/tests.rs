//! What can be said of an export without running it; `apps/cli/tests/export.py` runs it.

use std::collections::HashSet;

use prost::Message;

use super::forward::forward_pass;
use super::messages::{ModelProto, TensorProto};
use super::{OBSERVATION, OPSET, POLICY_LOGITS, VALUE_LOGITS, onnx};
use crate::checkpoint::CheckpointInfo;
use crate::kinds::{NetworkConfig, ResidualConv, ResidualGraph, ResidualMlp};
use crate::network::{Init, NetworkBuilder, NetworkKind, Var};
use crate::shape::{BoardShape, Neighbourhood, Shape};
use crate::weights::Weights;

/// Five points in a cross on a 3x3 lattice; the lines are the row and the column.
fn shape(scalars: usize) -> Shape {
    let right = vec![None, Some(2), Some(3), None, None];
    let down = vec![Some(2), None, Some(4), None, None];
    let board = BoardShape {
        point_planes: 2,
        points: 5,
        directions: vec![right, down],
        lattice: [3, 3],
        cells: vec![1, 3, 4, 5, 7],
    };
    Shape { board, ..Shape::flat(10 + scalars, 9) }
}

fn networks(blocks: usize) -> [NetworkConfig; 5] {
    let graph = |neighbourhood| NetworkConfig::from(ResidualGraph { blocks, channels: 4, reach: 1, neighbourhood });
    [
        NetworkConfig::from(ResidualMlp { blocks, width: 8 }),
        graph(Neighbourhood::Lines),
        graph(Neighbourhood::Square),
        NetworkConfig::from(ResidualConv { blocks, channels: 4, ..Default::default() }),
        NetworkConfig::from(ResidualConv { blocks, channels: 4, global_pooling: true }),
    ]
}

#[test]
fn every_parameter_is_used_once_in_its_order_and_every_name_is_made_before_its_use() {
    for blocks in [0, 2] {
        networks(blocks).iter().for_each(|config| check_names(config, &shape(3 - blocks)));
    }
    assert!(forward_pass(&networks(1)[0], &Shape::flat(4, 3)).is_err());
    let mut outside = shape(1);
    outside.board.cells[4] = 9;
    assert!(forward_pass(&networks(1)[0], &outside).unwrap_err().to_string().contains("contradict"));
}

fn check_names(config: &NetworkConfig, shape: &Shape) {
    let layout: Vec<String> = config.layout(shape).unwrap().into_iter().map(|spec| spec.name).collect();
    let pass = forward_pass(config, shape).unwrap();
    assert_eq!(pass.observation, [2 + shape.scalars(), 3, 3]);
    let inputs = || pass.steps.iter().flat_map(|step| &step.inputs);
    let used: Vec<&String> = inputs().filter(|name| layout.contains(name)).collect();
    assert_eq!(used, layout.iter().collect::<Vec<_>>(), "{config:?}");

    let mut made: HashSet<&str> = layout.iter().chain(pass.constants.keys()).map(String::as_str).collect();
    assert_eq!(made.len(), layout.len() + pass.constants.len());
    made.insert(OBSERVATION);
    for step in &pass.steps {
        assert!(step.inputs.iter().all(|name| made.contains(name.as_str())), "{config:?}: {step:?}");
        assert!(made.insert(&step.output), "{config:?} makes `{}` twice", step.output);
    }
    assert!(pass.constants.keys().all(|name| inputs().any(|input| input == name)));
    assert!(made.contains(POLICY_LOGITS) && made.contains(VALUE_LOGITS));
}

#[test]
fn the_file_holds_names_shapes_weights_and_metadata() {
    for config in networks(1) {
        let shape = shape(1);
        let weights = Weights::random(&config.layout(&shape).unwrap(), 3);
        let mut info = CheckpointInfo::new("cross", 2, Default::default(), config.clone(), shape.clone(), 40);
        info.extra.insert("note".into(), "from a test".into());
        let bytes = onnx(&info, &weights).unwrap();
        assert_eq!(bytes, onnx(&info, &weights).unwrap());

        let model = ModelProto::decode(&bytes[..]).unwrap();
        assert_eq!(model.opset_import[0].version, Some(OPSET));
        let entry =
            |key: &str| model.metadata_props.iter().find(|entry| entry.key == key).map(|entry| &entry.value[..]);
        assert_eq!((entry("turnstone.game"), entry("note")), (Some("cross"), Some("from a test")));
        let graph = model.graph.unwrap();
        let dims = |value: &super::messages::ValueInfoProto| -> Vec<Option<i64>> {
            let tensor = value.kind.clone().unwrap().tensor_type.unwrap();
            tensor.shape.unwrap().dim.iter().map(|dim| dim.dim_value).collect()
        };
        assert_eq!(
            (&graph.input[0].name[..], dims(&graph.input[0])),
            (OBSERVATION, vec![None, Some(3), Some(3), Some(3)])
        );
        assert_eq!((&graph.output[0].name[..], dims(&graph.output[0])), (POLICY_LOGITS, vec![None, Some(9)]));
        assert_eq!((&graph.output[1].name[..], dims(&graph.output[1])), (VALUE_LOGITS, vec![None, Some(3)]));
        for tensor in weights.tensors() {
            let found = graph.initializer.iter().find(|one| one.name == tensor.name).unwrap();
            let bytes: Vec<u8> = tensor.data.iter().flat_map(|x| x.to_le_bytes()).collect();
            assert_eq!((found.data_type, &found.raw_data), (TensorProto::FLOAT, &bytes));
            assert_eq!(found.dims, tensor.shape.iter().map(|&length| length as i64).collect::<Vec<_>>());
        }

        info.extra.insert("turnstone.note".into(), String::new());
        assert!(onnx(&info, &weights).unwrap_err().to_string().contains("reserved"));
        let other = Weights::random(&NetworkConfig::default().layout(&shape).unwrap(), 3);
        assert!(onnx(&info, &other).is_err());
    }
}

turnstone_base::settings! {
    /// Every operation on one row and on many, layers with the names of other things, and heads that are no layers.
    #[derive(Debug, Clone)]
    struct Odd {}
}

impl NetworkKind for Odd {
    const NAME: &'static str = "odd";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let (inputs, points) = (net.inputs(), net.points());
        let (lines, square) = (net.neighbours(Neighbourhood::Lines, 1), net.neighbours(Neighbourhood::Square, 1));
        let stem = net.rectified_around("policy_logits", points, lines, 4);
        let other = net.linear_around("neighbours", points, square, 4, Init::He);
        let row = net.rectified("cells", inputs, 4);
        let x = net.add(stem, row);
        let x = net.add(x, other);
        let (mean, max) = (net.mean(x), net.max(row));
        let wide = net.concat(mean, max);
        let twice = net.concat(row, row);
        let sum = net.add(wide, twice);
        let again = net.rectified("own.transposed", x, 5);
        let joined = net.concat(again, stem);
        let flat = net.flatten(joined);
        let actions = net.shape().actions;
        let (a, b) = (net.linear("a", flat, actions, Init::Head), net.linear("b", sum, actions, Init::Head));
        [net.add(a, b), net.linear("value", sum, 3, Init::Head)]
    }
}

#[test]
fn any_network_has_names_of_its_own() {
    let shape = shape(1);
    let config = NetworkConfig::from(Odd {});
    check_names(&config, &shape);
    let pass = forward_pass(&config, &shape).unwrap();
    let made = |name: &str| pass.steps.iter().filter(|step| step.output == name).collect::<Vec<_>>();
    for (head, from) in [(POLICY_LOGITS, "b.sum"), (VALUE_LOGITS, "value")] {
        let steps = made(head);
        assert_eq!((steps.len(), steps[0].operator, &steps[0].inputs[0][..]), (1, "Reshape", from));
    }
    assert_eq!((made("policy_logits_2").len(), made("cells_2").len()), (1, 1), "layers with the names of other things");
    assert_eq!(pass.constants["neighbours"].len(), 5 * 3);
    assert_eq!(pass.constants["neighbours_2"].len(), 5 * 9);
}

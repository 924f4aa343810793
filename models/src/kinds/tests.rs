//! The kinds that are built in, and one that is added.

pub(crate) mod everything;

use super::*;
use crate::network::{Init, TargetShape};
use crate::shape::{BoardShape, Neighbourhood};

const SHAPE: Shape = Shape::flat(5, 7);

fn mlp(blocks: usize, width: usize) -> NetworkConfig {
    ResidualMlp { blocks, width }.into()
}

fn read_from(text: &str) -> Result<NetworkConfig, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn configs_are_read_and_written() {
    let text = r#"{"kind":"residual_mlp","blocks":3,"width":128}"#;
    let config = read_from(text).unwrap();
    assert_eq!(config, mlp(3, 128));
    assert_eq!(serde_json::to_string(&config).unwrap(), text);
    assert_eq!(config.as_kind::<ResidualMlp>().map(|mlp| mlp.width), Some(128));
    assert!(config.as_kind::<ResidualGraph>().is_none());
    let graph = read_from(r#"{"kind": "residual_graph", "neighbourhood": "square"}"#).unwrap();
    assert_eq!(graph.to_string(), "residual graph, 3 blocks of 48 channels, the square around");
    assert_ne!(graph, ResidualGraph::default().into());

    assert!(
        read_from(r#"{"kind":"residual_mlp","blocks":3,"w":1}"#)
            .unwrap_err()
            .contains("unknown key `w`; known are blocks, width")
    );
    assert_eq!(read_from(r#"{"blocks":3}"#).unwrap(), mlp(3, 128), "the default kind");
    assert!(read_from(r#"{"kind":"mixer"}"#).unwrap_err().contains("the kinds are residual_mlp, residual_graph"));
    assert!(
        read_from(r#"{"kind":"lstm"}"#).unwrap_err().contains("no kind of network `lstm`; the kinds are residual_mlp")
    );
    assert!(read_from(r#"{"kind":["residual_mlp"]}"#).unwrap_err().contains("is a name"));
}

#[test]
fn the_layout_is_named_in_its_order() {
    let layout = mlp(1, 8).layout(&SHAPE).unwrap();
    let names: Vec<&str> = layout.iter().map(|spec| spec.name.as_str()).collect();
    #[rustfmt::skip]
    assert_eq!(names, [
        "stem.weight", "stem.bias",
        "blocks.0.first.weight", "blocks.0.first.bias", "blocks.0.second.weight", "blocks.0.second.bias",
        "policy.weight", "policy.bias", "value_hidden.weight", "value_hidden.bias", "value.weight", "value.bias",
    ]);
    assert_eq!(layout[0].shape, [5, 8]);
}

#[cfg(feature = "train")]
#[test]
fn matrices_are_hidden_between_observation_and_outputs() {
    let board = BoardShape {
        point_planes: 2,
        points: 3,
        directions: vec![vec![Some(1), Some(2), None]],
        lattice: [1, 3],
        cells: (0..3).collect(),
    };
    let shape = Shape { board, ..Shape::flat(6, 5) };
    let hidden_in = |config: &NetworkConfig| {
        let network = Network::new(config, &shape).unwrap();
        let (layout, hidden) = (network.layout(), network.hidden_matrices());
        hidden.into_iter().map(|place| layout[place].name.clone()).collect::<Vec<_>>()
    };
    let hidden = |text| hidden_in(&read_from(text).unwrap());
    let blocks = ["blocks.0.first.weight", "blocks.0.second.weight"].map(String::from);
    let and = |heads: &[&str]| [&blocks[..], &heads.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()].concat();
    assert_eq!(hidden(r#"{"kind":"residual_mlp","blocks":1,"width":4}"#), and(&["value_hidden.weight"]));
    let of_graph = and(&["policy_points.weight", "value_points.weight", "value_hidden.weight"]);
    assert_eq!(hidden(r#"{"kind":"residual_graph","blocks":1,"channels":4}"#), of_graph);
    assert_eq!(hidden_in(&Joined {}.into()), ["inner.weight", "value_hidden.weight"], "both parts give outputs");
}

#[cfg(feature = "train")]
turnstone_base::settings! {
    /// A policy of two layers, one beside the other.
    #[derive(Debug, Clone)]
    struct Joined {}
}

#[cfg(feature = "train")]
impl NetworkKind for Joined {
    const NAME: &'static str = "joined";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let (inputs, actions) = (net.inputs(), net.shape().actions);
        let stem = net.rectified("stem", inputs, 4);
        let inner = net.rectified("inner", stem, 4);
        let (first, others) =
            (net.linear("first", inner, 1, Init::Head), net.linear("others", inner, actions - 1, Init::Head));
        [net.concat(first, others), net.value_head(inner, 4)]
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    let error = |blocks, width, shape: Shape| mlp(blocks, width).layout(&shape).unwrap_err().to_string();
    assert_eq!(error(33, 8, SHAPE), "blocks is 33, but must be a whole number from 0 to 32");
    assert_eq!(error(1, 0, SHAPE), "width is 0, but must be a whole number from 1 to 2048");
    assert!(error(1, 8, Shape::flat(0, 1)).contains("inputs is 0"));
    assert!(error(1, 8, Shape::flat(1, usize::MAX)).contains("actions is"));
    assert!(error(0, 2048, Shape::flat(65536, 1)).contains("parameters is"));
}

#[test]
fn boards_out_of_range_are_refused() {
    let board = |[height, width]: [usize; 2]| {
        let points = height * width;
        let (lines, cells) = (vec![vec![None; points]], (0..points).map(|cell| cell as u16).collect());
        let board = BoardShape { point_planes: 1, points, directions: lines, lattice: [height, width], cells };
        Shape { board, ..Shape::flat(points, 1) }
    };
    let conv = |channels| NetworkConfig::from(ResidualConv { blocks: 1, channels, global_pooling: false });
    let lines = ResidualGraph { blocks: 0, channels: 1, reach: 1, neighbourhood: Neighbourhood::Lines }.into();
    let fault = |network: &NetworkConfig, lattice| network.layout(&board(lattice)).unwrap_err().to_string();
    // Points are numbered by 16 bits.
    let points = "the number of points is 65536, but must be from 1 to 65535";
    assert_eq!(fault(&conv(1), [256, 256]), points);
    assert_eq!(fault(&lines, [256, 256]), points);
    let gathered = "points times taps times channels is 17038080, but must be from 1 to 16777216";
    assert_eq!(fault(&conv(29), [255, 256]), gathered);
    assert!(conv(28).layout(&board([255, 256])).is_ok());
    assert!(lines.layout(&SHAPE).unwrap_err().to_string().contains("needs a board of points"));
}

#[test]
fn a_kind_of_ones_own_is_read_once_it_is_registered() {
    turnstone_base::settings! {
        /// Two layers of one name.
        #[derive(Debug, Clone)]
        struct Contradicting {
            /// Rows.
            rows: usize;
        }
    }
    impl NetworkKind for Contradicting {
        const NAME: &'static str = "contradicting";
        fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
            let x = net.inputs();
            let a = net.rectified("same", x, 4);
            let b = net.rectified("same", a, 5);
            let sum = net.add(a, b);
            [sum, a]
        }
    }
    assert!(read_from(r#"{"kind":"contradicting"}"#).is_err());
    register_network::<Contradicting>();
    let config = read_from(r#"{"kind":"contradicting","rows":2}"#).unwrap();
    assert_eq!(config.to_string(), "contradicting, rows 2");
    let fault = config.layout(&SHAPE).unwrap_err().to_string();
    assert_eq!(fault, "the network cannot be built: same is the name of two layers");
    assert!(network_kinds().ends_with(&["contradicting"]));
}

turnstone_base::settings! {
    /// Two layers of the observation, which share nothing.
    #[derive(Debug, Clone)]
    struct Apart {}
}

impl NetworkKind for Apart {
    const NAME: &'static str = "apart";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let (inputs, actions) = (net.inputs(), net.shape().actions);
        [net.linear("policy", inputs, actions, Init::Head), net.value_head(inputs, 8)]
    }
}

#[test]
fn further_heads_read_what_policy_and_value_share() {
    let head = |shape| HeadSpec { name: "own".to_owned(), shape };
    let network = Network::with_heads(&mlp(2, 8), &SHAPE, &[head(TargetShape::Actions)]).unwrap();
    let reads = |var: Var| network.ops[var.0].reads().collect::<Vec<_>>();
    assert_eq!(reads(network.heads[2]), reads(network.policy()));
    let added = |shape| {
        let layout = mlp(2, 8).layout_with(&SHAPE, &[head(shape)]).unwrap();
        assert_eq!(layout[..layout.len() - 2][..16], mlp(2, 8).layout(&SHAPE).unwrap());
        layout[16..].iter().map(|spec| (spec.name.clone(), spec.shape.clone())).collect::<Vec<_>>()
    };
    let tensor = |name: &str, shape: &[usize]| (format!("targets.own{name}"), shape.to_vec());
    assert_eq!(added(TargetShape::Actions), [tensor(".weight", &[8, 7]), tensor(".bias", &[7])]);
    let hidden = [tensor("_hidden.weight", &[8, 64]), tensor("_hidden.bias", &[64])];
    assert_eq!(
        added(TargetShape::Scalar),
        [&hidden[..], &[tensor(".weight", &[64, 1]), tensor(".bias", &[1])]].concat()
    );
    let two = [head(TargetShape::Scalar), head(TargetShape::Scalar)];
    let fault =
        |network: NetworkConfig, heads: &[HeadSpec]| network.layout_with(&SHAPE, heads).unwrap_err().to_string();
    assert!(fault(mlp(2, 8), &two).ends_with("targets.own_hidden is the name of two layers"));
    assert!(fault(mlp(2, 8), &[head(TargetShape::Classes(0))]).contains("the number of outputs of a layer is 0"));
    let apart = fault(Apart {}.into(), &two);
    assert!(apart.ends_with("its policy and its value share no result that another head could read"), "{apart}");
}

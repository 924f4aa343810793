//! A network for tests that uses every operation.

use crate::network::{Init, NetworkBuilder, NetworkKind, Var};
use crate::shape::Neighbourhood;

turnstone_base::settings! {
    /// Every operation at least once, in combinations that no kind that is built in has: a residual that is read again, a sum
    /// without a ReLU, a layer over neighbours of numbers of both signs, bytes and numbers of the same result.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) struct Everything {}
}

impl NetworkKind for Everything {
    const NAME: &'static str = "everything";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let around = net.neighbours(Neighbourhood::Lines, 1);
        let points = net.points();
        let stem = net.rectified("stem", points, 12);
        let inner = net.rectified_around("inner", stem, around, 12);
        let change = net.linear("change", inner, 12, Init::Residual(2));
        let signed = net.add(stem, change);
        let near = net.linear_around("near", signed, around, 12, Init::Residual(2));
        let sum = net.add(near, stem);
        let sum = net.relu(sum);
        let (mean, max) = (net.mean(sum), net.max(signed));
        let pooled = net.concat(mean, max);
        let everywhere = net.linear("everywhere", pooled, 12, Init::Head);
        let lifted = net.add(sum, everywhere);
        let lifted = net.add(lifted, signed);
        let narrow = net.rectified("narrow", lifted, 3);
        let narrow = net.flatten(narrow);
        let observed = net.inputs();
        let observed = net.rectified("observed", observed, 16);
        let all = net.concat(observed, narrow);
        let again = net.rectified("again", all, 16);
        let deeper = net.rectified("deeper", again, 16);
        let deeper = net.linear("deepest", deeper, 16, Init::Residual(1));
        let sum = net.add(again, deeper);
        let sum = net.relu(sum);
        let actions = net.shape().actions;
        [net.linear("policy", sum, actions, Init::Head), net.value_head(sum, 16)]
    }
}

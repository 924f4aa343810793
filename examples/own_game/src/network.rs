//! A custom kind of network.

use turnstone_models::{Init, Neighbourhood, NetworkBuilder, NetworkKind, Var, settings};

settings! {
    /// Residual blocks over the lines of the board, each of which also sees the mean of every channel over the whole board.
    #[derive(Clone, Debug)]
    pub struct Overview {
        /// Residual blocks.
        pub blocks: usize = 4, 1..=32;
        /// Features of each point.
        pub channels: usize = 48, 1..=512;
    }
}

impl NetworkKind for Overview {
    const NAME: &'static str = "overview";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let near = net.neighbours(Neighbourhood::Lines, 1);
        let points = net.points();
        let mut x = net.rectified("stem", points, self.channels);
        for block in 0..self.blocks {
            let name = |part| format!("blocks.{block}.{part}");
            let inner = net.rectified_around(&name("near"), x, near, self.channels);
            let mean = net.mean(inner);
            let far = net.linear(&name("far"), mean, self.channels, Init::Residual(2 * self.blocks));
            let change = net.linear(&name("change"), inner, self.channels, Init::Residual(2 * self.blocks));
            let change = net.add(change, far);
            let sum = net.add(x, change);
            x = net.relu(sum);
        }
        net.heads(x)
    }
}

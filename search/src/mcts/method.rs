//! Methods of search and their constants, and the options of a search.

use serde::{Deserialize, Serialize};

/// Dirichlet noise on the root's priors.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RootNoise {
    /// Total concentration, spread evenly over the legal actions. About 10 in KataGo.
    pub concentration: f32,
    /// Share of the noise in the mixed prior, 0..=1.
    pub fraction: f32,
}

/// Selection rule of a search, with the policy that results from it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Method {
    /// AlphaZero's selection rule. The policy is the distribution of visits.
    Puct(Puct),
    /// Sequential halving at the root. The policy is the improved policy of the paper; two simulations suffice.
    Gumbel(Gumbel),
}

impl Default for Method {
    fn default() -> Self {
        Self::Gumbel(Gumbel::default())
    }
}

/// Constants of PUCT.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Puct {
    /// Weight of the exploration term.
    pub c_puct: f32,
    /// First-play-urgency reduction: the value of an unvisited child is the parent's minus this constant times the square
    /// root of the visited children's prior mass.
    pub fpu_reduction: f32,
    /// Noise on the root's priors, for self-play.
    pub noise: Option<RootNoise>,
    /// Forced playouts, for self-play with noise: a visited action of the root gets at least
    /// `sqrt(forced_playouts * prior * visits)` visits, and the policy does not count visits that were only forced
    /// (policy-target pruning). 2 in KataGo; 0 forces none.
    pub forced_playouts: f32,
}

impl Puct {
    /// The constants of [`Puct::default`].
    pub const DEFAULT: Self = Self { c_puct: 1.25, fpu_reduction: 0.2, noise: None, forced_playouts: 0.0 };
}

impl Default for Puct {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Constants of Gumbel search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gumbel {
    /// Maximum number of actions considered at the root (`max_num_considered_actions` of mctx).
    pub considered: u32,
    /// Added to the greatest visit count in the weight of values against logits.
    pub c_visit: f32,
    /// Weight of values, from 0 to 1, against logits. 1 in the paper for board games; 0.7 measured best here.
    pub c_scale: f32,
    /// Scale of the Gumbel noise that samples the considered actions (`gumbel_scale` of mctx): 1 in self-play, 0 for the
    /// strongest play.
    pub gumbel_scale: f32,
}

impl Gumbel {
    /// The constants of [`Gumbel::default`].
    pub const DEFAULT: Self = Self { considered: 16, c_visit: 50.0, c_scale: 0.7, gumbel_scale: 0.0 };

    /// Constants for the strongest play with a number of simulations: no noise, and about five simulations or more per
    /// considered action. (With a trained network on Mancala, 16 simulations, against PUCT: 3 actions 53.0 % of
    /// 4,000 games, all 6 actions 50.5 %.)
    #[must_use]
    pub fn strongest(simulations: u32) -> Self {
        Self { considered: (simulations / 5).clamp(2, 16), ..Self::default() }
    }
}

impl Default for Gumbel {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Options of a search: its method, and what goes with any method.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SearchOptions {
    /// Selection rule.
    pub method: Method,
    /// Maximum number of positions of a proof-number search that looks at every new position below the root before it is
    /// evaluated: one whose result it proves counts as if the game were over there. 0: none.
    ///
    /// The work grows by up to as many positions per simulation, which pays where games are decided by many narrow
    /// lines at the end (`docs/lab/search.md`).
    pub proof_nodes: u32,
    /// Value of a draw for the side to move at the root, from -1 (a loss) to 1 (a win). Selection and choice use it, while
    /// reported values remain expected results. A tree that was built with another value is cleared.
    pub draw: f32,
}

impl From<Method> for SearchOptions {
    fn from(method: Method) -> Self {
        Self { method, proof_nodes: 0, draw: 0.0 }
    }
}

//! The heads of networks over points with weights of eight bits.

use super::super::areas::LANES;
use super::calibration::{Activations, Parameters};
use super::kernel::{Destination, IntegerInstructions};
use super::layer::Layer;
use crate::layout::HEAD_CHANNELS;

/// The heads. Their first layers, which read the same channels, are one: a strip with the channels of both.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heads {
    points: usize,
    channels: Layer,
    policy: Layer,
    value_hidden: Layer,
    value: Layer,
}

/// The buffers of the heads for up to a number of positions.
#[derive(Debug, Clone)]
pub(super) struct HeadBuffers {
    /// Channels of both heads, `[positions, points, LANES]`.
    channels: Vec<u8>,
    /// Inputs of the policy head, `[positions, points, HEAD_CHANNELS]`.
    policy: Vec<u8>,
    /// Inputs of the value head, `[positions, points, HEAD_CHANNELS]`.
    value: Vec<u8>,
    hidden: Vec<u8>,
}

impl Heads {
    /// Quantises the parameters that remain. `tower` are the outputs of the tower for the samples, point by point.
    pub(super) fn new(mut parameters: Parameters<'_>, points: usize, tower: &Activations) -> Heads {
        const { assert!(2 * HEAD_CHANNELS == LANES, "the channels of both heads are a strip") };
        let (policy_points, policy) = (parameters.next(), parameters.next());
        let value_points = parameters.next();
        let rows = policy_points[0].chunks_exact(HEAD_CHANNELS).zip(value_points[0].chunks_exact(HEAD_CHANNELS));
        let weight: Vec<f32> = rows.flat_map(|(policy, value)| policy.iter().chain(value)).copied().collect();
        let (channels, both) = tower.hidden([&weight, &[policy_points[1], value_points[1]].concat()]);
        let [policy_channels, value_channels] = [0, 1].map(|head| {
            let columns = head * HEAD_CHANNELS..(head + 1) * HEAD_CHANNELS;
            let mut bytes = vec![0; both.bytes.len() / 2];
            copy_half(&both.bytes, head, &mut bytes);
            Activations { rows: tower.rows / points, bytes, steps: both.steps.part(columns).repeated(points) }
        });
        let policy = policy_channels.layer(policy);
        let (value_hidden, hidden) = value_channels.hidden(parameters.next());
        let value = hidden.layer(parameters.next());
        Heads { points, channels, policy, value_hidden, value }
    }

    /// Buffers for up to this number of positions.
    pub(super) fn buffers(&self, positions: usize) -> HeadBuffers {
        let half = vec![0; positions * self.points * HEAD_CHANNELS];
        HeadBuffers {
            channels: vec![0; positions * self.points * LANES],
            policy: half.clone(),
            value: half,
            hidden: vec![0; positions * self.value_hidden.stride()],
        }
    }

    /// Computes policy and value of `positions` positions from the bytes of the tower.
    pub(super) fn evaluate(
        &self,
        with: IntegerInstructions,
        buffers: &mut HeadBuffers,
        [positions, first]: [usize; 2],
        tower: &[u8],
        policy: &mut [f32],
        value: &mut [f32],
    ) {
        let points = positions * self.points;
        let channels = &mut buffers.channels[..points * LANES];
        let policy_channels = &mut buffers.policy[..points * HEAD_CHANNELS];
        let value_channels = &mut buffers.value[..points * HEAD_CHANNELS];
        let hidden = &mut buffers.hidden[..positions * self.value_hidden.stride()];
        self.channels.apply(with, points, tower, Destination::Bytes(channels));
        copy_half(channels, 0, policy_channels);
        copy_half(channels, 1, value_channels);
        let policy = &mut policy[first * self.policy.outputs()..][..positions * self.policy.outputs()];
        let value = &mut value[first * self.value.outputs()..][..positions * self.value.outputs()];
        self.policy.apply(with, positions, policy_channels, Destination::Numbers(policy));
        self.value_hidden.apply(with, positions, value_channels, Destination::Bytes(hidden));
        self.value.apply(with, positions, hidden, Destination::Numbers(value));
    }
}

/// Copies the channels of one head out of those of both.
fn copy_half(both: &[u8], head: usize, half: &mut [u8]) {
    let (both, half) = (both.as_chunks::<LANES>().0, half.as_chunks_mut::<HEAD_CHANNELS>().0);
    for (half, both) in half.iter_mut().zip(both) {
        half.copy_from_slice(&both[head * HEAD_CHANNELS..][..HEAD_CHANNELS]);
    }
}

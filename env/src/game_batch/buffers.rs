//! Buffers of many games, one row per env.

use crate::spec::Spec;

/// Buffers that [`GameBatch`](crate::GameBatch) writes to, one row per env.
#[derive(Debug)]
pub struct VecBuffers<'a> {
    /// `[envs, planes, height, width]`, each as seen by its mover (see [`Spec`]).
    pub observations: &'a mut [f32],
    /// `[envs, actions]`, true = legal.
    pub masks: &'a mut [bool],
    /// `[envs, 2]`: reward of this step for each player, +1, 0 or -1 at the end of a game, 0 before.
    pub rewards: &'a mut [f32],
    /// `[envs]`: a rule of the game ended it in this step.
    pub terminated: &'a mut [bool],
    /// `[envs]`: a limit on the number of plies ended it in this step.
    pub truncated: &'a mut [bool],
    /// `[envs]`: index of the side to move, 0 or 1.
    pub movers: &'a mut [u8],
}

impl VecBuffers<'_> {
    /// Panics unless the buffers are for `envs` envs.
    pub(super) fn check(&self, envs: usize, spec: &Spec) {
        assert_eq!(self.observations.len(), envs * spec.tensor_len(), "observations");
        assert_eq!(self.masks.len(), envs * spec.actions, "masks");
        assert_eq!(self.rewards.len(), 2 * envs, "rewards");
        assert_eq!([self.terminated.len(), self.truncated.len(), self.movers.len()], [envs; 3], "flags and movers");
    }

    /// The rows of each `share` envs.
    pub(super) fn parts(&mut self, share: usize, spec: &Spec) -> impl Iterator<Item = VecBuffers<'_>> {
        let tensors = self.observations.chunks_mut(share * spec.tensor_len());
        let masks = self.masks.chunks_mut(share * spec.actions);
        let ends = self.terminated.chunks_mut(share).zip(self.truncated.chunks_mut(share));
        let numbers = self.rewards.chunks_mut(2 * share).zip(self.movers.chunks_mut(share));
        let rows = tensors.zip(masks).zip(ends.zip(numbers));
        rows.map(|((observations, masks), ((terminated, truncated), (rewards, movers)))| VecBuffers {
            observations,
            masks,
            rewards,
            terminated,
            truncated,
            movers,
        })
    }
}

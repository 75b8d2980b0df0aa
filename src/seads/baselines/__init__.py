"""The paper's baselines: flat soft actor-critic, and Hierarchical Actor-Critic."""

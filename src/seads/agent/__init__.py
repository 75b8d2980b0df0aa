"""The agent: networks, soft actor-critic, skill model, reward, relabelling, and the learner."""

from seads.agent.agent import Agent, load

__all__ = ["Agent", "load"]

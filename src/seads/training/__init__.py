"""Training: the loop, the collector, checkpoints and resuming, metrics."""

from seads.training.run import resume, train

__all__ = ["resume", "train"]

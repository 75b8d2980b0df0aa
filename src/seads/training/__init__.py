"""Training: configuration, the loop, the collector, checkpoints and resuming, metrics."""

from seads.training.configure import configure
from seads.training.run import Run, resume, train

__all__ = ["Run", "configure", "resume", "train"]

"""What learns: networks, soft actor-critic, skill model, reward, relabelling, and the learner."""

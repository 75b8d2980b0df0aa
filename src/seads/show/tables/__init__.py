"""The paper's tables and figures by their numbers, from the results of runs, ours beside its."""

"""What an agent can do, measured: moves covered, boards solved, how right its model is."""

from seads.evaluation.baselines import BaselineScores
from seads.evaluation.coverage import Coverage
from seads.evaluation.measure import Scores, evaluate
from seads.evaluation.model import ModelScores
from seads.evaluation.skill_maps import SkillMaps
from seads.evaluation.tasks import TaskScores

__all__ = [
    "BaselineScores",
    "Coverage",
    "ModelScores",
    "Scores",
    "SkillMaps",
    "TaskScores",
    "evaluate",
]

"""From a forward model to a plan: the model is an argument, the planner is a name."""

from seads.planning.compile import compile_model
from seads.planning.costs import Costs
from seads.planning.describe import operator_rows
from seads.planning.model import RulesModel, SymbolicModel
from seads.planning.operators import Compiled, Operator
from seads.planning.planner import plan
from seads.planning.planners import PLANNERS
from seads.planning.result import Asked, Budget, Plan, PlanStatus

__all__ = [
    "PLANNERS",
    "Asked",
    "Budget",
    "Compiled",
    "Costs",
    "Operator",
    "Plan",
    "PlanStatus",
    "RulesModel",
    "SymbolicModel",
    "compile_model",
    "operator_rows",
    "plan",
]

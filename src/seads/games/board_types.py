"""What boards, splits and moves are, for every module that handles them."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from jaxtyping import UInt8

Split = Literal["train", "test", "all"]
Boards = UInt8[np.ndarray, "rows fields"]
Board = UInt8[np.ndarray, "fields"]
NO_MOVE = -1
SPLITS: tuple[str, ...] = get_args(Split)

# SPDX-License-Identifier: Apache-2.0
"""Programs of the Python front end that nobody has written down: lines of text, drawn here without a library, that run.Programs executes
with each of the two packages. One module for each part of the front end; each has `drawn(draw)`."""
import dataclasses
from typing import Dict, List, Tuple

import numpy as np


@dataclasses.dataclass
class Program:
    """Steps are a part's name and lines; what these leave in `r` is the part's result, and an error its text. Lines find `mx`, `onp`,
    NumPy; `np` and `npx`, those of mx; `array`, which makes one of this program's kind; and `arrays`, NumPy's."""
    name: str
    start: str  # lines that run before each step
    steps: List[Tuple[str, str]]
    arrays: Dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    numpy: bool = False  # whether arrays are those of mx.np
    alone: bool = False  # whether NumPy itself can run the lines too
    ways: str = ""  # the first of several ways to the same results: parts are named "WAY, result"


def called(function, arguments):
    """The text of a call with these texts of arguments, of which None is one that is left out."""
    return f"{function}({', '.join(a for a in arguments if a)})"

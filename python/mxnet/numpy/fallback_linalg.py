# SPDX-License-Identifier: Apache-2.0
"""Functions of np.linalg that run in NumPy; see fallback."""

import numpy as onp

__all__ = ["cond", "lstsq", "matrix_power", "matrix_rank", "multi_dot", "qr"]

globals().update({name: getattr(onp.linalg, name) for name in __all__})

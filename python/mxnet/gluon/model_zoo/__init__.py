# SPDX-License-Identifier: Apache-2.0
"""Networks of the literature, and their trained parameters."""

from . import model_store, vision

__all__ = ["model_store", "vision"]

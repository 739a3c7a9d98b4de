# SPDX-License-Identifier: Apache-2.0
"""Data sets, orders of their samples, and batches of them."""

from . import batchify, dataloader, dataset, sampler, vision
from .dataloader import *  # noqa: F403
from .dataset import *  # noqa: F403
from .sampler import *  # noqa: F403

__all__ = ["batchify", "dataloader", "dataset", "sampler", "vision"]
__all__ += dataloader.__all__ + dataset.__all__ + sampler.__all__

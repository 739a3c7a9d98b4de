# SPDX-License-Identifier: Apache-2.0
"""Data sets of images, and transforms of images."""

from . import datasets, transforms
from .datasets import *  # noqa: F403

__all__ = ["datasets", "transforms"] + datasets.__all__

# SPDX-License-Identifier: Apache-2.0
"""Samplers and texts beyond gluon.data."""

from . import sampler, text
from .sampler import *  # noqa: F403

__all__ = ["sampler", "text"] + sampler.__all__

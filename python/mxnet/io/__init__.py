# SPDX-License-Identifier: Apache-2.0
"""Iterators over batches of data."""

from . import io, record, utils
from .io import DataBatch, DataDesc, DataIter, NDArrayIter, PrefetchingIter, ResizeIter
from .record import *  # noqa: F403

__all__ = ["DataBatch", "DataDesc", "DataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter", "io", "record", "utils"]
__all__ += record.__all__

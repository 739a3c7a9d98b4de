# SPDX-License-Identifier: Apache-2.0
"""Iterators over batches of data."""

from . import io, utils
from .io import DataBatch, DataDesc, DataIter, NDArrayIter, PrefetchingIter, ResizeIter

__all__ = ["DataBatch", "DataDesc", "DataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter", "io", "utils"]

# SPDX-License-Identifier: Apache-2.0
"""Iterators over batches of data."""

from . import io, record, utils
from .io import DataBatch, DataDesc, DataIter, NDArrayIter, PrefetchingIter, ResizeIter
from .record import *  # noqa: F403
from .utils import _getdata_by_idx, _has_instance, _init_data  # noqa: F401  (iterators of programs call them)

__all__ = ["DataBatch", "DataDesc", "DataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter", "io", "record", "utils"]
__all__ += record.__all__

# Programs of 1.x also find them in the module that has the others.
vars(io).update({name: getattr(record, name) for name in record.__all__})

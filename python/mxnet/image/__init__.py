# SPDX-License-Identifier: Apache-2.0
"""Images: reading, cutting, augmentation, and iterators over sets of them."""

from .. import io, recordio
from .. import ndarray as nd
from ..util import is_np_array
from . import detection, image
from . import detection as det
from .detection import *  # noqa: F403
from .image import *  # noqa: F403

__all__ = ["det", "detection", "image", "io", "is_np_array", "nd", "recordio"] + image.__all__ + detection.__all__

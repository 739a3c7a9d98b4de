# SPDX-License-Identifier: Apache-2.0
"""A training loop as an object, with handlers for what happens on the way."""

from . import batch_processor, estimator, event_handler
from .batch_processor import *
from .estimator import *
from .event_handler import *

__all__ = [*batch_processor.__all__, *estimator.__all__, *event_handler.__all__]

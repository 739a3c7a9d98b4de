# SPDX-License-Identifier: Apache-2.0
"""Parameters of blocks, in the module by which pickles name them."""

from ._constant import Constant
from ._errors import DeferredInitializationError
from ._parameter import Parameter, tensor_types
from .parameter_dict import ParameterDict

__all__ = ["Constant", "DeferredInitializationError", "Parameter", "ParameterDict", "tensor_types"]

for _class in (Constant, DeferredInitializationError, Parameter):
    _class.__module__ = __name__

# SPDX-License-Identifier: Apache-2.0
"""Arrays of a file as the values of parameters: their names, what must fit, and what is converted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional

from .. import ndarray
from ..context import Context, cpu
from ..ndarray import NDArray
from ..ndarray._dtypes import dtype_number
from ..util import is_np_shape
from ._errors import MismatchError

if TYPE_CHECKING:
    from ._parameter import Parameter


def named_arrays(filename: str) -> Dict[str, NDArray]:
    """The arrays of a file by name. One without arrays, which layers without parameters write, holds no names either."""
    loaded = ndarray.load(filename)
    if isinstance(loaded, list):
        if loaded:
            raise ValueError(f"file {filename} has {len(loaded)} arrays without names, expected names")
        return {}
    return loaded


def load_into(
    parameter: Parameter, data: NDArray, contexts: Optional[List[Context]], cast_to: Optional[str], own: bool = False
) -> None:
    """Gives a parameter its value, on the given devices or on those that it has.

    `cast_to`: "current" converts the array to the parameter's type, "saved" the parameter to the array's;
    None allows no other type. `own`: nobody else has the array, so that a parameter without value takes itself.
    """
    _check_shape(parameter, data)
    parameter._shape = data.shape
    data = _of_one_type(parameter, data, cast_to)
    if parameter._stype != data.stype:
        data = data.tostype(parameter._stype)
    if parameter._data is not None:
        _check_devices(parameter, contexts, parameter.list_ctx(), "it was initialized on")
        parameter.set_data(data)
    else:
        wished = parameter._deferred_init[1] if parameter._deferred_init else None
        if wished is not None:
            _check_devices(parameter, contexts, wished, "of initialize()")
        parameter._init_impl(data, contexts or wished or [cpu()], own)
    parameter._deferred_init = ()


def _check_shape(parameter: Parameter, data: NDArray) -> None:
    has, unknown = parameter.shape, (-1, 0)
    if has is None or (has == () and not is_np_shape()):
        return
    if len(has) != len(data.shape) or any(dim not in unknown and dim != loaded for dim, loaded in zip(has, data.shape)):
        raise MismatchError(f"Parameter {parameter.name}: given shape {data.shape} in the file, expected {has}")


def _check_devices(parameter: Parameter, given: Optional[List[Context]], has: List[Context], whose: str) -> None:
    if given is not None and set(given) != set(has):
        raise MismatchError(f"Parameter {parameter.name}: given {given}, expected the devices {whose}: {has}")


def _of_one_type(parameter: Parameter, data: NDArray, cast_to: Optional[str]) -> NDArray:
    if dtype_number(parameter.dtype) == dtype_number(data.dtype):
        return data
    if cast_to is None:
        raise MismatchError(
            f"Parameter {parameter.name}: given dtype {data.dtype} in the file, expected {parameter.dtype}; "
            "cast_dtype=True converts it"
        )
    if cast_to == "current":
        return data.astype(parameter.dtype, copy=False)
    parameter.cast(data.dtype)
    return data

# SPDX-License-Identifier: Apache-2.0
"""Helpers of training loops: parts of a batch per device, clipping, downloads, hooks."""

from __future__ import annotations

import hashlib
import math
import os
import warnings
import weakref
from collections import OrderedDict
from typing import Any, Dict, List, Optional, Sequence

from .. import config, ndarray
from .._files import replacing
from ..context import Context
from ..ndarray import NDArray
from ..ndarray._dtypes import dtype_number
from ..util import is_np_array, is_np_shape
from ._errors import MismatchError

__all__ = ["HookHandle", "check_sha1", "clip_global_norm", "download", "replace_file", "shape_is_known", "split_and_load", "split_data"]

_FLOAT32 = dtype_number("float32")
_DENSE = 0


def split_data(data: NDArray, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> List[NDArray]:
    """Parts of a batch. Without `even_split` the first parts may be one longer than the last."""
    size = data.shape[batch_axis]
    if even_split and size % num_slice != 0:
        raise ValueError(
            f"given a batch of {size} on axis {batch_axis} of shape {data.shape}, expected a multiple of "
            f"{num_slice}; even_split=False allows parts of different sizes"
        )
    step, longer = divmod(size, num_slice)
    if step == 0:  # fewer elements than parts: one each, and the last parts are empty
        step, longer = 1, 0
    bounds = [min(i * step + min(i, longer), size) for i in range(num_slice + 1)]
    if batch_axis == 0:
        return [data[begin:end] for begin, end in zip(bounds, bounds[1:])]
    return [data.slice_axis(axis=batch_axis, begin=begin, end=end) for begin, end in zip(bounds, bounds[1:])]


def split_and_load(
    data: Any, ctx_list: Sequence[Context], batch_axis: int = 0, even_split: bool = True
) -> List[NDArray]:
    """Parts of a batch, each on its device."""
    if not isinstance(data, NDArray):
        if is_np_array():
            from .. import numpy

            data = numpy.array(data, ctx=ctx_list[0])
        else:
            data = ndarray.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(context) for part, context in zip(parts, ctx_list)]


def clip_global_norm(arrays: Sequence[NDArray], max_norm: float, check_isfinite: bool = True) -> Any:
    """Scales arrays in place, together, so that the norm of all elements is at most `max_norm`.

    Returns the norm that they had: a number, or without `check_isfinite` an array, for which nobody waits.
    """
    arrays = list(arrays)  # of one array: its rows
    if not arrays:
        raise MismatchError("given no arrays, expected at least one")
    device = arrays[0].context
    squares = [_square_sum(array) for array in arrays]
    squares = [square if square._device == squares[0]._device else square.copyto(device) for square in squares]
    norm = ndarray.sqrt(ndarray.add_n(*squares))
    scale = ndarray.minimum(max_norm / (norm + 1e-8), 1.0)
    known: Any = None
    if check_isfinite:
        known = norm.asscalar()
        if not math.isfinite(known):
            warnings.warn("The norm of the gradients is infinite or not a number", stacklevel=2)
    factors: Dict[Any, NDArray] = {}
    for array in arrays:
        kind = array._device, array._dtype_id, getattr(array, "_is_np", False)
        if kind not in factors:
            factor = scale.astype(array.dtype, copy=False).as_in_context(array.context)
            factors[kind] = factor.as_np_ndarray() if kind[2] else factor
        array *= factors[kind]
    return norm if known is None else known


def _square_sum(array: NDArray) -> NDArray:
    dense = array if array._storage_type_id == _DENSE else array.tostype("default")
    flat = dense.as_nd_ndarray()._view((-1,), False)
    if flat._dtype_id != _FLOAT32:
        flat = flat.astype("float32")
    product = ndarray.dot(flat, flat)
    return product if product.shape == (1,) else product._view((1,), False)


def shape_is_known(shape: Any) -> bool:
    """Whether all dimensions of a shape are known."""
    if shape is None:
        return False
    unknown = -1 if is_np_shape() else 0
    if len(shape) == 0:
        return unknown == -1
    for dim in shape:
        if dim == unknown:
            return False
        if dim < unknown:
            raise MismatchError(f"given a dimension of {dim}, expected one of at least {unknown}")
    return True


class HookHandle:
    """What registering a hook returns: `detach` takes the hook out, and so does the end of a `with` block."""

    def __init__(self) -> None:
        self._hooks_dict_ref: Any = None
        self._id: Optional[int] = None

    def attach(self, hooks_dict: "OrderedDict[int, Any]", hook: Any) -> None:
        """Puts the hook into a dictionary of hooks. To be called once."""
        if self._hooks_dict_ref is not None:
            raise MismatchError("given a handle that has its hook already, expected a new one")
        self._id = id(hook)
        hooks_dict[self._id] = hook
        self._hooks_dict_ref = weakref.ref(hooks_dict)

    def detach(self) -> None:
        """Takes the hook out; the second time nothing happens."""
        hooks = None if self._hooks_dict_ref is None else self._hooks_dict_ref()
        if hooks is not None and self._id is not None:
            hooks.pop(self._id, None)

    def __getstate__(self) -> Any:
        hooks = None if self._hooks_dict_ref is None else self._hooks_dict_ref()
        return hooks, self._id

    def __setstate__(self, state: Any) -> None:
        hooks, self._id = state
        self._hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, ptype: Any, value: Any, trace: Any) -> None:
        self.detach()


# --- Texts


def indented(text: str, blanks: int = 2) -> str:
    """All lines but the first one moved to the right."""
    return text.replace("\n", "\n" + " " * blanks)


_indent = indented  # packages show their blocks with it


def _brief_print_list(lst: Sequence[Any], limit: int = 7) -> str:
    """Names in quotes; of more than `limit` the first and the last ones. Errors of packages name parameters so."""
    names = [f"'{name}'" for name in lst]
    if len(names) > limit:
        names[limit // 2 : len(names) - (limit + 1) // 2] = ["..."]
    return ", ".join(names)


# --- Files


def check_sha1(filename: str, sha1_hash: str) -> bool:
    """Whether a file's SHA-1 starts with the given digits."""
    digest = hashlib.sha1()
    with open(filename, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    text = digest.hexdigest()
    length = min(len(text), len(sha1_hash))
    return text[:length] == sha1_hash[:length]


def replace_file(src: str, dst: str) -> None:
    """Moves a file over another one, at once."""
    os.replace(src, dst)


def download(
    url: str,
    path: Optional[str] = None,
    overwrite: bool = False,
    sha1_hash: Optional[str] = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Fetches a file, into a folder or under a name, unless it is there; returns its name.

    `url` may be http, https or file. What is there, but has another SHA-1, is fetched again.
    """
    if retries < 0:
        raise MismatchError(f"given retries {retries}, expected at least 0")
    name = url.split("/")[-1]
    if path is None or os.path.isdir(os.path.expanduser(path)):
        if not name:
            raise MismatchError(f"given {url}, whose last part is no file name; expected one, or `path`")
        target = os.path.join(os.path.expanduser(path), name) if path else name
    else:
        target = os.path.expanduser(path)
    there = os.path.exists(target) and not overwrite and (not sha1_hash or check_sha1(target, sha1_hash))
    if there:
        return target
    if not verify_ssl:
        warnings.warn("verify_ssl=False: nobody checks who sends the file", stacklevel=2)
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    for left in range(retries, -1, -1):
        try:
            _fetch(url, target, sha1_hash, verify_ssl)
            return target
        except OSError as error:
            if left == 0:
                raise OSError(
                    f"could not download {url}: {error}. Without a network, put the file at {os.path.abspath(target)}, or "
                    "let MXNET_GLUON_REPO name a place (file:///... too) that has it"
                ) from error
            print(f"download of {url} failed ({error}), {left} attempt{'s' if left > 1 else ''} left")
    return target


def _fetch(url: str, target: str, sha1_hash: Optional[str], verify_ssl: bool) -> None:
    import shutil
    import ssl
    import urllib.request

    print(f"Downloading {target} from {url}...")
    context = None if verify_ssl else ssl._create_unverified_context()
    with replacing(target) as file, urllib.request.urlopen(url, context=context, timeout=60) as source:
        shutil.copyfileobj(source, file)
        file.flush()
        if sha1_hash and not check_sha1(file.name, sha1_hash):
            raise OSError(f"the file has another SHA-1 than {sha1_hash}")


def _get_repo_url() -> str:
    """Where files are downloaded from: MXNET_GLUON_REPO."""
    url = config.get("MXNET_GLUON_REPO")
    return url if url.endswith("/") else url + "/"


def _get_repo_file_url(namespace: str, filename: str) -> str:
    """The address of a file there."""
    return f"{_get_repo_url()}{namespace}/{filename}"


def data_home() -> str:
    """Where downloads are kept: MXNET_HOME."""
    return os.path.expanduser(config.get("MXNET_HOME"))

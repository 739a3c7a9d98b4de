# SPDX-License-Identifier: Apache-2.0
"""Where the library and its headers are.

The only module that reads the environment by itself: it says which library to load, before there is
one to ask.
"""

from __future__ import annotations

import os
import warnings
from typing import List

from ._version import __version__ as __version__  # pylint: disable=useless-import-alias # packages read it here

_PACKAGE = os.path.dirname(os.path.realpath(os.path.abspath(__file__)))
# Beside the sources in a checkout that was built but not installed; of a packed build, the build itself.
_CHECKOUT = os.path.dirname(os.path.dirname(_PACKAGE))


def library_from_environment() -> str | None:
    """The file that MXNET_LIBRARY_PATH names; None, with a warning, if it cannot be used."""
    path = os.environ.get("MXNET_LIBRARY_PATH")
    if not path:
        return None
    if not os.path.isabs(path):
        reason = "it is not an absolute path"
    elif not os.path.isfile(path):
        reason = "there is no such file"
    else:
        return path
    warnings.warn(f"MXNET_LIBRARY_PATH={path!r} is ignored: {reason}", RuntimeWarning, stacklevel=2)
    return None


def find_lib_path(prefix: str = "libmxnet") -> List[str]:
    """Paths of the library's files that exist, best first.

    MXNET_LIBRARY_PATH counts alone; otherwise the directories of LD_LIBRARY_PATH, the package's and
    those of a build in or around the checkout are searched in this order.
    """
    chosen = library_from_environment() if prefix == "libmxnet" else None
    if chosen is not None:
        return [chosen]
    directories = [d for d in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if d]
    directories.append(_PACKAGE)
    directories += [os.path.join(_CHECKOUT, build, "src") for build in ("", "build", "build/release")]
    candidates = [os.path.join(directory, prefix + ".so") for directory in directories]
    found = [path for path in candidates if os.path.isfile(path)]
    if not found:
        listing = "\n".join(candidates)
        raise RuntimeError(f"Cannot find {prefix}.so. These files were looked for:\n{listing}")
    return found


def find_include_path() -> str:
    """The directory of the C headers: MXNET_INCLUDE_PATH, the package's or the checkout's."""
    chosen = os.environ.get("MXNET_INCLUDE_PATH")
    if chosen:
        if os.path.isabs(chosen) and os.path.isdir(chosen):
            return chosen
        warnings.warn(
            f"MXNET_INCLUDE_PATH={chosen!r} is ignored: it is not the absolute path of a directory",
            RuntimeWarning,
            stacklevel=2,
        )
    candidates = [os.path.join(_PACKAGE, "include"), os.path.join(_CHECKOUT, "include")]
    for path in candidates:
        if os.path.isdir(path):
            return path
    raise RuntimeError("Cannot find the headers. These directories were looked for:\n" + "\n".join(candidates))


def find_conf_path(prefix: str = "tvmop") -> List[str]:
    """Files `<prefix>.conf` beside the library that exist."""
    candidates = [os.path.join(os.path.dirname(path), prefix + ".conf") for path in find_lib_path()]
    return [path for path in candidates if os.path.isfile(path)]


def _is_on(name: str, default: str) -> bool:
    return os.environ.get(name, default).strip().lower() not in ("0", "false", "off", "no", "")


def wants_native_binding() -> bool:
    """Whether MXNET_ENABLE_CYTHON lets the native module be used."""
    return _is_on("MXNET_ENABLE_CYTHON", "1")


def enforces_native_binding() -> bool:
    """Whether MXNET_ENFORCE_CYTHON forbids the ctypes binding to stand in."""
    return _is_on("MXNET_ENFORCE_CYTHON", "0")

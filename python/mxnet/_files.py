# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import uuid
from typing import IO, Any, Iterator

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: Any) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` at the end, and its permissions; after an error nothing has changed.

    As the library writes arrays: a link stays and leads to what is new, and what is no regular file, a pipe for example, is
    written to as it is.
    """
    name = os.fsdecode(path)
    mode = os.stat(name).st_mode if os.path.exists(name) else None
    if mode is not None and not stat.S_ISREG(mode):
        with open(name, "wb") as file:
            yield file
        return
    target = os.path.realpath(name)
    partial = f"{target}.{uuid.uuid4().hex[:12]}.part"
    try:
        with open(partial, "xb") as file:
            if mode is not None:
                with contextlib.suppress(OSError):  # where it is refused, those of a new file will do
                    os.chmod(partial, stat.S_IMODE(mode))
            yield file
        os.replace(partial, target)
    finally:
        if os.path.exists(partial):
            os.remove(partial)

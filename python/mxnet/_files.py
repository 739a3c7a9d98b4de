# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import uuid
from typing import IO, Any, Iterator

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: Any) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` at the end; after an error nothing has changed."""
    partial = f"{os.fspath(path)}.{uuid.uuid4().hex[:12]}.part"
    try:
        with open(partial, "xb") as file:
            yield file
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.remove(partial)

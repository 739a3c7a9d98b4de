# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all, and texts whose lines hold fields between tabs."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from typing import IO, Any, Callable, Iterable, Iterator, List

__all__ = ["local_path", "replacing", "rows_of"]

_OPEN_FILES = ("/proc/", "/dev/fd/")  # /dev/stdout leads there
_MOST_LINKS = 40  # as many as the kernel follows
_NAME_BYTES = 200  # of the 255 that file systems take, with room for an ending
_REFUSALS = errno.EACCES, errno.EPERM, errno.EROFS


def local_path(path: Any) -> str:
    """The path that the system knows: without `file://`."""
    name = os.fsdecode(path)
    return name[len("file://") :] if name.startswith("file://") else name


def _behind_links(name: str) -> str:
    """Where the last part of a path leads, there or not; a file that some process holds open is left."""
    for _ in range(_MOST_LINKS):
        if name.startswith(_OPEN_FILES) or not os.path.islink(name):
            break
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return name


def _beside(target: str) -> str:
    folder, name = os.path.split(target)
    return os.path.join(folder, os.fsdecode(os.fsencode(name)[:_NAME_BYTES]) + f".{uuid.uuid4().hex[:12]}.part")


def _take_over_rights(old: os.stat_result, file: IO[bytes]) -> None:
    # Where it is refused those of a new file will do. The owner first: a change of it takes the special bits away.
    with contextlib.suppress(OSError):
        os.fchown(file.fileno(), old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):
        os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))


@contextlib.contextmanager
def replacing(path: Any) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` at the end, and its rights; after an error nothing has changed.

    As the library writes arrays (src/base/destination.h): a link stays and leads to what is new, and what cannot be
    replaced, a pipe, /dev/stdout or a file whose folder takes no other, is written to as it is.
    """
    name = local_path(path)
    target = _behind_links(name)
    try:
        old = os.stat(name)
    except FileNotFoundError:
        old = None  # behind links, too
    partial, file = _beside(target), None
    if target and not target.startswith(_OPEN_FILES) and (old is None or stat.S_ISREG(old.st_mode)):
        try:
            file = open(partial, "xb")
        except OSError as error:
            if old is None or error.errno not in _REFUSALS:
                raise OSError(error.errno, error.strerror, name) from None
    if file is None:
        with open(name, "wb") as file:
            yield file
        return
    try:
        with file:
            if old is not None:
                _take_over_rights(old, file)
            yield file
        os.replace(partial, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)


def rows_of(file: Iterable[str], path: Any, read: Callable[[List[str]], Any], expected: str) -> Iterator[Any]:
    """What `read` makes of the fields of each line of an open text; a line that it cannot read is an error that names it."""
    try:
        for number, line in enumerate(file, 1):
            try:
                yield read(line.rstrip("\n").split("\t"))
            except (ValueError, LookupError) as error:
                raise ValueError(f"given line {number} of {path!r}: {line!r}, expected {expected} ({error})") from error
    except UnicodeDecodeError as error:  # somewhere in what was read ahead
        raise ValueError(f"given {path!r}, which is no text ({error}), expected lines of {expected}") from error

# SPDX-License-Identifier: Apache-2.0
"""RecordIO files: sequences of byte strings, and the records that hold an image with its labels.

The format is described in docs/recordio.md; files are those of MXNet 1.x, byte for byte.
"""

from __future__ import annotations

import os
import struct
import threading
from collections import namedtuple
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, Union

from . import _core, _turns
from ._files import rows_of
from .base import show_ctypes_names

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["IRHeader", "MXIndexedRecordIO", "MXRecordIO", "pack", "pack_img", "unpack", "unpack_img"]
show_ctypes_names(__name__)


_MOST_OFFSET = 1 << 63  # what systems keep as a place in a file


class MXRecordIO:
    """Reads (`flag` "r") or writes ("w") a RecordIO file in order.

    With `skip_damaged` a reader goes on at the next record where the file is damaged; `skipped` says what
    it passed over. Otherwise reading there is an error that names file and offset.

    A reader may be used after a fork and may be pickled: the copy opens the file anew, at its start. A
    writer belongs to the process that made it.
    """

    def __init__(self, uri: str, flag: str, *, skip_damaged: bool = False) -> None:
        self.uri = os.fspath(uri)
        self.flag = flag
        self.skip_damaged = skip_damaged
        self.handle: Any = None
        self.pid: Optional[int] = None
        self.is_open = False
        self.open()

    def open(self) -> None:
        """Opens the file; a writer empties it."""
        self._open_file()

    def _open_file(self) -> None:
        if self.flag not in ("r", "w"):
            raise ValueError(f"given flag {self.flag!r}, expected 'r' or 'w'")
        self.writable = self.flag == "w"
        if self.writable:
            self.handle = _core.RecordWriter(self.uri)
        else:
            self.handle = _core.RecordReader(self.uri)
            self.handle.set_skipping(self.skip_damaged)
        self._turn = threading.Lock()  # of threads that go to a record and then read or write it
        self.pid = os.getpid()  # behind what is this process's own
        self.is_open = True

    def close(self) -> None:
        """Closes the file; a writer writes what it still holds. Closing twice does nothing."""
        if not self.is_open:
            return
        handle, self.handle = self.handle, None
        self.is_open = False  # also where the disk is full: there is no second try
        self.pid = None
        handle.close()

    def __del__(self) -> None:
        # A failed constructor leaves nothing to close.
        if getattr(self, "is_open", False) and self.pid == os.getpid():
            self.close()

    def __enter__(self) -> MXRecordIO:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> Dict[str, Any]:
        if self.writable:
            raise ValueError(f"given {self.uri!r}, open for writing: only readers can be pickled")
        state = dict(self.__dict__)
        del state["handle"], state["_turn"]
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.handle = None
        if state["is_open"]:
            self.is_open = False
            self.open()

    def _check_process(self) -> None:
        if not self.is_open:
            raise ValueError(f"given {self.uri!r}, which is closed")
        if self.pid == os.getpid():
            return
        if self.writable:
            raise RuntimeError(f"given {self.uri!r}, opened for writing by another process: open it anew")
        # A file of its own, at its start; an index that has been read stays good.
        with _turns.files:
            if self.pid != os.getpid():
                self._open_file()

    def reset(self) -> None:
        """Back to the start; a writer begins the file again."""
        self.close()
        self.open()

    def write(self, buf: Union[bytes, bytearray, memoryview, str]) -> None:
        """Appends a record."""
        if not self.writable:
            raise ValueError(f"given {self.uri!r}, open for reading, expected flag 'w'")
        self._check_process()
        self.handle.write(buf.encode() if isinstance(buf, str) else buf)

    def read(self) -> Optional[bytes]:
        """The next record, None at the end of the file."""
        if self.writable:
            raise ValueError(f"given {self.uri!r}, open for writing, expected flag 'r'")
        self._check_process()
        return self.handle.read()

    @property
    def skipped(self) -> Tuple[int, int]:
        """Of a reader with `skip_damaged`: how many damaged places it has passed, and how many bytes."""
        return (0, 0) if self.writable else self.handle.skipped()


class MXIndexedRecordIO(MXRecordIO):
    """A RecordIO file with an index file, for access by key.

    The index has a line for each record: the key, a tab, the record's offset. `key_type` makes keys of text.
    """

    def __init__(
        self, idx_path: str, uri: str, flag: str, key_type: Callable[[str], Any] = int, *, skip_damaged: bool = False
    ) -> None:
        self.idx_path = os.fspath(idx_path)
        self.idx: Dict[Any, int] = {}
        self.keys: List[Any] = []
        self.key_type = key_type
        self.fidx: Any = None
        super().__init__(uri, flag, skip_damaged=skip_damaged)

    def open(self) -> None:
        """Opens both files; a writer empties them."""
        super().open()
        self.idx = {}
        self.keys = []
        self.fidx = open(self.idx_path, self.flag)
        if self.writable:
            return
        for key, offset in rows_of(self.fidx, self.idx_path, self._entry, "a key, a tab, an offset"):
            self.idx[key] = offset
            self.keys.append(key)

    def _entry(self, fields: List[str]) -> Tuple[Any, int]:
        key, text = fields
        offset = int(text)
        if not 0 <= offset < _MOST_OFFSET:
            raise ValueError(f"offset {offset}")
        return self.key_type(key), offset

    def close(self) -> None:
        """Closes both files. Closing twice does nothing."""
        if not self.is_open:
            return
        try:
            super().close()
        finally:
            if self.fidx is not None:
                self.fidx.close()
                self.fidx = None

    def __getstate__(self) -> Dict[str, Any]:
        state = super().__getstate__()
        del state["fidx"]
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.fidx = None
        super().__setstate__(state)

    def seek(self, idx: Any) -> None:
        """Goes to the record with this key: the next read() gives it."""
        if self.writable:
            raise ValueError(f"given {self.uri!r}, open for writing, expected flag 'r'")
        self._check_process()
        self.handle.seek(self.idx[idx])

    def tell(self) -> int:
        """Where the next record will be written."""
        if not self.writable:
            raise ValueError(f"given {self.uri!r}, open for reading, expected flag 'w'")
        return self.handle.tell()

    def read_idx(self, idx: Any) -> Optional[bytes]:
        """The record with this key. Threads may read one file by key at once; they take turns."""
        if not self.writable:
            self._check_process()  # another process has a turn of its own
        with self._turn:
            self.seek(idx)
            try:
                content = self.read()
            except ValueError as error:
                raise type(error)(f"{error} ({self._place(idx)})") from error
        if content is None and not self.skip_damaged:
            raise ValueError(f"given {self._place(idx)}, expected a record of {self.uri!r} there")
        return content

    def _place(self, idx: Any) -> str:
        return f"byte {self.idx[idx]}, where key {idx!r} lies by {self.idx_path!r}"

    def write_idx(self, idx: Any, buf: Union[bytes, bytearray, memoryview, str]) -> None:
        """Appends a record under this key."""
        key = self.key_type(idx)
        self._check_process()
        with self._turn:
            offset = self.tell()
            self.write(buf)
            self.fidx.write(f"{key}\t{offset}\n")
            self.idx[key] = offset
            self.keys.append(key)


IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])  # type: ignore[name-match]
IRHeader.__doc__ = """Head of an image record: number of labels (0: `label` is one number), label, id, second id."""

_IR_FORMAT = "IfQQ"
_IR_SIZE = struct.calcsize(_IR_FORMAT)


def pack(header: IRHeader, s: Union[bytes, bytearray]) -> bytes:
    """A record out of a header and bytes. A label that is no number becomes float32 labels before them."""
    import numbers

    import numpy as np

    header = IRHeader(*header)
    if isinstance(header.label, numbers.Number):
        header = header._replace(flag=0)
    else:
        labels = np.asarray(header.label, dtype=np.float32)
        header = header._replace(flag=labels.size, label=0)
        s = labels.tobytes() + bytes(s)
    return struct.pack(_IR_FORMAT, *header) + bytes(s)


def unpack(s: bytes) -> Tuple[IRHeader, bytes]:
    """The header and the bytes of a record; several labels are a float32 array."""
    import numpy as np

    if len(s) < _IR_SIZE:
        raise ValueError(f"given {len(s)} bytes, expected a record with a header of {_IR_SIZE}")
    header = IRHeader(*struct.unpack(_IR_FORMAT, s[:_IR_SIZE]))
    s = s[_IR_SIZE:]
    if header.flag > 0:
        if len(s) < 4 * header.flag:
            raise ValueError(f"given {len(s)} bytes after the header, expected {header.flag} labels")
        header = header._replace(label=np.frombuffer(s, np.float32, header.flag))
        s = s[header.flag * 4 :]
    return header, s


def unpack_img(s: bytes, iscolor: int = -1) -> Tuple[IRHeader, Any]:
    """The header and the image of a record, as a NumPy array whose colours are blue, green, red.

    `iscolor`: 1 colours, 0 grey, -1 as the file has it.
    """
    import numpy as np

    header, content = unpack(s)
    flag = int(_has_colours(content)) if iscolor == -1 else iscolor
    from .ndarray import array
    from .ndarray._internal import _cvimdecode

    pixels = _cvimdecode(array(np.frombuffer(content, np.uint8), dtype=np.uint8), flag=flag, to_rgb=False).asnumpy()
    return header, pixels if flag else pixels[:, :, 0]


def _has_colours(content: bytes) -> bool:
    """Whether the file's own pixels have colours: of PNG from its head, of JPEG from its frame."""
    if content[:4] == b"\x89PNG" and len(content) > 25:
        return content[25] not in (0, 4)
    at = 2
    while content[:2] == b"\xff\xd8" and at + 9 < len(content):
        marker, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return content[at + 9] != 1
        at += 2 + length
    return True


def pack_img(header: IRHeader, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """A record out of a header and an image, (height, width, 3) with blue, green, red, or (height, width).

    `quality` is 1 to 100 for ".jpg", and the effort 0 to 9 for ".png", where what is above 9 means 9.
    """
    import numpy as np

    from .ndarray import array

    pixels = img.asnumpy() if hasattr(img, "asnumpy") else np.asarray(img)
    if pixels.ndim == 3 and pixels.shape[2] == 3:
        pixels = pixels[:, :, ::-1]
    image: NDArray = array(np.ascontiguousarray(pixels), dtype=pixels.dtype)
    img_fmt = img_fmt.lower()
    return pack(header, _core.encode_image(image, img_fmt, min(quality, 9) if img_fmt == ".png" else quality))

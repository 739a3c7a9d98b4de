# SPDX-License-Identifier: Apache-2.0
"""Texts of Wikipedia as sequences of words: each sample is a sequence, its label the same one word later."""

from __future__ import annotations

import collections
import os
import zipfile
from typing import Any, List, Optional, Tuple

import numpy as np

from .... import ndarray
from ...data import dataset

__all__ = ["WikiText103", "WikiText2"]

_END = "<eos>"


class _WikiText(dataset._DownloadedDataset):
    """`vocabulary` is that of the words, `frequencies` counts them."""

    _archive = ""
    _folder = ""

    def __init__(self, root: Any, segment: str, vocab: Any, seq_len: int) -> None:
        if segment not in ("train", "validation", "test"):
            raise ValueError(f"given segment {segment!r}, expected 'train', 'validation' or 'test'")
        self._segment = {"validation": "valid"}.get(segment, segment)
        self._vocab = vocab
        self._counter: Optional[collections.Counter] = None
        self._seq_len = seq_len
        super().__init__(root, None)

    @property
    def vocabulary(self) -> Any:
        """The vocabulary of the words."""
        return self._vocab

    @property
    def frequencies(self) -> Any:
        """How often each word comes; of a text that made its own vocabulary."""
        return self._counter

    def _words(self) -> List[str]:
        name = f"wiki.{self._segment}.tokens"
        path = os.path.join(self._root, name)
        if os.path.exists(path):
            with open(path, encoding="utf8") as file:
                text = file.read()
        else:
            with zipfile.ZipFile(self._file(self._folder, self._archive)) as archive:
                inside = [entry for entry in archive.namelist() if os.path.basename(entry) == name]
                if not inside:
                    raise ValueError(f"given {archive.filename!r}, which has no {name}")
                text = archive.read(inside[0]).decode("utf8")
        words: List[str] = []
        for line in text.splitlines():
            if line.split():
                words += [*line.split(), _END]
        return words

    def _numbers(self, words: List[str]) -> Tuple[np.ndarray, np.ndarray]:
        from ....contrib import text

        if self._vocab is None:
            self._counter = collections.Counter(words)
            self._vocab = text.vocab.Vocabulary(self._counter, reserved_tokens=[_END])
        numbers = np.array(self._vocab.to_indices(words), dtype=np.int32)
        return numbers[:-1], numbers[1:]

    def _get_data(self) -> None:
        data, label = self._numbers(self._words())
        count = len(data) // self._seq_len * self._seq_len
        self._data = ndarray.array(data[:count].reshape(-1, self._seq_len), dtype=np.int32)
        self._label = ndarray.array(label[:count].reshape(-1, self._seq_len), dtype=np.int32)


class WikiText2(_WikiText):
    """The small collection of articles, two million words."""

    _archive = "wikitext-2-v1.zip"
    _folder = "wikitext-2"

    def __init__(
        self,
        root: Any = os.path.join("~", ".mxnet", "datasets", "wikitext-2"),
        segment: str = "train",
        vocab: Any = None,
        seq_len: int = 35,
    ) -> None:
        super().__init__(root, segment, vocab, seq_len)


class WikiText103(_WikiText):
    """The large collection of articles, a hundred million words."""

    _archive = "wikitext-103-v1.zip"
    _folder = "wikitext-103"

    def __init__(
        self,
        root: Any = os.path.join("~", ".mxnet", "datasets", "wikitext-103"),
        segment: str = "train",
        vocab: Any = None,
        seq_len: int = 35,
    ) -> None:
        super().__init__(root, segment, vocab, seq_len)

# SPDX-License-Identifier: Apache-2.0
"""Sentences as numbers, in batches of sentences of about the same length."""

from __future__ import annotations

import bisect
import logging
import random
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from .. import ndarray as nd
from ..io import DataBatch, DataDesc, DataIter

__all__ = ["BucketSentenceIter", "encode_sentences"]


def encode_sentences(
    sentences: List[List[str]],
    vocab: Optional[Dict[str, int]] = None,
    invalid_label: int = -1,
    invalid_key: str = "\n",
    start_label: int = 0,
    unknown_token: Optional[str] = None,
) -> Tuple[List[List[int]], Dict[str, int]]:
    """Words as numbers, and the numbers by word.

    Without `vocab` every new word gets the next number from `start_label` on, but not `invalid_label`. With it, words
    that it lacks stand for `unknown_token`.
    """
    new_vocab = vocab is None
    known = {invalid_key: invalid_label} if vocab is None else vocab
    following = start_label
    encoded = []
    for sentence in sentences:
        numbers = []
        for word in sentence:
            if word not in known:
                if not new_vocab and unknown_token is None:
                    raise ValueError(f"given the word {word!r}, expected one of the vocabulary, or an unknown_token")
                word = unknown_token if unknown_token else word
            if word not in known:
                if following == invalid_label:
                    following += 1
                known[word] = following
                following += 1
            numbers.append(known[word])
        encoded.append(numbers)
    return encoded, known


class BucketSentenceIter(DataIter):
    """Batches of sentences that are filled up to the length of their bucket with `invalid_label`.

    A label is the sentence one step later. Without `buckets` there is one for each length of which there are enough
    sentences for a batch.
    """

    def __init__(
        self,
        sentences: List[List[int]],
        batch_size: int,
        buckets: Optional[List[int]] = None,
        invalid_label: int = -1,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: str = "float32",
        layout: str = "NT",
    ) -> None:
        super().__init__()
        if layout not in ("NT", "TN"):
            raise ValueError(f"given layout {layout!r}, expected 'NT' or 'TN'")
        if not buckets:
            counts = np.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(counts) if count >= batch_size]
        buckets = sorted(buckets)
        rows: List[List[np.ndarray]] = [[] for _ in buckets]
        discarded = 0
        for sentence in sentences:
            place = bisect.bisect_left(buckets, len(sentence))
            if place == len(buckets):
                discarded += 1
                continue
            row = np.full((buckets[place],), invalid_label, dtype=dtype)
            row[: len(sentence)] = sentence
            rows[place].append(row)
        if discarded:
            logging.warning("discarded %d sentences longer than the largest bucket.", discarded)
        kept = [i for i, bucket in enumerate(rows) if bucket]
        self.buckets = [buckets[i] for i in kept]
        self.data = [np.asarray(rows[i], dtype=dtype) for i in kept]
        if not self.buckets:
            raise ValueError(f"given {len(sentences)} sentences, expected some that fit into a bucket")
        self.batch_size = batch_size
        self.data_name = data_name
        self.label_name = label_name
        self.dtype = dtype
        self.invalid_label = invalid_label
        self.nddata: List[Any] = []
        self.ndlabel: List[Any] = []
        self.major_axis = layout.find("N")
        self.layout = layout
        self.default_bucket_key = max(self.buckets)
        self.provide_data = [self._description(data_name, self.default_bucket_key)]
        self.provide_label = [self._description(label_name, self.default_bucket_key)]
        self.idx = [(i, j) for i, bucket in enumerate(self.data) for j in range(0, len(bucket) - batch_size + 1, batch_size)]
        self.curr_idx = 0
        self.reset()

    def _description(self, name: str, length: int) -> DataDesc:
        shape = (self.batch_size, length) if self.major_axis == 0 else (length, self.batch_size)
        return DataDesc(name, shape, layout=self.layout)

    def reset(self) -> None:
        """Shuffles the batches and the sentences of each bucket, and goes back to the first batch."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        for bucket in self.data:
            np.random.shuffle(bucket)
        self.nddata = []
        self.ndlabel = []
        for bucket in self.data:
            label = np.empty_like(bucket)
            label[:, :-1] = bucket[:, 1:]
            label[:, -1] = self.invalid_label
            self.nddata.append(nd.array(bucket, dtype=self.dtype))
            self.ndlabel.append(nd.array(label, dtype=self.dtype))

    def next(self) -> DataBatch:
        """Returns the next batch, of the sentences of one bucket; its `bucket_key` is their length."""
        if self.curr_idx == len(self.idx):
            raise StopIteration
        place, first = self.idx[self.curr_idx]
        self.curr_idx += 1
        part = slice(first, first + self.batch_size)
        data, label = self.nddata[place][part], self.ndlabel[place][part]
        if self.major_axis == 1:
            data, label = data.T, label.T
        length = self.buckets[place]
        return DataBatch(
            [data],
            [label],
            pad=0,
            bucket_key=length,
            provide_data=[self._description(self.data_name, length)],
            provide_label=[self._description(self.label_name, length)],
        )

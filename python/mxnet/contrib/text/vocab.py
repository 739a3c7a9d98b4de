# SPDX-License-Identifier: Apache-2.0
"""Words by number."""

from __future__ import annotations

import collections
from typing import Any, Dict, List, Optional

__all__ = ["Vocabulary"]


class Vocabulary:
    """Numbers of words: the unknown word is 0, reserved ones follow, then those of a counter by frequency.

    Words of one frequency are in alphabetical order. `most_freq_count` limits the counter's words, and those
    below `min_freq` are left out.
    """

    def __init__(
        self,
        counter: Optional[collections.Counter] = None,
        most_freq_count: Optional[int] = None,
        min_freq: int = 1,
        unknown_token: Any = "<unk>",
        reserved_tokens: Optional[List[Any]] = None,
    ) -> None:
        if min_freq < 1:
            raise ValueError(f"given min_freq {min_freq}, expected at least 1")
        reserved = list(reserved_tokens or [])
        if unknown_token in reserved or len(set(reserved)) != len(reserved):
            raise ValueError(f"given reserved_tokens {reserved}, expected different ones without {unknown_token!r}")
        self._unknown_token = unknown_token
        self._reserved_tokens = reserved if reserved_tokens is not None else None
        self._idx_to_token: List[Any] = [unknown_token, *reserved]
        if counter is not None:
            if not isinstance(counter, collections.Counter):
                raise TypeError(f"given a counter of type {type(counter).__name__}, expected collections.Counter")
            known = set(self._idx_to_token)
            ordered = sorted(sorted(counter.items(), key=lambda item: item[0]), key=lambda item: item[1], reverse=True)
            words = [word for word, count in ordered if count >= min_freq and word not in known]
            self._idx_to_token += words if most_freq_count is None else words[:most_freq_count]
        self._token_to_idx: Dict[Any, int] = {word: i for i, word in enumerate(self._idx_to_token)}

    def __len__(self) -> int:
        return len(self._idx_to_token)

    @property
    def token_to_idx(self) -> Dict[Any, int]:
        """Numbers by word."""
        return self._token_to_idx

    @property
    def idx_to_token(self) -> List[Any]:
        """Words by number."""
        return self._idx_to_token

    @property
    def unknown_token(self) -> Any:
        """The word that stands for all unknown ones."""
        return self._unknown_token

    @property
    def reserved_tokens(self) -> Optional[List[Any]]:
        """Words that are there whatever the counter says."""
        return self._reserved_tokens

    def to_indices(self, tokens: Any) -> Any:
        """The number of a word, or those of a list; 0 for unknown ones."""
        if isinstance(tokens, list):
            return [self._token_to_idx.get(word, 0) for word in tokens]
        return self._token_to_idx.get(tokens, 0)

    def to_tokens(self, indices: Any) -> Any:
        """The word of a number, or those of a list."""
        found = []
        for i in indices if isinstance(indices, list) else [indices]:
            if not isinstance(i, int) or not 0 <= i < len(self._idx_to_token):
                raise ValueError(f"given number {i!r}, expected one below {len(self._idx_to_token)}")
            found.append(self._idx_to_token[i])
        return found if isinstance(indices, list) else found[0]

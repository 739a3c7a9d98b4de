# SPDX-License-Identifier: Apache-2.0
"""Counts of words."""

from __future__ import annotations

import collections
import re
from typing import Any, Optional

__all__ = ["count_tokens_from_str"]


def count_tokens_from_str(
    source_str: str,
    token_delim: str = " ",
    seq_delim: str = "\n",
    to_lower: bool = False,
    counter_to_update: Optional[collections.Counter] = None,
) -> Any:
    """How often each word occurs in a text; delimiters may be of several characters."""
    words = [word for word in re.split(f"{re.escape(token_delim)}|{re.escape(seq_delim)}", source_str) if word]
    if to_lower:
        words = [word.lower() for word in words]
    counter = collections.Counter() if counter_to_update is None else counter_to_update
    counter.update(words)
    return counter

# SPDX-License-Identifier: Apache-2.0
"""Words: counts, vocabularies, embeddings."""

from . import embedding, utils, vocab

__all__ = ["embedding", "utils", "vocab"]

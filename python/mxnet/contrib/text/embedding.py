# SPDX-License-Identifier: Apache-2.0
"""Vectors of words, from text files with a word and its numbers in each line."""

from __future__ import annotations

import logging
import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ... import ndarray as nd
from ... import registry
from .vocab import Vocabulary

__all__ = ["CompositeEmbedding", "CustomEmbedding", "FastText", "GloVe", "create", "get_pretrained_file_names", "register"]


def _lines_of_vectors(path: str, elem_delim: str, encoding: str) -> Iterator[Tuple[str, str, List[float]]]:
    """Where a line stands (for messages), its word and its numbers."""
    number = 0
    with open(path, encoding=encoding) as file:
        try:
            for number, line in enumerate(file, 1):
                place = f"{path}, line {number}"
                fields = line.rstrip().split(elem_delim)
                if len(fields) <= 1:
                    raise ValueError(f"{place}: given {line.rstrip()!r}, expected a word and numbers")
                try:
                    values = [float(field) for field in fields[1:]]
                except ValueError as error:
                    raise ValueError(f"{place}: given {line.rstrip()!r}, expected numbers behind the word") from error
                yield place, fields[0], values
        except UnicodeDecodeError as error:  # somewhere in what was read ahead
            raise ValueError(f"{path}: given no text of {encoding} behind line {number} ({error}), expected words and numbers") from error


class _TokenEmbedding(Vocabulary):
    """The base: a vocabulary whose words have vectors. Number 0, of unknown words, has one too."""

    pretrained_archive_name_sha1: Dict[str, Any] = {}
    pretrained_file_name_sha1: Dict[str, str] = {}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._vec_len = 0
        self._idx_to_vec: Any = None

    @property
    def vec_len(self) -> int:
        """The length of a vector."""
        return self._vec_len

    @property
    def idx_to_vec(self) -> Any:
        """The vectors by number, as one array."""
        return self._idx_to_vec

    def _load_embedding(self, path: str, elem_delim: str, init_unknown_vec: Callable[..., Any], encoding: str = "utf8") -> None:
        path = os.path.expanduser(path)
        if not os.path.isfile(path):
            raise ValueError(f"there is no file {path}, expected one with words and their vectors")
        vectors: List[List[float]] = []
        unknown: Optional[List[float]] = None
        words = set()
        for place, word, values in _lines_of_vectors(path, elem_delim, encoding):
            if word == self.unknown_token and unknown is None:
                unknown = values
                words.add(word)
            elif word in words:
                logging.warning("%s: the word %s was there before, this vector is skipped", place, word)
            elif len(values) == 1:
                logging.warning("%s: the word %s has one number, likely a header: skipped", place, word)
            elif self._vec_len and len(values) != self._vec_len:
                raise ValueError(f"{place}: given {len(values)} numbers, expected {self._vec_len} as before")
            else:
                self._vec_len = len(values)
                vectors.append(values)
                self._token_to_idx[word] = len(self._idx_to_token)
                self._idx_to_token.append(word)
                words.add(word)
        self._vec_len = self._vec_len or len(unknown or ())
        if self._vec_len == 0:
            raise ValueError(f"{path}: given no vector, expected one or more words with two numbers or more")
        if unknown is not None and len(unknown) != self._vec_len:
            raise ValueError(f"{path}: given {len(unknown)} numbers of {self.unknown_token}, expected {self._vec_len} as of other words")
        first = unknown if unknown is not None else init_unknown_vec(shape=self._vec_len).asnumpy().tolist()
        self._idx_to_vec = nd.array([first, *vectors])

    def _keep(self, vocabulary: Optional[Vocabulary]) -> None:
        """Keeps the vectors of a vocabulary's words only."""
        if vocabulary is None:
            return
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"given a vocabulary of type {type(vocabulary).__name__}, expected Vocabulary")
        self._idx_to_vec = self.get_vecs_by_tokens(vocabulary.idx_to_token)
        self._take_words(vocabulary)

    def _take_words(self, vocabulary: Vocabulary) -> None:
        self._token_to_idx = dict(vocabulary.token_to_idx)
        self._idx_to_token = list(vocabulary.idx_to_token)
        self._unknown_token = vocabulary.unknown_token
        self._reserved_tokens = vocabulary.reserved_tokens

    def get_vecs_by_tokens(self, tokens: Any, lower_case_backup: bool = False) -> Any:
        """The vector of a word, or those of a list; with `lower_case_backup`, of its lower case if it is unknown."""
        words = tokens if isinstance(tokens, list) else [tokens]
        places = []
        for word in words:
            place = self._token_to_idx.get(word)
            if place is None and lower_case_backup:
                place = self._token_to_idx.get(word.lower())
            places.append(0 if place is None else place)
        vectors = nd.Embedding(nd.array(places), self._idx_to_vec, self._idx_to_vec.shape[0], self._vec_len)
        return vectors if isinstance(tokens, list) else vectors[0]

    def update_token_vectors(self, tokens: Any, new_vectors: Any) -> None:
        """Sets the vectors of known words."""
        words = tokens if isinstance(tokens, list) else [tokens]
        if new_vectors.ndim == 1:
            new_vectors = new_vectors.expand_dims(axis=0)
        if new_vectors.shape != (len(words), self._vec_len):
            raise ValueError(f"given vectors of shape {new_vectors.shape}, expected {(len(words), self._vec_len)}")
        for word, vector in zip(words, new_vectors):
            if word not in self._token_to_idx:
                raise ValueError(f"given the word {word!r}, which is unknown; {self.unknown_token!r} is how to name these")
            self._idx_to_vec[self._token_to_idx[word]] = vector


_register = registry.get_register_func(_TokenEmbedding, "token embedding")
_create = registry.get_create_func(_TokenEmbedding, "token embedding")


def register(embedding_cls: type) -> type:
    """Makes a class known to `create`."""
    return _register(embedding_cls)


def create(embedding_name: str, **kwargs: Any) -> Any:
    """An embedding by name: glove, fasttext."""
    return _create(embedding_name, **kwargs)


def get_pretrained_file_names(embedding_name: Optional[str] = None) -> Any:
    """The names of files that an embedding knows, or those of all."""
    known: Dict[str, Any] = registry.get_registry(_TokenEmbedding)
    if embedding_name is not None:
        if embedding_name not in known:
            raise KeyError(f"given embedding {embedding_name!r}, expected one of {', '.join(sorted(known))}")
        return list(known[embedding_name].pretrained_file_name_sha1)
    return {name: list(klass.pretrained_file_name_sha1) for name, klass in known.items()}


class _Pretrained(_TokenEmbedding):
    """Vectors whose files the user has put under `embedding_root`, in a folder with the embedding's name."""

    def __init__(
        self, pretrained_file_name: str, embedding_root: str, init_unknown_vec: Callable[..., Any], vocabulary: Any, **kwargs: Any
    ) -> None:
        known = self.pretrained_file_name_sha1
        if pretrained_file_name not in known:
            raise KeyError(f"given file {pretrained_file_name!r}, expected one of {', '.join(known)}")
        super().__init__(**kwargs)
        path = os.path.join(os.path.expanduser(embedding_root), type(self).__name__.lower(), pretrained_file_name)
        if not os.path.isfile(path):
            raise ValueError(f"there is no {path}: put the file there, it is not fetched")
        self._load_embedding(path, " ", init_unknown_vec)
        self._keep(vocabulary)


@register
class GloVe(_Pretrained):
    """Vectors of the GloVe project."""

    pretrained_file_name_sha1 = dict.fromkeys(
        [
            "glove.42B.300d.txt", "glove.6B.50d.txt", "glove.6B.100d.txt", "glove.6B.200d.txt", "glove.6B.300d.txt",
            "glove.840B.300d.txt", "glove.twitter.27B.25d.txt", "glove.twitter.27B.50d.txt", "glove.twitter.27B.100d.txt",
            "glove.twitter.27B.200d.txt",
        ],
        "",
    )  # fmt: skip

    def __init__(
        self,
        pretrained_file_name: str = "glove.840B.300d.txt",
        embedding_root: str = os.path.join("~", ".mxnet", "embeddings"),
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs)


@register
class FastText(_Pretrained):
    """Vectors of the fastText project."""

    pretrained_file_name_sha1 = dict.fromkeys(["wiki.simple.vec", "wiki.en.vec", "wiki.de.vec", "wiki.fr.vec", "wiki.zh.vec"], "")

    def __init__(
        self,
        pretrained_file_name: str = "wiki.simple.vec",
        embedding_root: str = os.path.join("~", ".mxnet", "embeddings"),
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs)


class CustomEmbedding(_TokenEmbedding):
    """Vectors from a file of the user."""

    def __init__(
        self,
        pretrained_file_path: str,
        elem_delim: str = " ",
        encoding: str = "utf8",
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._load_embedding(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._keep(vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """The words of a vocabulary, with the vectors of several embeddings after one another."""

    def __init__(self, vocabulary: Vocabulary, token_embeddings: Any) -> None:
        super().__init__()
        self._take_words(vocabulary)
        parts = token_embeddings if isinstance(token_embeddings, list) else [token_embeddings]
        for part in parts:
            if not isinstance(part, _TokenEmbedding):
                raise TypeError(f"given {type(part).__name__}, expected token embeddings")
        vectors = [part.get_vecs_by_tokens(self._idx_to_token) for part in parts]
        self._idx_to_vec = nd.concat(*vectors, dim=1)
        self._vec_len = self._idx_to_vec.shape[1]

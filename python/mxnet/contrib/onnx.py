# SPDX-License-Identifier: Apache-2.0
"""Networks as ONNX files: not there yet, and each function says so."""

from __future__ import annotations

from typing import Any, NoReturn

from ..base import MXNetNotImplementedError

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]


def _not_there(what: str) -> NoReturn:
    raise MXNetNotImplementedError(
        f"{what}: given an ONNX file to read or write, expected a network of this library's own format "
        "(-symbol.json and .params): ONNX is not part of this version"
    )


def export_model(*args: Any, **kwargs: Any) -> Any:
    """Writes a network as an ONNX file: not there yet."""
    _not_there("export_model")


def import_model(*args: Any, **kwargs: Any) -> Any:
    """Network and parameters of an ONNX file: not there yet."""
    _not_there("import_model")


def get_model_metadata(*args: Any, **kwargs: Any) -> Any:
    """Inputs and outputs of an ONNX file: not there yet."""
    _not_there("get_model_metadata")


def import_to_gluon(*args: Any, **kwargs: Any) -> Any:
    """An ONNX file as a block: not there yet."""
    _not_there("import_to_gluon")

# SPDX-License-Identifier: Apache-2.0
"""What all makers of networks share: trained parameters on request."""

from __future__ import annotations

from typing import Any

from ..._errors import MismatchError
from ..model_store import get_model_file


class UnknownNetworkError(MismatchError, KeyError):
    """A size or version that a family of networks does not have. Programs for 1.x catch KeyError."""

    __str__ = ValueError.__str__


def with_weights(net: Any, name: str, pretrained: bool, ctx: Any, root: str) -> Any:
    """The network, with the trained parameters of a name if asked for."""
    if pretrained:
        net.load_parameters(get_model_file(name, root=root), ctx=ctx)
    return net


def spec_of(table: Any, key: Any, what: str) -> Any:
    """The row of a table of networks."""
    if key not in table:
        raise UnknownNetworkError(f"given {what} {key}, expected one of {', '.join(map(str, sorted(table)))}")
    return table[key]

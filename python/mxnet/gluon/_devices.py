# SPDX-License-Identifier: Apache-2.0
"""The devices of a parameter: as they are given, and which of them serves a batch."""

from __future__ import annotations

from typing import List, Sequence, Union

from ..context import Context, current_context


def contexts_of(ctx: Union[None, Context, Sequence[Context]]) -> List[Context]:
    """One, several, or the current one."""
    if ctx is None:
        return [current_context()]
    return [ctx] if isinstance(ctx, Context) else list(ctx)


def same_processor(one: Context, other: Context) -> bool:
    """Batches lie in pinned or shared memory too (odd numbers): the parameters on the CPU serve them."""
    return one.device_typeid % 2 == other.device_typeid % 2 == 1 and one.device_id == other.device_id

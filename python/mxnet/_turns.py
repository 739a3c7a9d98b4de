# SPDX-License-Identifier: Apache-2.0
"""Locks for what threads make once: of whole modules, since objects with a lock of their own could not be pickled.

Users name them through this module (`with _turns.files:`): a forked child gets new ones, for a thread of the parent, which the
child has not, may have had the turn.
"""

import os
import threading

files = threading.Lock()  # those of the parent that a child opens anew
parameters = threading.RLock()  # their first arrays and variables; an initializer may run a network


def _begin_anew() -> None:
    global files, parameters
    files, parameters = threading.Lock(), threading.RLock()


os.register_at_fork(after_in_child=_begin_anew)

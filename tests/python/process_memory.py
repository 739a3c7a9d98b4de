# SPDX-License-Identifier: Apache-2.0
"""What this process holds, as the system counts it."""

import os


def resident() -> int:
    """Bytes that lie in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

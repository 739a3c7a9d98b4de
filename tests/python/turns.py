# SPDX-License-Identifier: Apache-2.0
"""Which of continuous integration's runs of the same tests this is."""

import os

# On the native binding 0, on ctypes 1, on simulated GPUs 2. Tests of random cases draw others in each: together the runs
# see more than they would if they drew the same.
TURN = 2 if os.environ.get("MXNET_SIM_GPUS") else 1 if os.environ.get("MXNET_ENABLE_CYTHON") == "0" else 0

# SPDX-License-Identifier: Apache-2.0
"""Operations that other frameworks' hooks push run as in the 1.9.1 release: what engine_push.py prints with that one's
library (`python engine_push.py .../mxnet/libmxnet.so`, by hand) is what it prints with ours."""

import subprocess
import sys

from c_library import ROOT, library_path

RELEASE = """\
in order [[97.0, 41.0, 86.0, 30.0], [29.0, 100.0, 70.0, 40.0], [87.0, 43.0, 100.0, 56.0], [66.0, 62.0, 58.0, 54.0]]
deleted [1]
waited True [1]
without name and deleter 2
an error of the input True
all waited for
all waited for
ran 0 deleted [1]
afterwards 1 [1]
"""


def test_pushed_operations_do_what_they_do_in_the_release():
    program = ROOT / "tests" / "python" / "c_api" / "engine_push.py"
    done = subprocess.run([sys.executable, str(program), library_path()], capture_output=True, text=True, timeout=300)
    assert done.stdout == RELEASE, done.stderr
    assert done.returncode == 0, done.stderr

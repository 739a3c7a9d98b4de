# SPDX-License-Identifier: Apache-2.0
"""Sends the test images of train.py to a C++ server and compares its answers with the predictions of Python.

    python examples/digits/serve.py DIGITS_SERVER OUT

DIGITS_SERVER is the program made of examples/cpp/digits_server.cc, OUT what train.py was given.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np


def main() -> None:
    """Fails if an answer differs."""
    program, out = sys.argv[1:]
    facts = np.load(f"{out}-test.npz")
    lines = "\n".join(" ".join(f"{pixel:g}" for pixel in image.reshape(-1)) for image in facts["images"])
    run = subprocess.run([program, out, "0", "1x1x8x8"], input=lines + "\n", capture_output=True, text=True, check=True)
    answers = [json.loads(line)["digit"] for line in run.stdout.splitlines()]
    if answers != facts["predicted"].tolist():
        raise SystemExit("the C++ server and Python disagree")
    right = float((np.array(answers) == facts["labels"]).mean())
    print(f"the C++ server gives the same {len(answers)} predictions, {right:.2%} of them right")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What checks of the source tree have in common: first they find what is wrong with bad trees, then nothing with ours."""

import argparse
import unittest
from pathlib import Path
from typing import Callable, List, Type


def run(name: str, about: str, bad_trees: Type[unittest.TestCase], check_tree: Callable[[Path], List[str]]) -> int:
    """The program's exit status; `about` is its help."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(bad_trees)
    if not unittest.TextTestRunner(verbosity=0).run(suite).wasSuccessful():
        return 1
    problems = check_tree(root)
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem(s)")
    return 1 if problems else 0

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which files scripts/analyse looks at first: on a throw-away repository whose commits have dates."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # none beside the script
for variable in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[variable]  # of the hook that runs the tests: they name its repository, not a throw-away one
SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "analyse"
HOUR, DAY = 3600, 24 * 3600
START = 1_800_000_000
WHO = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")


class Repository:
    """A folder under git, and the script as it is for that folder."""

    def __init__(self, folder: str) -> None:
        self.root = Path(folder).resolve()
        self.git("init", "-q", "-b", "work")

    def git(self, *words: str, date: int = START) -> str:
        dates = {"GIT_AUTHOR_DATE": f"{date} +0000", "GIT_COMMITTER_DATE": f"{date} +0000"}
        return subprocess.run(
            ["git", *WHO, *words], cwd=self.root, env=os.environ | dates, check=True, capture_output=True, text=True
        ).stdout

    def write(self, **texts: str) -> None:
        """Files of src by their names, with one `_` for the dot."""
        (self.root / "src").mkdir(exist_ok=True)
        for name, text in texts.items():
            (self.root / "src" / name.replace("_", ".")).write_text(text)

    def commit(self, date: int, **texts: str) -> None:
        self.write(**texts)
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "x", date=date)

    def chosen(self) -> tuple:
        """Names of the files that are looked at first, and of the others."""
        loader = importlib.machinery.SourceFileLoader("analyse", str(SCRIPT))
        script = importlib.util.module_from_spec(importlib.util.spec_from_loader("analyse", loader))
        loader.exec_module(script)
        script.ROOT = self.root
        return tuple([file.name for file in part] for part in script.by_change(sorted(self.root.glob("src/*.cc"))))


def repository(test):
    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            test(Repository(folder))

    run.__name__ = test.__name__
    return run


def many(count: int) -> dict:
    return {f"f{i:03}_cc": "" for i in range(count)}


@repository
def test_what_a_day_has_changed_comes_first_the_last_of_it_before_the_rest(tree: Repository) -> None:
    tree.commit(START, **many(4))
    tree.commit(START + 2 * DAY, f001_cc="one")
    tree.commit(START + 2 * DAY + HOUR, f003_cc="three")
    tree.write(f002_cc="not committed")
    first, rest = tree.chosen()
    assert first == ["f002.cc", "f003.cc", "f001.cc"], first
    assert rest == ["f000.cc"], rest


@repository
def test_what_changed_a_day_before_the_last_commit_is_no_more_than_the_rest(tree: Repository) -> None:
    tree.commit(START, **many(3))
    tree.commit(START + HOUR, f001_cc="one")
    tree.commit(START + 2 * DAY, f002_cc="two")
    assert tree.chosen()[0] == ["f002.cc"], tree.chosen()


@repository
def test_of_a_branch_what_differs_from_main(tree: Repository) -> None:
    tree.commit(START, **many(3))
    tree.commit(START + 2 * DAY, f000_cc="landed")
    tree.git("branch", "main")
    tree.commit(START + 2 * DAY + HOUR, f001_cc="one")
    assert tree.chosen()[0] == ["f001.cc"], tree.chosen()


@repository
def test_of_a_history_shorter_than_a_day_the_last_commit(tree: Repository) -> None:
    tree.commit(START, **many(3))
    tree.commit(START + HOUR, f001_cc="one")
    tree.commit(START + 2 * HOUR, f002_cc="two")
    assert tree.chosen()[0] == ["f002.cc"], tree.chosen()


@repository
def test_one_file_shows_what_is_new_in_a_header(tree: Repository) -> None:
    users = {name: '#include "a.h"\n' for name in ("f000_cc", "f001_cc", "f002_cc")}
    tree.commit(START, **many(5), a_h="", b_h="", g_cc='#include "b.h"\n')
    tree.commit(START + HOUR, **users)
    tree.commit(START + 3 * DAY, a_h="new", b_h="new", g_cc='#include "b.h"\nnew')
    first, rest = tree.chosen()
    assert first[0] == "g.cc" and len(first) == 2 and first[1] in ("f000.cc", "f001.cc", "f002.cc"), first
    assert sorted(first + rest) == ["f000.cc", "f001.cc", "f002.cc", "f003.cc", "f004.cc", "g.cc"], rest


@repository
def test_new_checks_concern_every_file(tree: Repository) -> None:
    tree.commit(START, **many(3))
    (tree.root / ".clang-tidy").write_text("Checks: '*'\n")
    tree.commit(START + 2 * DAY)
    first, rest = tree.chosen()
    assert sorted(first) == ["f000.cc", "f001.cc", "f002.cc"] and rest == [], (first, rest)


@repository
def test_commits_every_four_hours_leave_none_out(tree: Repository) -> None:
    """Of 100 files a run that has time for 30 begins where the one before has ended, or earlier; and again is the same."""
    tree.commit(START, **many(100))
    seen = set()
    for turn in range(1, 6):
        tree.commit(START + 2 * DAY + turn * 4 * HOUR)
        first, rest = tree.chosen()
        assert (first, rest) == tree.chosen()
        assert first == [] and len(rest) == 100, (first, len(rest))
        seen.update(rest[:30])
    assert len(seen) == 100, sorted(seen)


@repository
def test_without_a_history_every_file_is_one_of_the_rest(tree: Repository) -> None:
    tree.write(**many(3))
    assert tree.chosen() == ([], ["f000.cc", "f001.cc", "f002.cc"]), tree.chosen()


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)

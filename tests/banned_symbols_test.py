#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves on the objects that only the configuration reads the environment, that nobody writes it, and that no variable of
the library is destroyed while the program ends.

    banned_symbols_test.py BUILD_DIR     checks every object that was compiled from src/ or python/src/

It first checks itself on throw-away objects.

getenv is not safe beside setenv on another thread, and a variable that is read behind the table's back is one that
nobody can list, check or document. Threads may be at work while the program ends, and read what is destroyed then: what is
made once is kept for good (base/leaked.h).
"""
import pathlib
import re
import subprocess
import sys
import tempfile

READERS = {"getenv", "secure_getenv", "environ", "_environ", "__environ"}
WRITERS = {"setenv", "putenv", "unsetenv", "clearenv"}
# base/config_env.cc.o, and config.cc.o should it ever read them itself.
MAY_READ = re.compile(r"base/CMakeFiles/[^/]+/config[a-z_]*\.cc\.o$")
DESTROYS = "__cxa_atexit"
# Of the library, but for base/omp.cc.o: its variable has a destructor that does nothing.
LASTING = re.compile(r"^src/(?!plugin/)(?!base/CMakeFiles/[^/]+/omp\.cc\.o$)")
OURS = re.compile(r"(^|/)(src|python)/.*\.o$")


AT_ONCE = 100  # objects for one nm: to start it takes longer than to read one


def undefined(paths: list[pathlib.Path]) -> dict[pathlib.Path, set[str]]:
    """The names that each object wants from elsewhere, without symbol versions."""
    names = {path: set() for path in paths}
    for first in range(0, len(paths), AT_ONCE):
        command = ["nm", "--undefined-only", "--format=posix", "--print-file-name", *paths[first : first + AT_ONCE]]
        out = subprocess.run(command, check=True, capture_output=True, text=True)
        for line in filter(None, out.stdout.splitlines()):
            path, name = line.split(": ", 1)
            names[pathlib.Path(path)].add(name.split()[0].split("@")[0])
    return names


def violations(build: pathlib.Path) -> tuple[int, list[str]]:
    """How many objects were looked at, and what is wrong with them."""
    wrong = []
    ours = [path for path in sorted(build.rglob("*.o")) if OURS.search(path.relative_to(build).as_posix())]
    for path, names in undefined(ours).items():
        relative = path.relative_to(build).as_posix()
        banned = names & WRITERS
        if not MAY_READ.search(relative):
            banned |= names & READERS
        if LASTING.search(relative):
            banned |= names & {DESTROYS}
        wrong += [f"{relative} uses {name}" for name in sorted(banned)]
    return len(ours), wrong


def self_test() -> None:
    with tempfile.TemporaryDirectory() as folder:
        def compile_to(relative: str, call: str) -> None:
            path = pathlib.Path(folder, relative)
            path.parent.mkdir(parents=True, exist_ok=True)
            code = "#include <stdlib.h>\n#include <unistd.h>\nextern char** environ;\nstruct Freed { ~Freed() { free(p); } void* p; };\n"
            code += f"int f() {{ return {call}; }}\n"
            subprocess.run(["c++", "-x", "c++", "-c", "-o", path, "-"], input=code, text=True, check=True)

        compile_to("src/base/CMakeFiles/mx_base.dir/config_env.cc.o", "environ != nullptr")
        compile_to("src/engine/CMakeFiles/mx_engine.dir/engine.cc.o", "1")
        compile_to("tests/engine/CMakeFiles/engine_test.dir/a.cc.o", 'setenv("a", "b", 1)')
        freed = "[] { static Freed freed; return freed.p != nullptr; }()"
        compile_to("src/base/CMakeFiles/mx_base.dir/omp.cc.o", freed)
        compile_to("src/plugin/mpi/CMakeFiles/mxnet_mpi.dir/plugin.cc.o", freed)
        assert violations(pathlib.Path(folder)) == (4, []), violations(pathlib.Path(folder))
        compile_to("src/engine/CMakeFiles/mx_engine.dir/engine.cc.o", 'getenv("HOME") != nullptr')
        compile_to("src/base/CMakeFiles/mx_base.dir/log.cc.o", "environ != nullptr")
        compile_to("src/base/CMakeFiles/mx_base.dir/config.cc.o", 'setenv("a", "b", 1)')
        compile_to("src/graph/CMakeFiles/mx_graph.dir/order.cc.o", freed)
        count, wrong = violations(pathlib.Path(folder))
        assert count == 7, count
        assert [line.split("/")[-1] for line in wrong] == [
            "config.cc.o uses setenv", "log.cc.o uses environ", "engine.cc.o uses getenv", "order.cc.o uses __cxa_atexit"], wrong


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    self_test()
    count, wrong = violations(pathlib.Path(sys.argv[1]))
    for line in wrong:
        print(f"banned: {line}; {'keep what is made (base/leaked.h)' if DESTROYS in line else 'ask config() instead'}")
    if count == 0:
        print(f"banned symbols: no objects of ours under {sys.argv[1]}")
        return 1
    print(f"banned symbols: {count} objects, {len(wrong)} violations")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

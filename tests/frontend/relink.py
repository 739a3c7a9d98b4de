# SPDX-License-Identifier: Apache-2.0
"""Programs in C and C++ (relink.c, relink.cc) that were linked against the release's library run with ours in its place, and print
and write the same."""
import math
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
TOLERANCE = 1e-3  # of a printed number: other kernels add in another order


def same(ours, theirs):
    """Whether two printed lines are the same but for the last digits of numbers."""
    mine, other = ours.split(), theirs.split()
    if len(mine) != len(other):
        return False
    for a, b in zip(mine, other):
        try:
            if not math.isclose(float(a), float(b), rel_tol=TOLERANCE, abs_tol=TOLERANCE * 1e-2):
                return False
        except ValueError:
            if a != b:
                return False
    return True


# Title, source, variable that may name the compiler, compiler, language.
PROGRAMS = [("a C program", "relink.c", "CC", "cc", "-std=c99"), ("a C++ program", "relink.cc", "CXX", "c++", "-std=c++17")]


def compare_program(title, source, compiler, language, wheel_library, library, build):
    """How many lines and files of one program differ; says which."""
    folder = build / "frontend-relink" / source
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = folder / "program"
    subprocess.run([compiler, language, f"-I{INCLUDE}", str(HERE / source), f"-L{wheel_library.parent}", "-lmxnet",
                    "-Wl,--allow-shlib-undefined", "-o", str(program)], check=True)
    texts, files = [], []
    for name, chosen in (("ours", library), ("theirs", wheel_library)):
        place = folder / name
        place.mkdir()
        environment = {key: text for key, text in os.environ.items() if not key.startswith("MXNET_")}
        environment["LD_LIBRARY_PATH"] = str(chosen.resolve().parent)
        done = subprocess.run([str(program), str(place)], env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            print(f"{title} that was linked with the release ends with {done.returncode} on {chosen}: {done.stderr[-1000:]}")
            return 1
        texts.append(done.stdout.splitlines())
        files.append({path.name: path.read_bytes() for path in sorted(place.iterdir())})
    different = [f"{a!r} instead of {b!r}" for a, b in zip(*texts) if not same(a, b)]
    if len(texts[0]) != len(texts[1]):
        different.append(f"{len(texts[0])} lines instead of {len(texts[1])}")
    different += [f"the file {name} is another one" for name in files[1] if files[0].get(name) != files[1][name]]
    for text in different:
        print(f"relinked {source}: {text}")
    print(f"{title} linked with the release and run with this library: {len(texts[1]) - len(different)} of {len(texts[1])} lines and "
          f"{len(files[1])} files are the same")
    return len(different)


def compare(wheel_library, library, build):
    """How many lines and files of all programs differ."""
    different = 0
    for title, source, variable, usual, language in PROGRAMS:
        compiler = shutil.which(os.environ.get(variable, usual))
        if compiler is None:
            print(f"skipped: there is no compiler for {title}")
        else:
            different += compare_program(title, source, compiler, language, wheel_library, library, build)
    return different

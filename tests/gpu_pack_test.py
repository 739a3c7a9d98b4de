#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/gpu_pack packs, and where that is looked for on another machine."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def brought(said: str) -> subprocess.CompletedProcess:
    """Of these lines of ldd."""
    command = f". {ROOT}/scripts/lib.sh && brought_libraries libx.so"
    return subprocess.run(["bash", "-c", command], input=said, capture_output=True, text=True, check=False)


def test_what_a_machine_with_python_has_stays_at_home() -> None:
    there = "linux-vdso.so.1 (0x1)", "/lib64/ld-linux-x86-64.so.2 (0x1)"
    names = "c.so.6 m.so.6 mvec.so.1 dl.so.2 rt.so.1 pthread.so.0 resolv.so.2 util.so.1 anl.so.1 stdc++.so.6 gcc_s.so.1".split()
    lines = [*there, *(f"lib{name} => /lib/lib{name} (0x1)" for name in names)]
    alone = brought("\n".join(lines))
    assert (alone.returncode, alone.stdout) == (0, ""), alone
    more = brought("\n".join([*lines, "libmagic.so.1 => /usr/lib/libmagic.so.1 (0x1)"]))
    assert (more.returncode, more.stdout) == (0, "libmagic.so.1 /usr/lib/libmagic.so.1\n"), more


def test_a_library_that_is_not_found_is_an_error() -> None:
    result = brought("libm.so.6 => /lib/libm.so.6 (0x1)\nliba.so => not found\nlibb.so => not found")
    assert result.returncode == 1 and result.stdout == "", result
    assert "given libx.so, which needs liba.so libb.so, expected" in result.stderr, result.stderr


def test_a_library_is_found_for_those_that_are_needed_too() -> None:
    """a needs b, which needs c and does not say where it is."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def library(path: pathlib.Path, text: str, *options: str) -> None:
            path.parent.mkdir(exist_ok=True)
            command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path), "-Wl,--enable-new-dtags", *options]
            subprocess.run(command, input=text, text=True, check=True)

        library(folder / "lib" / "libc0.so", "int c(void) { return 7; }")
        library(folder / "lib" / "libb0.so", "int c(void); int b(void) { return c(); }", f"-L{folder}/lib", "-lc0")
        library(
            folder / "a.so", "int b(void); int a(void) { return b(); }", f"-L{folder}/lib", "-lb0", "-Wl,-rpath,$ORIGIN/lib",
            "-Wl,--allow-shlib-undefined",
        )  # fmt: skip
        load = [sys.executable, "-c", f"import ctypes; assert ctypes.CDLL('{folder}/a.so').a() == 7"]
        assert subprocess.run(load, stderr=subprocess.PIPE, check=False).returncode != 0
        subprocess.run([sys.executable, str(ROOT / "scripts" / "rpath_for_all.py"), str(folder / "a.so")], check=True)
        subprocess.run(load, check=True)


if __name__ == "__main__":
    for test in [value for name, value in sorted(globals().items()) if name.startswith("test_")]:
        test()
    print("gpu_pack: 0 problem(s)")

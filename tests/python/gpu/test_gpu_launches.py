# SPDX-License-Identifier: Apache-2.0
"""What scripts/gpu_check has compute-sanitizer watch: that it is all ways to launch, and that its results are right, on a
simulated GPU or with --on-real-gpu on one of this machine."""

import pathlib
import re

import gpu_launches

PROGRAM = pathlib.Path(gpu_launches.__file__)
SOURCES = PROGRAM.parents[3] / "src" / "plugin" / "cuda"


def test_each_way_to_launch_has_its_operators():
    found = set()
    for file in [*SOURCES.rglob("*.cu"), *SOURCES.rglob("*.cuh")]:
        text = file.read_text()
        found |= set(re.findall(r"__global__[^;{]*?(\w+)\(int64_t", text)) | set(re.findall(r"cub::(\w+)::", text))
    assert found == set(gpu_launches.LAUNCHES)


def test_they_compute_what_the_cpu_does(request, run_python):
    env = {} if request.config.getoption("--on-real-gpu") else {"MXNET_SIM_GPUS": "1"}
    child = run_python(f"import runpy; runpy.run_path({str(PROGRAM)!r}, run_name='__main__')", env=env)
    assert child.stdout.strip() == f"{len(gpu_launches.LAUNCHES)} passed", child.stderr

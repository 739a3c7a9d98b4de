# SPDX-License-Identifier: Apache-2.0
"""What the release computes wrongly on CPUs without VNNI, and what it gives on those that have it.

Without these instructions its oneDNN adds products of 8-bit integers two by two in 16 bits, which saturates: networks of
whole numbers are off by a quarter of their largest number there.
"""

# Places of a program's result, and their numbers.
WITH_VNNI = {
    "quantization.quantized_without_calibration": {2: [
        [0.20701152, 0.27339047, 0.26550257, 0.2540954], [0.16441734, 0.20933565, 0.30854028, 0.31770676],
        [0.19650473, 0.28541994, 0.29389957, 0.22417581], [0.15881886, 0.18385486, 0.35267553, 0.30465075],
        [0.13726825, 0.28330669, 0.32557514, 0.25384989], [0.10262612, 0.1713025, 0.39747417, 0.32859725],
        [0.12093583, 0.15624562, 0.37330833, 0.34951016], [0.14115669, 0.16703618, 0.3961792, 0.29562795]]},
    "quantization.quantized_fused_and_calibrated": {1: [
        [0.20780104, 0.27373153, 0.26443562, 0.25403181], [0.16464405, 0.20869116, 0.30835864, 0.31830615],
        [0.19663885, 0.28576028, 0.29372224, 0.22387862], [0.16001169, 0.18534923, 0.35102218, 0.30361688],
        [0.13705778, 0.28313777, 0.32642424, 0.25338021], [0.10236202, 0.17024607, 0.39736915, 0.33002279],
        [0.12143175, 0.15607281, 0.37308756, 0.3494078], [0.14060839, 0.16637334, 0.39630517, 0.29671311]]},
    "seldom.operators_for_graphs_alone": {5: [[[0.76159418, 0.76159418]], [[0.96402758, 0.96402758]]]},
    "tools.networks_of_whole_numbers": {1: True, 2: True},
}


def has_vnni():
    with open("/proc/cpuinfo") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    return "avx512_vnni" in flags or "avx_vnni" in flags


def with_vnni(theirs, np):
    """The release's results as they are on a CPU that has these instructions."""
    if has_vnni():
        return theirs
    mended = dict(theirs)
    for name, places in WITH_VNNI.items():
        if "value" not in theirs[name]:
            continue
        value = list(theirs[name]["value"])
        for place, numbers in places.items():
            is_array = isinstance(value[place], dict)
            value[place] = dict(value[place], array=np.array(numbers, np.float32)) if is_array else numbers
        mended[name] = dict(theirs[name], value=value)
    return mended

# SPDX-License-Identifier: Apache-2.0
"""An array of float32 out of NumPy's views and types, beside NumPy's own copy of them and PyTorch's tensor.

    python benchmarks/python/from_numpy.py [--seconds 0.3]

Microseconds, the shortest call in this process; on one thread with OMP_NUM_THREADS=1. PyTorch, if it is there, is asked for a
contiguous tensor over the same elements, and again for one of float32 where they are of another type.
"""
import argparse
import sys
from pathlib import Path

import numpy as np

import mxnet as mx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from timing import best_of_each  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


def views():
    numbers = np.random.RandomState(0).rand(512, 1024)
    floats, image = numbers.astype("float32"), (np.random.RandomState(1).rand(224, 224, 3) * 255).astype("uint8")
    return {
        "512 x 1024": floats,
        "its transpose": floats.T,
        "backwards": floats[::-1],
        "every second column": floats[:, ::2],
        "of float64": numbers,
        "of float64, its transpose": numbers.T,
        "image of bytes, channels first": image.transpose(2, 0, 1),
        "image of bytes, channels reversed": image[:, :, ::-1],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="time for a call")
    seconds = parser.parse_args().seconds
    print(f"{'':36}{'ours':>8}{'NumPy':>8}{'PyTorch':>9}")
    for name, values in views().items():
        calls = [lambda v=values: mx.nd.array(v).wait_to_read(), lambda v=values: np.array(v, "float32", order="C")]
        assert np.array_equal(mx.nd.array(values).asnumpy(), calls[1]())
        if torch is not None and min(values.strides) >= 0:  # it has no steps backwards
            calls.append(lambda v=values: torch.from_numpy(v).contiguous().to(torch.float32, copy=v.flags.c_contiguous))
        times = best_of_each(calls, seconds)
        print(f"{name:36}" + "".join(f"{time:8.0f}" for time in times))


if __name__ == "__main__":
    main()

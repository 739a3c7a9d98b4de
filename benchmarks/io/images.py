# SPDX-License-Identifier: Apache-2.0
"""Images a second of ImageRecordIter: ours, and in the same run the reference's.

    python benchmarks/io/images.py [--reference /path/to/its/python] [--threads 2] [--images 400]

The reference is a second interpreter that has MXNet 1.9.1 installed; without one only ours is shown.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

CASES = {
    "decode, middle 224": {},
    "resize 256, random part 224, mirror": {"resize": 256, "rand_crop": True, "rand_mirror": True},
    "random area and colours": {
        "random_resized_crop": True, "min_random_area": 0.08, "min_aspect_ratio": 0.75, "max_aspect_ratio": 1.33,
        "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "rand_mirror": True,
    },
}


def measure(path: str, threads: int) -> dict:
    """Images a second by case, in this interpreter."""
    import mxnet as mx

    results = {}
    for name, kwargs in CASES.items():
        iterator = mx.io.ImageRecordIter(
            path_imgrec=path, data_shape=(3, 224, 224), batch_size=32, preprocess_threads=threads, verbose=False, **kwargs
        )
        best = 0.0
        for _ in range(3):
            iterator.reset()
            begin, count = time.perf_counter(), 0
            for batch in iterator:
                batch.data[0].wait_to_read()
                count += 32 - batch.pad
            best = max(best, count / (time.perf_counter() - begin))
        results[name] = best
    return results


def write_images(path: str, count: int) -> None:
    """Photographs by chance: smooth, of 320 x 400 pixels."""
    import numpy as np

    import mxnet as mx

    rng = np.random.RandomState(1)
    with mx.recordio.MXRecordIO(path, "w") as writer:
        for i in range(count):
            coarse = mx.nd.array(rng.randint(0, 255, (20, 25, 3)), dtype="uint8")
            pixels = mx.image.imresize(coarse, 400, 320, interp=2).asnumpy()
            pixels = np.clip(pixels + rng.randint(-9, 9, pixels.shape), 0, 255).astype(np.uint8)
            writer.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, float(i), i, 0), pixels, quality=90))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args.threads)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "images.rec")
        write_images(path, args.images)
        ours, peer = measure(path, args.threads), {}
        if args.reference:
            command = [args.reference, os.path.abspath(__file__), "--measure", path, "--threads", str(args.threads)]
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            peer = json.loads(done.stdout.splitlines()[-1])
    for name, speed in ours.items():
        other = peer.get(name)
        text = f"   reference {other:8.0f}   ratio {speed / other:.2f}" if other else ""
        print(f"{name:40} {speed:8.0f} images/s{text}")


if __name__ == "__main__":
    sys.exit(main())

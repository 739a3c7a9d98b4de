#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes lists of images, and files of records out of them, for ImageRecordIter and its kind.

    im2rec.py --list --recursive PREFIX FOLDER   PREFIX.lst: a line an image, a label a folder
    im2rec.py --resize 256 PREFIX FOLDER         PREFIX.rec and PREFIX.idx, of each PREFIX*.lst

A line of a list is `index TAB label [TAB label ...] TAB path`, the path relative to FOLDER.
"""

import argparse
import os
import random
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor

SEED = 100  # of the order of lists: the same folder gives the same list, as it always did


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", help="of the .lst, .rec and .idx files")
    parser.add_argument("root", help="the folder of the images")

    lists = parser.add_argument_group("lists")
    lists.add_argument("--list", action="store_true", help="make lists; without it records are made of lists")
    lists.add_argument("--exts", nargs="+", default=[".jpeg", ".jpg", ".png"], help="endings of images (default: %(default)s)")
    lists.add_argument("--chunks", type=int, default=1, help="make so many lists (default: %(default)s)")
    lists.add_argument("--train-ratio", type=float, default=1.0, help="share of PREFIX_train.lst (default: %(default)s)")
    lists.add_argument("--test-ratio", type=float, default=0.0, help="share of PREFIX_test.lst; PREFIX_val.lst has the rest")
    lists.add_argument("--recursive", action="store_true", help="folders within, each with a label of its own")
    lists.add_argument("--no-shuffle", dest="shuffle", action="store_false", help="in the order of the paths")

    records = parser.add_argument_group("records")
    records.add_argument("--pass-through", action="store_true", help="the files as they are, not decoded")
    records.add_argument("--resize", type=int, default=0, help="pixels of the shorter edge (default: as they are)")
    records.add_argument("--center-crop", action="store_true", help="the square in the middle, before --resize")
    records.add_argument("--quality", type=int, default=95, help="1 to 100 of JPEG, effort 0 to 9 of PNG (default: %(default)s)")
    records.add_argument("--num-thread", type=int, default=1, help="threads; records keep the list's order (default: %(default)s)")
    records.add_argument("--color", type=int, default=1, choices=[-1, 0, 1], help="1 colours, 0 grey, -1 as the file has it, without alpha")
    records.add_argument("--encoding", default=".jpg", choices=[".jpg", ".png"], help="default: %(default)s")
    records.add_argument("--pack-label", action="store_true", help="all labels of a line, not only its first")

    options = parser.parse_args(arguments)
    if not os.path.isdir(options.root):
        parser.error(f"given {options.root}, expected the folder of the images")
    if options.chunks < 1 or options.num_thread < 1:
        parser.error(f"given {options.chunks} chunks and {options.num_thread} threads, expected at least 1 of each")
    if min(options.train_ratio, options.test_ratio) < 0 or options.train_ratio + options.test_ratio > 1:
        parser.error(f"given the shares {options.train_ratio} and {options.test_ratio}, expected numbers that add up to at most 1")
    return options


def images_below(root, recursive, endings):
    """(path, label) of all images; prints which folder got which label."""
    endings = tuple(ending.lower() for ending in endings)
    if not recursive:
        names = sorted(os.listdir(root))
        return [(name, 0) for name in names if name.lower().endswith(endings) and os.path.isfile(os.path.join(root, name))]
    found = []
    label = 0
    for folder, inner, names in os.walk(root, followlinks=True):
        inner.sort()
        names = sorted(name for name in names if name.lower().endswith(endings))
        if not names:
            continue
        folder = os.path.relpath(folder, root)
        print(folder, label)
        found += [(os.path.normpath(os.path.join(folder, name)), label) for name in names]
        label += 1
    return found


def write_list(path, lines):
    with open(path, "w", encoding="utf-8") as out:
        for index, (image, label) in lines:
            out.write(f"{index}\t{label:f}\t{image}\n")


def make_lists(options):
    lines = list(enumerate(images_below(options.root, options.recursive, options.exts)))
    if options.shuffle:
        random.Random(SEED).shuffle(lines)
    size = -(-len(lines) // options.chunks)
    for number in range(options.chunks):
        chunk = lines[number * size : (number + 1) * size]
        prefix = f"{options.prefix}_{number}" if options.chunks > 1 else options.prefix
        if options.train_ratio == 1:
            write_list(prefix + ".lst", chunk)
            continue
        test = int(len(chunk) * options.test_ratio)
        train = test + int(len(chunk) * options.train_ratio)
        if options.test_ratio:
            write_list(prefix + "_test.lst", chunk[:test])
        write_list(prefix + "_train.lst", chunk[test:train])
        if options.train_ratio + options.test_ratio < 1:
            write_list(prefix + "_val.lst", chunk[train:])


def lines_of(path):
    """(index, labels, image) of each line that is one; says which are not."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            parts = [part.strip() for part in line.strip().split("\t")]
            try:
                index, labels, image = int(parts[0]), [float(part) for part in parts[1:-1]], parts[-1]
                if not labels:
                    raise ValueError(f"{len(parts)} parts")
            except ValueError as fault:
                print(f"{path}:{number}: left out: given {line.strip()!r} ({fault}), expected index TAB labels TAB path", file=sys.stderr)
                continue
            yield index, labels, image


def square(pixels):
    edge = min(pixels.shape[:2])
    top, left = (pixels.shape[0] - edge) // 2, (pixels.shape[1] - edge) // 2
    return pixels[top : top + edge, left : left + edge]


def with_shorter_edge(pixels, edge):
    import mxnet as mx

    height, width = pixels.shape[:2]
    size = (edge, height * edge // width) if height > width else (width * edge // height, edge)
    return mx.image.imresize(mx.nd.array(pixels, dtype=pixels.dtype), *size, interp=1).asnumpy()


def record_of(options, index, labels, image):
    """The bytes of a record; an OSError or ValueError says why there are none."""
    import numpy as np

    import mxnet as mx

    with open(os.path.join(options.root, image), "rb") as file:
        content = file.read()
    many = options.pack_label and len(labels) > 1
    header = mx.recordio.IRHeader(0, np.array(labels, np.float32) if many else labels[0], index, 0)
    if options.pass_through:
        return mx.recordio.pack(header, content)
    if not content:
        raise ValueError("an empty file")
    pixels = mx.recordio.unpack_img(mx.recordio.pack(header, content), options.color)[1]
    if options.center_crop:
        pixels = square(pixels)
    if options.resize:
        pixels = with_shorter_edge(np.atleast_3d(pixels), options.resize)
    return mx.recordio.pack_img(header, pixels.squeeze(2) if pixels.shape[2:] == (1,) else pixels, options.quality, options.encoding)


def in_order(threads, function, items):
    """(item, future) of each item in turn, with a few computed ahead by `threads` threads."""
    with ThreadPoolExecutor(threads) as pool:
        ahead = deque()
        for item in items:
            ahead.append((item, pool.submit(function, *item)))
            if len(ahead) > 4 * threads:
                yield ahead.popleft()
        yield from ahead


def make_records(options, path):
    """PREFIX.rec and PREFIX.idx of a list; what cannot be read is named and left out."""
    import mxnet as mx

    base = os.path.splitext(path)[0]
    written = left_out = 0
    with mx.recordio.MXIndexedRecordIO(base + ".idx", base + ".rec", "w") as out:
        for (index, _, image), record in in_order(options.num_thread, lambda *line: record_of(options, *line), lines_of(path)):
            try:
                out.write_idx(index, record.result())
            except (OSError, ValueError, mx.MXNetError) as fault:
                print(f"{image}: left out: {fault}", file=sys.stderr)
                left_out += 1
                continue
            written += 1
            if written % 1000 == 0:
                print(f"{base}.rec: {written} records")
    print(f"{base}.rec: {written} records" + (f", {left_out} images left out" if left_out else ""))


def main(arguments):
    options = parse(arguments)
    if options.list:
        make_lists(options)
        return 0
    folder, name = os.path.split(os.path.abspath(options.prefix))
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    lists = [os.path.join(folder, found) for found in names if found.startswith(name) and found.endswith(".lst")]
    if not lists:
        print(f"given {options.prefix}, expected the beginning of the name of a .lst file (--list makes one)", file=sys.stderr)
        return 1
    for path in lists:
        make_records(options, path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table out of the log of Module.fit: metrics of training and validation, and seconds, of each epoch."""

import argparse
import re
import sys
from collections import defaultdict

LINE = re.compile(r"Epoch\[(\d+)\] (?:(Train|Validation)-([^=]+)|Time cost)=([-+.\w]+)")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logfile")
    parser.add_argument("--format", default="markdown", choices=["markdown", "none"], help="default: %(default)s")
    parser.add_argument("--metric-names", nargs="+", default=["accuracy"], help="default: %(default)s")
    return parser.parse_args(arguments)


def values_of(log):
    """{epoch: {column: values}}; a metric may be logged several times an epoch."""
    epochs = defaultdict(lambda: defaultdict(list))
    for line in log:
        for epoch, part, metric, value in LINE.findall(line):
            column = "time" if not part else f"{'train' if part == 'Train' else 'val'}-{metric}"
            epochs[int(epoch)][column].append(float(value))
    return epochs


def rows_of(epochs, columns):
    for epoch, values in sorted(epochs.items()):
        means = [sum(values[column]) / len(values[column]) if column in values else float("nan") for column in columns]
        yield [f"{epoch + 1:2d}", *(f"{mean:f}" for mean in means[:-1]), f"{means[-1]:.1f}"]


def main(arguments):
    options = parse(arguments)
    columns = [f"{part}-{metric}" for part in ("train", "val") for metric in options.metric_names] + ["time"]
    with open(options.logfile, encoding="utf-8") as log:
        rows = [["epoch", *columns], *rows_of(values_of(log), columns)]
    if options.format == "markdown":
        rows.insert(1, ["---"] * len(rows[0]))
    for row in rows:
        print(f"| {' | '.join(row)} |" if options.format == "markdown" else "\t".join(row))


if __name__ == "__main__":
    main(sys.argv[1:])

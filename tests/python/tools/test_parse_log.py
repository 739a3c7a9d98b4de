# SPDX-License-Identifier: Apache-2.0
"""tools/parse_log.py: a table out of the log of Module.fit."""

import os
import subprocess
import sys

import pytest

import mxnet as mx

LOG = """\
INFO:root:Epoch[0] Batch [0-20]\tSpeed: 1000.00 samples/sec\taccuracy=0.050000
INFO:root:Epoch[0] Train-accuracy=0.100000
INFO:root:Epoch[0] Train-top_k_accuracy_5=0.500000
INFO:root:Epoch[0] Time cost=12.500
INFO:root:Epoch[0] Validation-accuracy=0.200000
INFO:root:Epoch[1] Train-accuracy=0.300000
INFO:root:Epoch[1] Time cost=2.500
"""


def table(tmp_path, *options):
    path = tmp_path / "log"
    path.write_text(LOG)
    tool = os.path.join(os.path.dirname(mx.test_utils.get_im2rec_path("NO_SUCH_VARIABLE")), "parse_log.py")
    return subprocess.run([sys.executable, tool, str(path), *options], capture_output=True, text=True, check=True, timeout=300).stdout


def test_epochs_are_rows_and_what_was_not_logged_is_nan(tmp_path):
    assert table(tmp_path).splitlines() == [
        "| epoch | train-accuracy | val-accuracy | time |",
        "| --- | --- | --- | --- |",
        "|  1 | 0.100000 | 0.200000 | 12.5 |",
        "|  2 | 0.300000 | nan | 2.5 |",
    ]


@pytest.mark.parametrize("metric, value", [("top_k_accuracy_5", "0.500000"), ("loss", "nan")])
def test_metrics_are_chosen_by_name(tmp_path, metric, value):
    rows = [line.split("\t") for line in table(tmp_path, "--format", "none", "--metric-names", metric).splitlines()]
    assert rows[0] == ["epoch", f"train-{metric}", f"val-{metric}", "time"]
    assert rows[1] == [" 1", value, "nan", "12.5"]

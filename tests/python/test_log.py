# SPDX-License-Identifier: Apache-2.0
"""Loggers of mx.log: what they write where."""

import logging
import re

import mxnet as mx


def test_a_file_holds_the_messages_alone(tmp_path):
    path = tmp_path / "run.log"
    logger = mx.log.get_logger(str(path), str(path), level=mx.log.INFO)
    logger.info("Epoch[%d] Train-accuracy=%f", 0, 0.5)
    logger.debug("no")
    assert mx.log.get_logger(str(path)) is logger and len(logger.handlers) == 1
    mx.log.get_logger(str(path) + " again", str(path), "a").error("failed")
    assert path.read_text() == "Epoch[0] Train-accuracy=0.500000\nfailed\n"
    mx.log.get_logger(str(path) + " anew", str(path), "w").error("failed")
    assert path.read_text() == "failed\n"


def test_lines_on_the_error_stream_begin_with_level_time_process_and_place():
    (handler,) = mx.log.get_logger("a name of this test").handlers
    line = handler.format(logging.LogRecord("", logging.WARNING, "/a/file.py", 3, "batch %d", (7,), None, "fit"))
    assert re.fullmatch(r"(\x1b\[33m)?W\d{4} \d\d:\d\d:\d\d \d+ /a/file\.py:fit:3(\x1b\[0m)?\] batch 7", line)

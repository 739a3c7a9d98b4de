# SPDX-License-Identifier: Apache-2.0
"""A server of a distributed job: `python -m mxnet.kvstore [--import MODULE]`, with DMLC_ROLE=server set by the launcher."""

from __future__ import annotations

import argparse
import importlib

from .kvstore import KVStore
from .kvstore_server import serve


def main() -> None:
    """Serves until the workers have finished."""
    parser = argparse.ArgumentParser(prog="python -m mxnet.kvstore", description=__doc__)
    parser.add_argument(
        "--import", dest="modules", action="append", default=[], metavar="MODULE", help="registers custom optimizers"
    )
    for module in parser.parse_args().modules:
        importlib.import_module(module)
    serve(KVStore._create("dist_async"))


if __name__ == "__main__":
    main()

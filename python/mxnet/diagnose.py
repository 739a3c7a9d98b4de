# SPDX-License-Identifier: Apache-2.0
"""`python -m mxnet.diagnose`: what to send with a question. Versions, features, configuration, a self-check."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

__all__ = ["checks", "report"]


def _versions() -> Dict[str, str]:
    from . import _core, libinfo

    versions = {"Python": sys.version.split()[0], "platform": platform.platform(), "machine": platform.machine()}
    versions["mxnet"] = f"{libinfo.__version__} (ABI {_core.version()})"
    versions["library"] = libinfo.find_lib_path()[0]
    versions["binding"] = "native" if getattr(_core, "__file__", "").endswith(".so") else "ctypes"
    for name in ("numpy", "scipy", "tqdm", "graphviz", "onnx", "safetensors"):
        try:
            versions[name] = importlib.import_module(name).__version__
        except ImportError:
            versions[name] = "not installed"
    return versions


def _expect(array: Any, values: Any) -> None:
    found = array.asnumpy().tolist()
    if found != values:  # no assert: `python -O` leaves those out
        raise ArithmeticError(f"computed {found}, expected {values}")


def _check_arithmetic() -> None:
    from . import nd

    _expect(nd.ones((2, 3)) * 2 + 1, [[3.0] * 3] * 2)


def _check_gradient() -> None:
    from . import autograd, nd

    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    _expect(x.grad, [2.0, 4.0])


def _check_network() -> None:
    from . import cpu, sym

    net = sym.FullyConnected(sym.var("data"), num_hidden=2, no_bias=True, name="fc")
    executor = net.simple_bind(cpu(), data=(1, 3))
    executor.arg_dict["fc_weight"][:] = 1
    _expect(executor.forward(data=_ones(1, 3))[0], [[3.0, 3.0]])


def _ones(*shape: int) -> Any:
    from . import nd

    return nd.ones(shape)


def _check_file() -> None:
    import os
    import tempfile

    from . import nd

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "arrays.params")
        nd.save(path, {"x": _ones(2)})
        _expect(nd.load(path)["x"], [1.0, 1.0])


def _check_gpus() -> None:
    from . import gpu, nd, num_gpus

    for i in range(num_gpus()):
        _expect(nd.ones((2,), ctx=gpu(i)) + 1, [2.0, 2.0])


_CHECKS: Dict[str, Callable[[], None]] = {
    "arithmetic": _check_arithmetic, "gradient": _check_gradient, "network": _check_network, "files": _check_file,
    "GPUs": _check_gpus,
}


def checks() -> List[Tuple[str, str]]:
    """Small programs of every part: names, and "ok" or what went wrong."""
    results = []
    for name, check in _CHECKS.items():
        try:
            check()
            results.append((name, "ok"))
        except Exception as error:  # pylint: disable=broad-except  (it is what is reported)
            results.append((name, f"{type(error).__name__}: {error}"))
    return results


def _section(title: str, rows: Dict[str, Any]) -> str:
    width = max((len(name) for name in rows), default=0)
    return "\n".join([title, *(f"  {name.ljust(width)}  {value}" for name, value in rows.items())])


def report(checked: Optional[List[Tuple[str, str]]] = None) -> str:
    """All of it as text; `checked` is what checks() has given already."""
    from . import config, context, runtime

    free, total = context.cpu_memory_info()
    features = runtime.Features()
    on = [name for name, feature in features.items() if feature.enabled]
    changed = {row["name"]: f"{row['value']} ({row['source']})" for row in config.rows() if row["source"] != "default"}
    return "\n\n".join([
        _section("Versions", _versions()),
        _section("Machine", {
            "GPUs": context.num_gpus(), "memory": f"{free >> 20} of {total >> 20} MiB free",
        }),
        _section("Features", {"on": " ".join(on), "off": " ".join(name for name in features if name not in on)}),
        _section("Configuration that is not the default", changed or {"none": ""}),
        _section("Self-check", dict(checks() if checked is None else checked)),
    ])


def _main() -> int:
    checked = checks()
    try:
        print(report(checked), flush=True)
    except BrokenPipeError:  # whoever reads, `head` for one, has seen enough; the interpreter flushes again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if all(result == "ok" for _, result in checked) else 1


if __name__ == "__main__":
    sys.exit(_main())

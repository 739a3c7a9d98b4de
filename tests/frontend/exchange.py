# SPDX-License-Identifier: Apache-2.0
"""Files from one library to another. A process of its own, with whichever package it finds:

    exchange.py write FOLDER    writes every network of networks.py: symbol, parameters, inputs, outputs; and files of
                                every kind of files.py
    exchange.py read FOLDER     loads them, and prints what is not as it was; the exit status says whether all was
"""
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import files  # noqa: E402
import networks  # noqa: E402

TOLERANCE = 1e-4  # of the largest number: other kernels add in another order


def values(np, seed, name, shape):
    """Numbers that suit an array of this name."""
    rng = np.random.RandomState(seed)
    if name == "data" and shape == (2, 4):  # words
        return rng.randint(0, 11, shape).astype("float32")
    if name.endswith(("_var", "_gamma")):
        return rng.uniform(0.5, 1.5, shape).astype("float32")
    fan = float(np.prod(shape[1:])) if len(shape) > 1 else 4.0
    return (rng.normal(size=shape) * (2 / fan) ** 0.5).astype("float32")


def run(mx, symbol, arguments, states):
    executor = symbol.bind(mx.cpu(), arguments, grad_req="null", aux_states=states)
    return [output.asnumpy() for output in executor.forward(is_train=False)]


def facts_of(symbol):
    return {"outputs": symbol.list_outputs(), "arguments": symbol.list_arguments(), "states": symbol.list_auxiliary_states(),
            "attributes": symbol.attr_dict()}


def write(mx, np, folder):
    for seed, name in enumerate(networks.NAMES):
        symbol, given = networks.build(mx, name)
        shapes, _, state_shapes = symbol.infer_shape(**given)
        arguments = {key: mx.nd.array(values(np, 100 * seed + i, key, shape))
                     for i, (key, shape) in enumerate(zip(symbol.list_arguments(), shapes))}
        states = {key: mx.nd.array(values(np, 100 * seed + 50 + i, key, shape))
                  for i, (key, shape) in enumerate(zip(symbol.list_auxiliary_states(), state_shapes))}
        outputs = run(mx, symbol, arguments, states)
        learnt = {key: value for key, value in arguments.items() if key not in given}
        mx.model.save_checkpoint(str(folder / name), 0, symbol, learnt, states)
        np.savez(folder / f"{name}.npz", **{f"in_{key}": arguments[key].asnumpy() for key in given},
                 **{f"out_{i}": output for i, output in enumerate(outputs)})
        (folder / f"{name}-facts.json").write_text(json.dumps(facts_of(symbol)))


def write_kinds(mx, np, folder):
    for name, kind in files.KINDS.items():
        own = folder / name
        own.mkdir()
        (own / "read.json").write_text(json.dumps(files.described(kind(mx, np, own, True))))


def check_kind(mx, np, folder, name):
    """What is read otherwise than by whoever wrote it, as texts."""
    read = files.described(files.KINDS[name](mx, np, folder / name, False))
    return differences(json.loads(json.dumps(read)), json.loads((folder / name / "read.json").read_text()))


def differences(found, wanted, place=""):
    if isinstance(wanted, dict) and isinstance(found, dict) and found.keys() == wanted.keys():
        return [text for key in wanted for text in differences(found[key], wanted[key], f"{place}.{key}")]
    if isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        return [text for i, pair in enumerate(zip(found, wanted)) for text in differences(*pair, f"{place}[{i}]")]
    if isinstance(wanted, float) and isinstance(found, float):
        same = math.isclose(found, wanted, rel_tol=TOLERANCE, abs_tol=TOLERANCE) or math.isnan(found) and math.isnan(wanted)
        return [] if same else [f"{place}: {found} instead of {wanted}"]
    return [] if found == wanted else [f"{place}: {str(found)[:300]} instead of {str(wanted)[:300]}"]


def check_network(mx, np, folder, name):
    """What is not as it was, as texts."""
    symbol, arguments, states = mx.model.load_checkpoint(str(folder / name), 0)
    stored = np.load(folder / f"{name}.npz")
    given = {key[3:]: stored[key] for key in stored.files if key.startswith("in_")}
    facts = facts_of(symbol)
    stored_facts = json.loads((folder / f"{name}-facts.json").read_text())
    wrong = [f"{key}: {facts[key]} instead of {was}" for key, was in stored_facts.items() if facts[key] != was]
    if symbol.tojson() != (folder / f"{name}-symbol.json").read_text():
        wrong.append("saved again it is another text")
    arguments.update({key: mx.nd.array(value) for key, value in given.items()})
    shapes, _, _ = symbol.infer_shape(**{key: value.shape for key, value in given.items()})
    wrong += [f"{key}: the shape {shape} is inferred instead of {arguments[key].shape}"
              for key, shape in zip(symbol.list_arguments(), shapes) if shape != arguments[key].shape]
    for i, got in enumerate(run(mx, symbol, arguments, states)):
        was = stored[f"out_{i}"]
        if got.shape != was.shape or got.dtype != was.dtype:
            wrong.append(f"output {i}: {got.dtype} {got.shape} instead of {was.dtype} {was.shape}")
        elif not np.allclose(got, was, rtol=0, atol=TOLERANCE * max(float(np.abs(was).max()), 1e-2)):
            wrong.append(f"output {i}: off by {np.abs(got - was).max()}, the largest number is {np.abs(was).max()}")
    return wrong


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    import numpy as np

    import mxnet as mx

    if what == "write":
        folder.mkdir(parents=True, exist_ok=True)
        write(mx, np, folder)
        write_kinds(mx, np, folder)
        return 0
    failed = 0
    for check, names, title in ((check_network, networks.NAMES, "networks"), (check_kind, files.KINDS, "kinds of files")):
        good = 0
        for name in names:
            try:
                wrong = check(mx, np, folder, name)
            except Exception as error:  # what a file makes of its reader is the result
                wrong = [f"{type(error).__name__}: {str(error)[:500]}"]
            good += not wrong
            for text in wrong[:20]:
                print(f"{name}: {text}")
        failed += len(names) - good
        print(f"{good} of {len(names)} {title} are what they were")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

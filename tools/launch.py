#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a distributed job: `launch.py -n 4 [-H hosts] python train.py --kv-store dist_sync`.

Processes are started by OpenMPI (local, ssh, mpi) or by Slurm; they find each other through it. The variables that
scripts read are set as well: DMLC_ROLE, DMLC_NUM_WORKER, DMLC_NUM_SERVER. Ranks are those of MPI.
"""

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--num-workers", required=True, type=int, help="processes that train")
    parser.add_argument(
        "-s",
        "--num-servers",
        type=int,
        help="accepted for scripts of the 1.x line: every worker holds all keys, so none are started",
    )
    parser.add_argument("-H", "--hostfile", help="a file with one host a line; without it, all run here")
    parser.add_argument("--launcher", choices=["local", "ssh", "mpi", "slurm"], help="default: ssh with -H, else local")
    parser.add_argument("--env", action="append", default=[], metavar="NAME:VALUE", help="a variable for all processes")
    parser.add_argument("--env-server", action="append", default=[], help="accepted, see --num-servers")
    parser.add_argument("--env-worker", action="append", default=[], metavar="NAME:VALUE", help="as --env")
    parser.add_argument("--dry-run", action="store_true", help="print the command and leave")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program and its arguments")
    options = parser.parse_args(arguments)
    if options.num_workers < 1:
        parser.error(f"given {options.num_workers} workers, expected at least 1")
    if not options.command:
        parser.error("given no command to start")
    if options.launcher is None:
        options.launcher = "ssh" if options.hostfile else "local"
    if options.launcher == "ssh" and not options.hostfile:
        parser.error("launcher ssh needs the hosts: -H FILE")
    return options


def variables(options):
    """What is set for every process."""
    result = {
        "DMLC_ROLE": "worker",
        "DMLC_NUM_WORKER": str(options.num_workers),
        "DMLC_NUM_SERVER": str(options.num_servers or 0),
    }
    for pair in options.env + options.env_worker:
        name, separator, value = pair.partition(":")
        if not separator:
            sys.exit(f"launch.py: given {pair!r}, expected NAME:VALUE")
        result[name] = value
    return result


# mpirun --enable-recovery forgets how processes end: each leaves its status behind, if it is not 0, where this program
# finds it. On other hosts there is nobody to tell.
KEEP_STATUS = """
"$@" & child=$!
trap 'kill -TERM $child' TERM INT
wait $child; status=$?
while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
[ $status = 0 ] || echo $status > "$LAUNCH_STATUS_FOLDER/$OMPI_COMM_WORLD_RANK" 2>/dev/null
exit $status
"""


def command_line(options, extra):
    """The command that starts all processes."""
    if options.launcher == "slurm":
        return ["srun", "--mpi=pmix", "--ntasks", str(options.num_workers), "--kill-on-bad-exit=0", *options.command]
    command = ["mpirun", "-np", str(options.num_workers)]
    # A process that dies is noticed by the others, who say so; mpirun would kill them before they can.
    command += ["--enable-recovery", "--oversubscribe", "--bind-to", "none"]
    if options.hostfile:
        command += ["--hostfile", options.hostfile]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-run-as-root")
    for name in [*extra, "LAUNCH_STATUS_FOLDER"]:
        command += ["-x", name]
    return [*command, "sh", "-c", KEEP_STATUS, "launch", *options.command]


def main(arguments=None):
    options = parse(arguments)
    extra = variables(options)
    command = command_line(options, extra)
    if options.dry_run:
        print(shlex.join(command))
        return 0
    if shutil.which(command[0]) is None:
        package = "openmpi-bin" if command[0] == "mpirun" else "slurm-client"
        sys.exit(f"launch.py: {command[0]} not found: install it (Debian: {package})")
    with tempfile.TemporaryDirectory() as folder:
        job = subprocess.Popen(command, env={**os.environ, **extra, "LAUNCH_STATUS_FOLDER": folder})
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda which, _: job.send_signal(which))
        status = job.wait()
        failed = sorted(os.listdir(folder), key=int)
        for rank in failed:
            with open(os.path.join(folder, rank)) as file:
                code = int(file.read())
            print(f"launch.py: rank {rank} ended with status {code}", file=sys.stderr)
            status = status or code
    return status


if __name__ == "__main__":
    sys.exit(main())

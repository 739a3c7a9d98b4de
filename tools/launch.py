#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a distributed job: `launch.py -n 4 [-H hosts] python train.py --kv-store dist_sync`.

Processes are started by OpenMPI (local, ssh, mpi) or by Slurm; they find each other through it. The variables that
scripts read are set as well: DMLC_ROLE, DMLC_NUM_WORKER, DMLC_NUM_SERVER. Ranks are those of MPI: workers first, then
servers, which run `python -m mxnet.kvstore`, or, where the command is no Python program, the same command.
"""

import argparse
import ctypes
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
        default=0,
        help="processes that hold keys and run the optimizer: needed by dist_async, possible with all (default: 0)",
    )
    parser.add_argument("-H", "--hostfile", help="a file with one host a line; without it, all run here")
    parser.add_argument("--launcher", choices=["local", "ssh", "mpi", "slurm"], help="default: ssh with -H, else local")
    parser.add_argument("--env", action="append", default=[], metavar="NAME:VALUE", help="a variable for all processes")
    parser.add_argument("--env-server", action="append", default=[], metavar="NAME:VALUE", help="for servers")
    parser.add_argument("--env-worker", action="append", default=[], metavar="NAME:VALUE", help="for workers")
    parser.add_argument(
        "--server-import",
        action="append",
        default=[],
        metavar="MODULE",
        help="servers import it, and run the optimizers that it registers",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the command and leave")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program and its arguments")
    options = parser.parse_args(arguments)
    if options.num_workers < 1:
        parser.error(f"given {options.num_workers} workers, expected at least 1")
    if options.num_servers < 0:
        parser.error(f"given {options.num_servers} servers, expected 0 or more")
    if not options.command:
        parser.error("given no command to start")
    if options.launcher is None:
        options.launcher = "ssh" if options.hostfile else "local"
    if options.launcher == "ssh" and not options.hostfile:
        parser.error("launcher ssh needs the hosts: -H FILE")
    return options


def pairs(given):
    """NAME:VALUE as a dictionary."""
    result = {}
    for pair in given:
        name, separator, value = pair.partition(":")
        if not separator:
            sys.exit(f"launch.py: given {pair!r}, expected NAME:VALUE")
        result[name] = value
    return result


def variables(options):
    """What is set for every process."""
    return {
        "DMLC_ROLE": "worker",
        "DMLC_NUM_WORKER": str(options.num_workers),
        "DMLC_NUM_SERVER": str(options.num_servers),
        **pairs(options.env),
    }


# Runs on every rank: with the variables of its role, the command of workers or, by the rank, of servers.
#
# mpirun --enable-recovery forgets how processes end: each leaves its number, and its status in the end, where this
# program finds it, whole or not at all: mpirun may end before them. On other hosts there is nobody to tell.
START = """
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${SLURM_PROCID:-0}}}
if [ "$rank" -ge "$DMLC_NUM_WORKER" ]; then
  export DMLC_ROLE=server; eval "exec_this() { $2; }"
else
  worker=$1; shift 2; eval "$worker"; exec_this() { exec "$@"; }
fi
exec_this "$@" & child=$!
{ echo $child > "$LAUNCH_STATUS_FOLDER/$rank.process"; } 2>/dev/null
trap 'kill -TERM $child' TERM INT
wait $child; status=$?
while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
said=$LAUNCH_STATUS_FOLDER/$rank
{ echo $status > "$said.new" && mv "$said.new" "$said"; } 2>/dev/null
exit $status
"""


def travels(name):
    """Whether a variable of this shell is set on other hosts too, as it is in processes of this one."""
    return name.startswith(("MXNET_", "DMLC_", "PS_", "OMP_", "KMP_")) or name in ("LD_LIBRARY_PATH", "PYTHONPATH")


def server_command(options):
    """What a server runs."""
    first = options.command[0]
    if not os.path.basename(first).startswith("python"):
        return options.command
    imports = [word for module in options.server_import for word in ("--import", module)]
    return [first, "-m", "mxnet.kvstore", *imports]


def start_words(options):
    """The shell program of a rank, its words for each role, and the workers' command."""
    exports = [
        "".join(f"export {name}={shlex.quote(value)}; " for name, value in pairs(given).items())
        for given in (options.env_worker, options.env_server)
    ]
    return ["sh", "-c", START, "launch", exports[0] + "true", exports[1] + "exec " + shlex.join(server_command(options)), *options.command]


def hosts_in(hostfile):
    """The names in a file for mpirun: the first word of each line."""
    try:
        with open(hostfile) as file:
            words = [line.partition("#")[0].split() for line in file]
    except OSError as error:
        sys.exit(f"launch.py: cannot read the hosts: {error}")
    names = [line[0] for line in words if line]
    if not names:
        sys.exit(f"launch.py: no host in {hostfile}, expected one a line")
    return names


def chooses_transport():
    """Whether the user has told MPI what to send by: in the environment, or in a parameter file of their own."""
    if {"OMPI_MCA_pml", "OMPI_MCA_btl"} & set(os.environ):
        return True
    files = os.environ.get("OMPI_MCA_mca_base_param_files", "~/.openmpi/mca-params.conf")
    for name in files.split(","):
        try:
            with open(os.path.expanduser(name), errors="replace") as file:
                if any(line.partition("=")[0].strip() in ("pml", "btl") for line in file if "=" in line):
                    return True
        except OSError:
            pass  # MPI does without it too
    return False


def command_line(options, extra):
    """The command that starts all processes."""
    count = str(options.num_workers + options.num_servers)
    if options.launcher == "slurm":
        nodes = ["--nodelist", ",".join(hosts_in(options.hostfile))] if options.hostfile else []
        return ["srun", "--mpi=pmix", "--ntasks", count, *nodes, "--kill-on-bad-exit=0", *start_words(options)]
    command = ["mpirun", "-np", count]
    # A process that dies is noticed by the others, who say so; mpirun would kill them before they can.
    command += ["--enable-recovery", "--oversubscribe", "--bind-to", "none"]
    if options.hostfile:
        command += ["--hostfile", options.hostfile]
        extra = [*extra, *(name for name in sorted(os.environ) if travels(name) and name not in extra)]
    elif options.launcher == "local" and not chooses_transport():
        # Nobody from outside: MPI would listen on all addresses, and wait forever for what whoever connects is to say.
        command += ["--mca", "pml", "ob1", "--mca", "btl", "self,vader"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-run-as-root")
    for name in [*extra, "LAUNCH_STATUS_FOLDER"]:
        command += ["-x", name]
    return [*command, *start_words(options)]


def is_stopped(process):
    """Whether a process is there but stands still, by SIGSTOP for example."""
    try:
        with open(process) as file, open(f"/proc/{int(file.read())}/stat") as state:
            return state.read().rpartition(")")[2].split()[0] == "T"
    except (OSError, ValueError, IndexError):
        return False


def waits_forever(folder, count):
    """Of a job on this machine: whether some have ended, and all others stand still, so that they never will."""
    rest = [rank for rank in range(count) if not os.path.exists(os.path.join(folder, str(rank)))]
    return 0 < len(rest) < count and all(is_stopped(os.path.join(folder, f"{rank}.process")) for rank in rest)


def end_with(launcher):
    """Has this process get SIGTERM when the launcher ends, in whatever way: killed, it could tell nobody."""
    PR_SET_PDEATHSIG = 1  # of Linux; elsewhere there is no such call
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != launcher:
            os.kill(os.getpid(), signal.SIGTERM)


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
    folder = tempfile.mkdtemp()
    try:
        launcher = os.getpid()
        job = subprocess.Popen(command, env={**os.environ, **extra, "LAUNCH_STATUS_FOLDER": folder}, preexec_fn=lambda: end_with(launcher))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda which, _: job.send_signal(which))
        status = None
        while status is None:
            try:
                status = job.wait(timeout=1)
            except subprocess.TimeoutExpired:
                if options.launcher == "local" and waits_forever(folder, options.num_workers + options.num_servers):
                    job.terminate()
        for rank in sorted(int(name) for name in os.listdir(folder) if name.isdigit()):
            with open(os.path.join(folder, str(rank))) as file:
                code = int(file.read())
            if code == 0:
                continue
            who = f"rank {rank}" if rank < options.num_workers else f"server {rank - options.num_workers}"
            print(f"launch.py: {who} ended with status {code}", file=sys.stderr)
            status = status or code
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # processes may still write there
    return status


if __name__ == "__main__":
    sys.exit(main())

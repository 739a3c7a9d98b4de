# SPDX-License-Identifier: Apache-2.0
"""What tools/launch.py promises: commands, options, and jobs by other launchers and on several hosts."""

import os
import shutil
import subprocess
import sys

import pytest

from dist_job import LAUNCH, needs_mpi, run

SUM = """
store.init("w", mx.nd.zeros((3,)))
store.push("w", mx.nd.full((3,), rank + 1))
say(pulled("w", (3,)).tolist(), os.environ.get("DMLC_ROLE"), os.environ.get("DMLC_NUM_WORKER"))
"""


@needs_mpi
def test_plain_mpirun_needs_no_launcher(tmp_path):
    # One write a line: two processes share the pipe, and an unbuffered print writes word by word.
    program = (
        "import os, mxnet as mx; store = mx.kv.create('dist_sync'); store._barrier();"
        "os.write(1, f'of {store.num_workers}\\n'.encode())"
    )
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    done = subprocess.run(
        ["mpirun", *root, "--oversubscribe", "-np", "2", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.stdout.count("of 2") == 2, done.stderr


@needs_mpi
def test_processes_of_one_machine_listen_to_nobody():
    # MPI waits forever for the first words of whoever connects.
    lines, done = run(
        2,
        """
        store._barrier()
        mine = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{fd}")}
        listening = []
        for table in ("tcp", "tcp6"):
            with open(f"/proc/self/net/{table}") as file:
                words = [line.split() for line in file][1:]
            listening += [word[1] for word in words if word[3] == "0A" and f"socket:[{word[9]}]" in mine]
        store._barrier()
        say(listening)
        """,
    )
    assert lines == {rank: ["[]"] for rank in range(2)}, done.stderr


@needs_mpi
def test_slurm_starts_as_many_tasks_as_workers_and_servers(tmp_path):
    # An srun that gives what it was told to mpirun.
    srun = tmp_path / "srun"
    srun.write_text(
        """#!/bin/sh
while :; do
  case $1 in
    --ntasks) tasks=$2; shift 2 ;;
    --*) shift ;;
    *) break ;;
  esac
done
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
exec mpirun $root --enable-recovery --oversubscribe --bind-to none -np "$tasks" "$@"
"""
    )
    srun.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    lines, done = run(2, SUM, servers=1, launch=["--launcher", "slurm"], PATH=path)
    assert lines == {rank: ["[3.0, 3.0, 3.0] worker 2"] for rank in range(2)}, done.stderr


# What mpirun starts its daemons by: a host is a network namespace of this name, with a name of its own.
AGENT = """#!/bin/sh
host=$1; shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
"""


# The first three numbers of the hosts' addresses: others may run these tests on this machine at the same time.
NETWORK = f"10.231.{os.getpid() % 250}"


@pytest.fixture
def hosts(tmp_path):
    """Two hosts on a network of their own, with addresses; gone afterwards."""
    if shutil.which("ip") is None or shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need iproute2 and root")
    mark = f"mx{os.getpid() % 10000}"
    names = [f"{mark}h{i}" for i in range(2)]
    commands = [f"ip link add {mark}b type bridge", f"ip addr add {NETWORK}.254/24 dev {mark}b", f"ip link set {mark}b up"]
    for i, name in enumerate(names):
        commands += [
            f"ip netns add {name}",
            f"ip link add {mark}v{i} type veth peer name eth0 netns {name}",
            f"ip link set {mark}v{i} master {mark}b up",
            f"ip -n {name} addr add {NETWORK}.{i + 1}/24 dev eth0",
            f"ip -n {name} link set eth0 up",
            f"ip -n {name} link set lo up",
        ]
    try:
        for command in commands:
            done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"network namespaces are not permitted here: {command}: {done.stderr.strip()}")
        yield names
    finally:
        for command in [*(f"ip netns del {name}" for name in names), f"ip link del {mark}b"]:
            subprocess.run(command.split(), capture_output=True, check=False)


# Where there are servers, they step; else each worker does, by the same sum.
STEP = """
import socket
store.init("w", mx.nd.zeros((3,)))
store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
store._barrier()
store.push("w", mx.nd.full((3,), rank + 1))
pulled("w", (3,))
store._barrier()
say(pulled("w", (3,)).tolist(), os.environ.get("DMLC_ROLE"), os.environ.get("DMLC_NUM_WORKER"))
say(socket.gethostname())
"""


@needs_mpi
@pytest.mark.parametrize(
    "kind, workers, servers",
    [
        ("dist_sync", 3, 1),
        ("dist_device_sync", 4, 0),
        ("dist_sync_device", 2, 2),
        ("dist_async", 3, 1),
        ("p3", 2, 0),
        ("dist_sync_p3", 3, 1),
    ],
)
def test_a_job_on_several_hosts(hosts, tmp_path, kind, workers, servers):
    agent = tmp_path / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    hostfile = tmp_path / "hosts"
    hostfile.write_text("".join(f"{name} slots={(workers + servers + 1) // 2}\n" for name in hosts))
    lines, done = run(
        workers,
        STEP,
        servers=servers,
        launch=["-H", str(hostfile), "--env", f"STORE:{kind}"],
        OMPI_MCA_plm_rsh_agent=str(agent),
        OMPI_MCA_rmaps_base_mapping_policy="node",
        OMPI_MCA_oob_tcp_if_include=f"{NETWORK}.0/24",
        OMPI_MCA_btl_tcp_if_include=f"{NETWORK}.0/24",
    )
    weights = [-float(sum(range(workers + 1)))] * 3
    assert {rank: said[0] for rank, said in lines.items()} == {
        rank: f"{weights} worker {workers}" for rank in range(workers)
    }, done.stderr
    assert {said[1] for said in lines.values()} == set(hosts)


SSHD = shutil.which("sshd") or "/usr/sbin/sshd"


def start_sshd(host, key):
    """The real daemon of secure shell on a host; `key` opens it."""
    config = f"{key}.config"
    settings = {
        "Port": "2022",
        "HostKey": key,
        "AuthorizedKeysFile": f"{key}.pub",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PermitRootLogin": "yes",
    }
    with open(config, "w") as file:
        file.writelines(f"{name} {value}\n" for name, value in settings.items())
    os.makedirs("/run/sshd", exist_ok=True)
    start = f"hostname {host}; exec {SSHD} -D -e -f {config}"
    daemon = subprocess.Popen(["ip", "netns", "exec", host, "unshare", "--uts", "sh", "-c", start], stderr=subprocess.PIPE, text=True)
    listening = daemon.stderr.readline()
    assert "listening" in listening, listening
    return daemon


@needs_mpi
@pytest.mark.skipif(not os.path.exists(SSHD) or shutil.which("ssh") is None, reason="needs openssh-server")
def test_a_job_over_secure_shell(hosts, tmp_path):
    hostfile = tmp_path / "hosts"
    hostfile.write_text("".join(f"{NETWORK}.{i + 1} slots=2\n" for i in range(2)))
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    words = f"-p 2022 -i {key} -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
    daemons = []
    try:
        for host in hosts:
            daemons.append(start_sshd(host, key))
        lines, done = run(
            3,
            SUM + "import socket\nsay(socket.gethostname(), os.environ.get('MXNET_KVSTORE_BIGARRAY_BOUND'))",
            servers=1,
            launch=["-H", str(hostfile), "--launcher", "ssh"],
            MXNET_KVSTORE_BIGARRAY_BOUND="77",
            OMPI_MCA_plm_rsh_args=words,
            OMPI_MCA_oob_tcp_if_include=f"{NETWORK}.0/24",
            OMPI_MCA_btl_tcp_if_include=f"{NETWORK}.0/24",
        )
    finally:
        for daemon in daemons:
            daemon.terminate()
            daemon.wait()
    assert {rank: said[0] for rank, said in lines.items()} == {
        rank: "[6.0, 6.0, 6.0] worker 3" for rank in range(3)
    }, done.stderr
    assert {said[1] for said in lines.values()} == {f"{host} 77" for host in hosts}


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["-n", "2", "a.out", "-x"], ["mpirun", "-np 2", "DMLC_NUM_WORKER", "a.out -x"]),
        (["-n", "2", "-s", "1", "-H", "hosts", "python3", "a.py"], ["-np 3", "--hostfile hosts", "-x OMP_NUM_THREADS", "-m mxnet.kvstore"]),
        (["-n", "3", "-s", "2", "--launcher", "slurm", "a.out"], ["srun", "--ntasks 5"]),
    ],
)
def test_each_launcher_gets_its_own_command(arguments, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    done = subprocess.run([sys.executable, LAUNCH, "--dry-run", *arguments], capture_output=True, text=True, timeout=300)
    for part in expected:
        assert part in done.stdout


def test_a_parameter_file_of_the_user_chooses_what_is_sent_by(tmp_path):
    def command(**variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_MCA_")}
        return subprocess.run(
            [sys.executable, LAUNCH, "--dry-run", "-n", "2", "a.out"],
            env={**clean, "HOME": str(tmp_path), **variables},
            capture_output=True,
            text=True,
            timeout=300,
        ).stdout

    shared_memory = "--mca pml ob1 --mca btl self,vader"
    assert shared_memory in command()
    assert shared_memory not in command(OMPI_MCA_btl="self,tcp")
    file = tmp_path / ".openmpi" / "mca-params.conf"
    file.parent.mkdir()
    file.write_text("# btl = self,tcp\nbtl_tcp_if_include = lo\n")
    assert shared_memory in command()
    file.write_text("# of this machine\n btl= self,tcp\n")
    assert shared_memory not in command()
    other = tmp_path / "other.conf"
    other.write_text("pml = cm\n")
    assert shared_memory in command(OMPI_MCA_mca_base_param_files=str(tmp_path / "none.conf"))
    assert shared_memory not in command(OMPI_MCA_mca_base_param_files=f"{tmp_path}/none.conf,{other}")


def test_hosts_are_given_to_slurm_by_name(tmp_path):
    hostfile = tmp_path / "hosts"
    command = [sys.executable, LAUNCH, "--dry-run", "-n", "4", "--launcher", "slurm", "-H", str(hostfile), "a.out"]
    hostfile.write_text("# two of them\nnode1 slots=2\n\nnode2 slots=2  # the other\n")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert "--ntasks 4 --nodelist node1,node2 " in done.stdout
    hostfile.write_text("# none\n")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "no host in" in done.stderr


@pytest.mark.parametrize("arguments", [["-n", "0", "a.out"], ["-n", "2"], ["-n", "2", "--launcher", "ssh", "a.out"]])
def test_launcher_refuses_what_makes_no_sense(arguments):
    done = subprocess.run([sys.executable, LAUNCH, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "error" in done.stderr

"""A Slurm cluster of this machine alone, with daemons, ports and a directory of its own."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol"]
# More tasks than cores may run at once.
CONFIGURATION = """
ClusterName=attache
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
MinJobAge=3600
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=1000
PartitionName=main Nodes=ALL Default=YES MaxTime=10 State=UP
Include {fragment}
"""


class CannotStart(Exception):
    """The reason that Slurm cannot run here."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    def __init__(self, folder):
        missing = [tool for tool in TOOLS if not shutil.which(tool)]
        if missing:
            raise CannotStart(f"there is no {', '.join(missing)}: make deps-test")
        if os.geteuid() != 0:
            raise CannotStart("only root can start its daemons")
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.node = socket.gethostname().split(".")[0]
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(
            host=self.node, ports=free_ports(2), folder=self.folder,
            fragment=ROOT / "packaging/engines/slurm/slurm.conf"))
        self.environment = {**os.environ, "SLURM_CONF": str(configuration)}
        self.daemons = []
        try:
            self.start("munged", "--foreground", "--force", f"--key-file={key}",
                       f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                       f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed")
            self.start("slurmctld", "-D", "-f", str(configuration))
            self.start("slurmd", "-D", "-f", str(configuration))
            self.wait(lambda: self.run("sinfo", "--noheader", "--format=%T", check=False) == "idle", 30)
        except AssertionError:
            said = "".join(self.log(name)[-400:] for name in ("munged", "slurmctld", "slurmd"))
            self.stop()
            raise CannotStart(f"its node does not become idle: {said.strip()}") from None

    def log(self, name):
        path = self.folder / f"{name}.out"
        return path.read_text() if path.exists() else ""

    def start(self, *words):
        with open(self.folder / f"{words[0]}.out", "w") as log:
            self.daemons.append(subprocess.Popen(words, env=self.environment, stdout=log, stderr=subprocess.STDOUT))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []

    def run(self, *words, check=True, **more):
        environment = {**self.environment, **more.pop("environment", {})}
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment, **more)
        assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    @staticmethod
    def wait(condition, seconds):
        limit = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < limit, f"not within {seconds} s"
            time.sleep(0.1)

    def jobs(self):
        """Each waiting or running job or task of an array, with its state and reason."""
        lines = self.run("squeue", "--noheader", "--array", "--format=%i|%T|%r").splitlines()
        return {number: (state, reason) for number, state, reason in (line.split("|") for line in lines)}

    def finish(self, seconds=120):
        """Waits until no job is left; one that was requeued starts again at once instead of after two minutes."""
        requeued = []

        def is_done():
            jobs = self.jobs()
            for number, (_, reason) in jobs.items():
                if reason == "BeginTime":
                    self.run("scontrol", "update", f"jobid={number}", "StartTime=now", check=False)
                    requeued.append(number)
            return not jobs

        try:
            self.wait(is_done, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.jobs()}") from None
        return requeued

    def states(self, job):
        """The states and exit codes of a job, or of the tasks of an array."""
        shown = self.run("scontrol", "--oneliner", "show", "job", job)
        found = {}
        for line in shown.splitlines():
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            found[fields.get("ArrayTaskId", "")] = (fields["JobState"], fields["ExitCode"], int(fields["Restarts"]))
        return found

"""The scripts of packaging/engines, with stand-ins for attache and the engines' command lines."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path

ENGINES = Path(__file__).resolve().parents[2] / "packaging" / "engines"
# A stand-in notes its arguments, and continues as the test says.
STAND_IN = '#!/bin/sh\necho "$(basename "$0") $*" >>"$LOG"\n'


class StandIns:
    def __init__(self, folder, **scripts):
        self.folder = Path(folder)
        self.log = self.folder / "log"
        for name, script in scripts.items():
            path = self.folder / name
            path.write_text(STAND_IN + script)
            path.chmod(0o755)
        self.environment = {
            **os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "LOG": str(self.log), "ATTACHE_POLL": "0.1",
            "ATTACHE_STEP": str(ENGINES / "step")}

    def run(self, script, *words, **environment):
        done = subprocess.run([ENGINES / script, *words], env={**self.environment, **environment},
                              capture_output=True, text=True, timeout=60)
        return done.returncode

    def calls(self):
        calls = self.log.read_text().splitlines()
        self.log.unlink()
        return calls


def check_step():
    """A step ends with the status of attache, but 3 is 0 and requeues are limited; it forwards a signal."""
    with tempfile.TemporaryDirectory() as folder:
        scene = StandIns(folder, attache="exit $1")
        for given, environment, expected in (
                (0, {}, 0), (3, {}, 0), (1, {}, 1), (4, {}, 4), (7, {}, 7), (6, {}, 6),
                (6, {"SLURM_RESTART_COUNT": "29"}, 6), (6, {"SLURM_RESTART_COUNT": "30"}, 75),
                (137, {"SLURM_RESTART_COUNT": "2", "ATTACHE_RESTARTS": "2"}, 75), (6, {"ATTACHE_RESTARTS": "0"}, 75)):
            status = scene.run("step", str(given), **environment)
            assert status == expected, f"{given} with {environment} becomes {status}"
    with tempfile.TemporaryDirectory() as folder:
        # It finishes its current step, as attache does.
        scene = StandIns(folder, attache="trap 'sleep 0.3; exit 143' TERM\necho ready >&2\nwhile :; do sleep 0.1; done")
        step = subprocess.Popen([ENGINES / "step", "work"], env=scene.environment, stderr=subprocess.PIPE, text=True)
        assert step.stderr.readline() == "ready\n"
        step.send_signal(signal.SIGTERM)
        assert step.wait(10) == 143, step.returncode
        step.stderr.close()


def check_kubernetes():
    """Home writes orders, starts the Job, waits until it has failed, and collects."""
    with tempfile.TemporaryDirectory() as folder:
        scene = StandIns(
            folder, attache='case "$*" in *orders) exit 3 ;; *) exit 6 ;; esac',
            kubectl='case $1 in create) echo job.batch/attache-x ;; *) case $(grep -c "^kubectl get" "$LOG") in\n'
                    '1) exit 1 ;; 2) echo "attache-x " ;; *) echo "attache-x FailureTarget Failed" ;; esac ;; esac')
        status = scene.run("kubernetes/submit", "p.json", "workers.yaml")
        calls = scene.calls()
        assert status == 6, (status, calls)
        assert [call.split(" --ignore")[0] for call in calls] == [
            "attache run p.json --until orders", "kubectl create --filename=workers.yaml --output=name",
            *["kubectl get job.batch/attache-x"] * 3, "attache run p.json --from collect"], calls
        scene = StandIns(folder, attache="exit 4", kubectl="")
        assert scene.run("kubernetes/submit", "p.json", "workers.yaml") == 4
        assert scene.calls() == ["attache run p.json --until orders"]


def check_batch():
    """Home writes orders, submits an array, waits until it has ended, and collects."""
    with tempfile.TemporaryDirectory() as folder:
        scene = StandIns(
            folder, attache="exit 3",
            aws='case $2 in submit-job) echo 1234 ;; *) case $(grep -c describe-jobs "$LOG") in\n'
                '1) echo RUNNING ;; 2) exit 255 ;; *) echo FAILED ;; esac ;; esac')
        status = scene.run("aws-batch/submit", "/etc/attache/visits.json", "7", "nightly")
        calls = scene.calls()
        assert status == 0, (status, calls)
        assert calls[0] == "attache run /etc/attache/visits.json --until orders"
        assert calls[1].startswith(
            "aws batch submit-job --job-name attache-visits --job-definition attache-visits --job-queue nightly "
            "--array-properties size=7 "), calls
        assert '["work", "/etc/attache/visits.json", "--shard", "auto/7"]' in calls[1], calls
        assert len(calls) == 6 and calls[5] == "attache run /etc/attache/visits.json --from collect", calls


CHECKS = [check_step, check_kubernetes, check_batch]

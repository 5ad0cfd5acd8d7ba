#!/usr/bin/env python3
"""Runs third-party clients, unmodified, on a served local org: `run.py ATTACHE SCRATCH`.

They are installed once into SCRATCH. A client that cannot be installed is skipped, and the reason is reported.
"""

import hashlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENTS = {
    "simple-salesforce": "simple_salesforce_client.py",
    "tap-salesforce": "tap_salesforce_client.py",
    "cumulusci": "cumulusci_client.py",
}
NAMES = ("login.salesforce.com", "test.salesforce.com", "local.my.salesforce.com")


def install(scratch):
    """A virtual environment with the clients; returns its Python and the reasons for missing ones."""
    wanted = (HERE / "requirements.txt").read_text() + (HERE / "constraints.txt").read_text()
    place = scratch / ("clients-" + hashlib.sha256(wanted.encode()).hexdigest()[:12])
    python = place / "bin" / "python"
    done = place / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        pip += ["-c", HERE / "constraints.txt"]
        missing = {}
        if subprocess.run([*pip, "-r", HERE / "requirements.txt"], capture_output=True).returncode != 0:
            for line in (HERE / "requirements.txt").read_text().split():
                one = subprocess.run([*pip, line], capture_output=True, text=True)
                if one.returncode != 0:
                    missing[line.split("==")[0]] = one.stderr.strip().splitlines()[-1:]
        if missing:
            return python, missing
        done.touch()
    return python, {}


def entrance():
    """The environment of a served org, with the credentials of its clients."""
    return {
        **os.environ, "ATTACHE_CLIENT_SECRET": secrets.token_hex(8),
        "ATTACHE_USER_PASSWORD": "pass & <word> " + secrets.token_hex(4),
    }


def directions(folder, addresses):
    """The variables by which clients find and trust the served org, and log in."""
    return {
        "ATTACHE_ORG_URL": addresses["url"], "ATTACHE_ORG_PORT": addresses["secureUrl"].rsplit(":", 1)[1],
        "ATTACHE_ADMIN_SECRET": (folder / "org" / "admin-secret").read_text(),
        "ATTACHE_APP_KEY": str(folder / "app.key"), "REQUESTS_CA_BUNDLE": str(folder / "tls" / "ca.pem"),
        "PYTHONPATH": f"{HERE / 'pointing'}:{HERE}", "PYTHONDONTWRITEBYTECODE": "1",
    }


def serve(attache, folder, environment):
    """Starts the org; returns its process and its addresses."""
    key, certificate = folder / "app.key", folder / "app.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=clients",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )
    command = [attache, "org", "serve", "--data", folder / "org", "--tls", folder / "tls", "--json", "--admin"]
    command += ["--passwords", "--app", f"app={certificate}", "--client", "clients=admin@example.com"]
    for name in NAMES:
        command += ["--tls-name", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    line = process.stdout.readline()
    if not line:
        sys.exit("the org did not start")
    return process, json.loads(line)


def main():
    attache, scratch = (Path(word).resolve() for word in sys.argv[1:3])
    python, missing = install(scratch)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = entrance()
        process, addresses = serve(attache, folder, environment)
        try:
            environment.update(directions(folder, addresses))
            for client, script in CLIENTS.items():
                if client in missing:
                    print(f"{client}: skipped, it cannot be installed: {' '.join(missing[client])}", flush=True)
                    counts["skipped"] += 1
                    continue
                start = time.monotonic()
                done = subprocess.run([python, HERE / script], env=environment)
                word = "passed" if done.returncode == 0 else "failed"
                counts[word] += 1
                print(f"{client}: {word} after {time.monotonic() - start:.0f} s", flush=True)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()

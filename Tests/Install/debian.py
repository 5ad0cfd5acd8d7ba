"""A Debian below a directory, as its root and its users see it."""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
from pathlib import Path

# What cron gives its jobs; a service's PATH is wider.
CRON_PATH = "/usr/bin:/bin"


def loopback_up():
    """Brings up the loopback device of a namespace that has nothing else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        name = struct.pack("16sh", b"lo", 0x1 | 0x40)
        fcntl.ioctl(sock, 0x8914, name + b"\0" * 8)


class Debian:
    """The directory, and what runs in it."""

    def __init__(self, root):
        self.root = Path(root)
        self.servers = []
        self.url = None
        for kind, place in (("proc", "proc"), ("tmpfs", "tmp"), ("tmpfs", "run"), ("tmpfs", "dev")):
            (self.root / place).mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", kind, kind, self.root / place], check=True)
        os.chmod(self.root / "tmp", 0o1777)
        for number, name in enumerate(("null", "zero", "full", "random", "urandom")):
            node = self.root / "dev" / name
            node.touch()
            subprocess.run(["mount", "--bind", f"/dev/{name}", node], check=True)
        (self.root / "dev/fd").symlink_to("/proc/self/fd")
        (self.root / "dev/shm").mkdir()
        os.chmod(self.root / "dev/shm", 0o1777)

    def path(self, name):
        """A path of the Debian as the outside sees it."""
        return self.root / name.lstrip("/")

    def write(self, name, text, owner=None, mode=0o644):
        """Writes a file, of a user of the Debian."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        if owner:
            self.run(["chown", owner, name])

    def run(self, command, user=None, status=0, environment=None, directory="/", **more):
        """Runs a command to its end, with nothing of our own environment; answers what it printed."""
        done = subprocess.run(
            self.words(command, user, environment, directory), capture_output=True, text=True,
            stdin=subprocess.DEVNULL, **more)
        said = done.stdout + done.stderr
        statuses = status if isinstance(status, tuple) else (status,)
        assert done.returncode in statuses, f"{command} ended with {done.returncode}:\n{said}"
        return said

    def words(self, command, user=None, environment=None, directory="/"):
        """The words that run a command as a user, root if none is named."""
        home = "/root" if user is None else "/tmp"
        given = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LANG": "C.UTF-8"}
        given.update(environment or {})
        if isinstance(command, str):
            command = ["/bin/sh", "-c", command]
        spec = [f"--userspec={user}"] if user else []
        inner = ["/usr/bin/env", "-i", f"--chdir={directory}", *(f"{k}={v}" for k, v in given.items()), *command]
        return ["chroot", *spec, str(self.root), *inner]

    def serve(self, command, **more):
        """Starts a server; answers the process."""
        process = subprocess.Popen(self.words(command, **more), stdout=subprocess.PIPE, text=True)
        self.servers.append(process)
        return process

    def stop(self):
        """Ends every server."""
        for process in self.servers:
            process.terminate()
            process.wait()
        self.servers = []

    def listing(self):
        """Every file and directory but those of /proc, /dev, /sys, /tmp, /run and of dpkg's own books."""
        left = set()
        for folder, directories, files in os.walk(self.root):
            inside = "/" + os.path.relpath(folder, self.root)
            if inside == "/.":
                directories[:] = [d for d in directories if d not in ("proc", "dev", "sys", "tmp", "run")]
            if inside.startswith(("/var/lib/dpkg", "/var/cache", "/var/log/apt")):
                directories[:] = []
                continue
            left.update(f"{inside}/{name}".replace("/./", "/") for name in directories + files)
        return left

"""A Debian system in a directory, as its root and its users see it."""

import fcntl
import os
import socket
import struct
import subprocess
import time
from pathlib import Path

# The environment that cron gives its jobs; a service's PATH is longer.
CRON_PATH = "/usr/bin:/bin"


def loopback_up():
    """Brings up the loopback device of an otherwise empty network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        name = struct.pack("16sh", b"lo", 0x1 | 0x40)
        fcntl.ioctl(sock, 0x8914, name + b"\0" * 8)


class Debian:
    """The directory, and the processes in it."""

    def __init__(self, root, other=None):
        self.root = Path(root)
        # The root of another machine, without any of our files.
        self.other = other
        self.servers = []
        self.url = None
        # The first process of the booted Debian; None if it cannot be booted.
        self.init = None
        # systemd creates namespaces only below a mount.
        subprocess.run(["mount", "--bind", self.root, self.root], check=True)
        for kind, place in (("proc", "proc"), ("tmpfs", "tmp"), ("tmpfs", "run"), ("tmpfs", "dev")):
            (self.root / place).mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", kind, kind, self.root / place], check=True)
        os.chmod(self.root / "tmp", 0o1777)
        for number, name in enumerate(("null", "zero", "full", "random", "urandom", "tty")):
            node = self.root / "dev" / name
            node.touch()
            subprocess.run(["mount", "--bind", f"/dev/{name}", node], check=True)
        (self.root / "dev/fd").symlink_to("/proc/self/fd")
        (self.root / "dev/pts").mkdir()
        subprocess.run(
            ["mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666", "devpts", self.root / "dev/pts"], check=True)
        (self.root / "dev/ptmx").symlink_to("pts/ptmx")
        (self.root / "dev/shm").mkdir()
        os.chmod(self.root / "dev/shm", 0o1777)

    def another(self):
        """Another machine on the same network, not booted."""
        return Debian(self.other)

    def boot(self):
        """Starts systemd as the first process of a namespace; `init` shows whether it runs."""
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.root / "sys"], check=True)
        self.path("/sys/fs/cgroup").mkdir(parents=True)
        self.path("/tmp/outside").mkdir()
        script = f"""
            mount --make-rprivate / && cd {self.root} && mount -t proc proc proc && mount -t cgroup2 none sys/fs/cgroup &&
            pivot_root . tmp/outside && umount -l /tmp/outside &&
            exec env -i container=lxc TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
              /lib/systemd/systemd --show-status=0 --unit=multi-user.target
        """
        outer = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--cgroup", "--uts", "--ipc", "--fork", "--kill-child", "sh", "-c", script],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.servers.append(outer)
        limit = time.monotonic() + 30
        while time.monotonic() < limit and outer.poll() is None:
            inner = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
            if inner and self.path("/run/systemd/private").exists():
                self.init = inner[0]
                self.run("timeout 30 systemctl is-system-running --wait", status=(0, 1, 124))
                # cron waits for a separate clock.
                self.run("systemctl stop cron")
                return
            time.sleep(0.1)

    def path(self, name):
        """The outside path of a path in the Debian system."""
        return self.root / name.lstrip("/")

    def write(self, name, text, owner=None, mode=0o644):
        """Writes a file owned by a user of the Debian system."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        if owner:
            self.run(["chown", owner, name])

    def run(self, command, user=None, status=0, environment=None, directory="/", **more):
        """Runs a command without our environment and returns its output."""
        done = subprocess.run(
            self.words(command, user, environment, directory), capture_output=True, text=True,
            stdin=subprocess.DEVNULL, **more)
        said = done.stdout + done.stderr
        statuses = status if isinstance(status, tuple) else (status,)
        assert done.returncode in statuses, f"{command} ended with {done.returncode}:\n{said}"
        return said

    def words(self, command, user=None, environment=None, directory="/"):
        """The command line that runs a command as a user, by default root."""
        home = "/root" if user is None else "/tmp"
        given = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LANG": "C.UTF-8"}
        given.update(environment or {})
        if isinstance(command, str):
            command = ["/bin/sh", "-c", command]
        spec = [f"--userspec={user}"] if user else []
        inner = ["/usr/bin/env", "-i", f"--chdir={directory}", *(f"{k}={v}" for k, v in given.items()), *command]
        if self.init:
            # Its root is the namespace's own.
            return ["nsenter", "--target", self.init, "--mount", "--pid", "--cgroup", "chroot", *spec, "/", *inner]
        return ["chroot", *spec, str(self.root), *inner]

    def serve(self, command, **more):
        """Starts a server and returns its process."""
        process = subprocess.Popen(self.words(command, **more), stdout=subprocess.PIPE, text=True)
        self.servers.append(process)
        return process

    def stop(self):
        """Ends every server; child processes end with the namespace."""
        for process in self.servers:
            process.kill()
            process.wait()
        self.servers = []

    def listing(self):
        """Every file and directory except /proc, /dev, /sys, /tmp, /run and dpkg's own files."""
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

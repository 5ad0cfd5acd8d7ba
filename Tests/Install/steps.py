"""The steps of an operator with the package, in order; each builds on the previous ones."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time

from debian import CRON_PATH
from phone import Phone

# The six libraries, and those of every C and C++ program.
LIBRARIES = {
    "libsqlite3.so.0", "libcurl.so.4", "libarchive.so.13", "libz.so.1", "libcrypto.so.3", "libmicrohttpd.so.12",
    "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}
MOST_BYTES = 25_000_000
# The extra time that printing the version may take, compared with an empty C program with the same libraries.
MOST_START = 1.3
PIPELINE = "field-service"
ATTACHE = "attache:attache"
DOCUMENTS = "/usr/share/doc/attache"


class Skipped(Exception):
    """The reason that a step cannot run here."""


def installs(debian, package):
    """The package installs, with dpkg alone."""
    debian.before = debian.listing()
    shutil.copy(package, debian.path("/tmp/attache.deb"))
    debian.run("dpkg -i /tmp/attache.deb")
    assert "attache" in debian.run("getent passwd attache")
    found = debian.run("stat -c '%n %U:%G %a' /etc/attache /var/lib/attache /var/log/attache")
    assert found.split() == (
        "/etc/attache root:attache 770 /var/lib/attache attache:attache 700 /var/log/attache attache:adm 2750".split()
    ), found


def is_as_debian_wants(_, package):
    """lintian has no complaints about the package."""
    if not shutil.which("lintian"):
        raise Skipped("there is no lintian")
    done = subprocess.run(
        ["lintian", "--fail-on", "warning,error", "--allow-root", package], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def stands_alone(debian, _):
    """The program needs six libraries and none of Swift's."""
    program = debian.path("/usr/bin/attache")
    size = program.stat().st_size
    assert size <= MOST_BYTES, f"it has {size} bytes"
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    assert needed <= LIBRARIES, f"it needs {needed - LIBRARIES} too"
    assert "RUNPATH" not in dynamic and "RPATH" not in dynamic, "it looks for libraries in places of its own"
    version = debian.run("attache --version")
    assert re.fullmatch(r"attache \d+\.\d+\.\d+\n", version), version
    print(f"  {size / 1e6:.1f} MB; needs {', '.join(sorted(needed))}")


def quickest(*commands, rounds=100):
    """The shortest time of each command in seconds; the commands take turns."""
    best = [float("inf")] * len(commands)
    with open(os.devnull, "w") as nothing:
        actions = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), 1)]
        for _ in range(rounds):
            for place, command in enumerate(commands):
                start = time.perf_counter()
                child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
                assert os.waitpid(child, 0)[1] == 0, command
                best[place] = min(best[place], time.perf_counter() - start)
    return best


def starts_at_once(debian, _):
    """The program starts almost as fast as an empty C program with the same libraries."""
    if not shutil.which("cc"):
        raise Skipped("there is no C compiler")
    program, empty = str(debian.path("/usr/bin/attache")), str(debian.path("/tmp/empty"))
    libraries = ["sqlite3", "curl", "archive", "z", "crypto", "microhttpd", "stdc++", "m", "gcc_s"]
    subprocess.run(
        ["cc", "-O2", "-x", "c", "-", "-o", empty, "-Wl,--no-as-needed", *(f"-l{name}" for name in libraries)],
        input=b"int main(void) { return 0; }", check=True)
    told, nothing = quickest([program, "--version"], [empty])
    print(f"  {told * 1e3:.1f} ms beside {nothing * 1e3:.1f} ms: {told / nothing:.2f} times")
    assert told <= MOST_START * nothing, f"it takes {told / nothing:.2f} times as long"


def has_pages_and_completions(debian, _):
    """Manual pages and completions are installed, and completions include the names of pipelines."""
    for name in ["attache", "attache-run", "attache-org-serve", "attache-reconcile-undo"]:
        assert debian.path(f"/usr/share/man/man1/{name}.1.gz").is_file(), name
    for name in ["zsh/vendor-completions/_attache", "fish/vendor_completions.d/attache.fish"]:
        assert debian.path("/usr/share/" + name).stat().st_size > 1000, name
    debian.write("/etc/attache/night-of-oslo.json", "{}")
    script = """
      . /usr/share/bash-completion/bash_completion
      _completion_loader attache
      COMP_WORDS=(attache run night) COMP_CWORD=2
      _attache
      echo "${COMPREPLY[*]}"
    """
    said = debian.run(["bash", "-c", script], user=ATTACHE)
    debian.path("/etc/attache/night-of-oslo.json").unlink()
    assert said == "night-of-oslo\n", said


def has_templates_for_engines(debian, _):
    """The templates for engines are installed, and the step runs the program."""
    place = f"{DOCUMENTS}/examples/engines"
    found = debian.run(f"cd {place} && find . -type f -printf '%m %P\\n' | sort").split("\n")
    assert found[:-1] == [
        "644 Containerfile", "644 aws-batch/worker.json", "644 kubernetes/home.yaml", "644 kubernetes/workers.yaml",
        "644 slurm/slurm.conf", "755 aws-batch/submit", "755 kubernetes/submit", "755 slurm/submit"], found
    assert debian.run("/usr/lib/attache/step --version", user=ATTACHE) == debian.run("attache --version")
    debian.run("/usr/lib/attache/step frobnicate", user=ATTACHE, status=2)


def plays_the_demo(debian, _):
    """The demo runs in an empty directory."""
    debian.run("install -d -o attache -g attache /tmp/demo")
    said = debian.run("attache demo", user=ATTACHE, directory="/tmp/demo")
    assert "nothing to the org." in said, said
    debian.run("rm -r /tmp/demo")


def has_an_org(debian, _):
    """An org and its pipeline are set up."""
    debian.run("install -d -o nobody /srv/org")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=field-app",
         "-keyout", debian.path("/etc/attache/jwt.key"), "-out", debian.path("/srv/org.pem")],
        check=True, capture_output=True)
    debian.run("chmod 0600 /etc/attache/jwt.key && chown attache:attache /etc/attache/jwt.key")
    debian.run("attache org seed --data /srv/org/data --scale 1", user="nobody:nogroup")
    server = debian.serve(
        "exec attache org serve --data /srv/org/data --app field-app=/srv/org.pem", user="nobody:nogroup")
    debian.url = server.stdout.readline().strip()
    assert debian.url.startswith("http://"), debian.url


def initialises(debian, place, key, user):
    """Writes a pipeline of the org to a directory, as a user who has the key."""
    said = debian.run(
        f"attache init {PIPELINE} --in {place} --object Account,Contact --user ada@example.com,ben@example.com "
        f"--key-file {key} --client-id field-app --org-url {debian.url}", user=user)
    assert "next:" in said, said
    for check in ["check", "org check"]:
        debian.run(f"attache {check} {place}/{PIPELINE}.json", user=user)


def has_a_pipeline(debian, _):
    """attache init writes a pipeline of the org that passes both checks."""
    initialises(debian, "/etc/attache", "/etc/attache/jwt.key", ATTACHE)
    debian.run(f"attache status {PIPELINE}", user=ATTACHE)


def lines(log):
    """The content of a log in JSON lines."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def summaries(log):
    """The end events of the runs in a log."""
    text = log.read_text() if log.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n") and '"type":"summary"' in line]


def runs_by_cron(debian, _):
    """cron runs both pasted examples, root's and a user's, for three scheduled runs with an advanced clock."""
    examples = debian.path(DOCUMENTS + "/examples")
    debian.write("/etc/cron.d/attache", (examples / "cron.d/attache").read_text())
    debian.run("adduser --quiet --disabled-password --gecos '' night")
    debian.run("install -D -o night -g night -m 0600 /etc/attache/jwt.key /home/night/jwt.key")
    debian.run("install -d -o night -g night /home/night/attache")
    initialises(debian, "/home/night/attache/pipelines", "/home/night/jwt.key", "night:night")
    debian.run(f"crontab -u night {DOCUMENTS}/examples/crontab")
    logs = [debian.path(f"/var/log/attache/{PIPELINE}.jsonl"), debian.path(f"/home/night/attache/{PIPELINE}.jsonl")]
    nights = ["2030-01-31", "2030-02-01", "2030-02-02"]
    library = next(debian.path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    for count, night in enumerate(nights, 1):
        # cron passes none of its own environment to jobs, and requires this file.
        debian.write("/etc/environment", f"LD_PRELOAD=/{library.relative_to(debian.root)}\n"
                     f"FAKETIME=\"@{night} 02:17:00\"\nFAKETIME_DONT_FAKE_MONOTONIC=1\n")
        cron = debian.serve(f"exec faketime -f '@{night} 02:16:57' cron -f 2>/dev/null")
        limit = time.monotonic() + 60
        while time.monotonic() < limit and not all(len(summaries(log)) == count for log in logs):
            time.sleep(0.2)
        debian.run("kill $(cat /run/crond.pid)")
        cron.wait()
    debian.path("/etc/environment").unlink()
    for log in logs:
        ends = summaries(log)
        assert [end.get("status") for end in ends] == [0, 0, 0], ends
        begun = [line["time"][:10] for line in lines(log) if line["type"] == "runStarted"]
        assert begun == nights, begun
    debian.run("logrotate -f /etc/logrotate.d/attache")
    assert logs[0].with_name(logs[0].name + ".1").exists(), "the log was not rotated"
    debian.run("crontab -u night -r && deluser --quiet --remove-home night")


def runs_as_the_unit_says(debian, _):
    """The service's command runs as its user, with its variables."""
    unit = debian.path("/lib/systemd/system/attache@.service").read_text()
    settings = dict(line.split("=", 1) for line in unit.splitlines() if re.match(r"(ExecStart|User|Group)=", line))
    variables = dict(re.findall(r"^Environment=(\w+)=(.*)$", unit, re.M))
    command = settings["ExecStart"].replace("%i", PIPELINE)
    said = debian.run(
        shlex.split(command), user=f"{settings['User']}:{settings['Group']}", environment={**variables, "PATH": CRON_PATH})
    assert "generation" in said or "nothing" in said, said
    status = debian.run(f"attache status {PIPELINE}", user=ATTACHE)
    assert status.count("exit status 0") == 4, status


def units_are_right(debian, _):
    """The units pass systemd-analyze verify."""
    if not shutil.which("systemd-analyze"):
        raise Skipped("there is no systemd-analyze")
    units = [debian.path(f"/lib/systemd/system/attache@.{kind}") for kind in ("service", "timer")]
    for unit in units:
        named = debian.path(f"/tmp/attache@{PIPELINE}{unit.suffix}")
        named.write_text(unit.read_text().replace("/usr/bin/attache", str(debian.path("/usr/bin/attache"))))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", named], capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if "attache" in line]
        assert done.returncode == 0 and not said, done.stderr
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=25", "--no-pager",
         debian.path(f"/tmp/attache@{PIPELINE}.service")],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


def start(debian, unit):
    """Runs a unit to its end; its output is part of a failure's message."""
    try:
        debian.run(f"systemctl start {unit}")
    except AssertionError as error:
        raise AssertionError(f"{error}{debian.run(f'journalctl --no-pager -n 30 -u {unit}')}") from None


def runs_as_a_service(debian, _):
    """systemd runs the service with all its restrictions, and its timer waits for the scheduled time."""
    if not debian.init:
        raise Skipped("systemd cannot be booted here")
    service, timer = f"attache@{PIPELINE}.service", f"attache@{PIPELINE}.timer"
    start(debian, service)
    assert "ExecMainStatus=0" in debian.run(f"systemctl show {service}"), debian.run(f"systemctl status {service}")
    said = debian.run(f"journalctl --no-pager -o cat -u {service}")
    assert "Failed" not in said and "warning" not in said, said
    debian.run(f"systemctl enable --now {timer}")
    assert timer in debian.run("systemctl list-timers --all --no-pager")
    assert debian.run("systemctl start attache@nowhere.service", status=1)
    wakes_by_timer(debian, service, timer)


def wakes_by_timer(debian, service, timer):
    """The timer starts the service at a different hour from a drop-in."""
    def begun():
        return debian.run(f"systemctl show -P ExecMainStartTimestampMonotonic {service}")

    before = begun()
    hour = debian.run("date -u -d '+3 seconds' '+%Y-%m-%d %H:%M:%S UTC'").strip()
    place = f"/etc/systemd/system/{timer}.d"
    debian.write(f"{place}/hour.conf", f"[Timer]\nOnCalendar=\nOnCalendar={hour}\nRandomizedDelaySec=0\nAccuracySec=1s\n")
    debian.run(f"systemctl daemon-reload && systemctl restart {timer}")
    limit = time.monotonic() + 60
    while time.monotonic() < limit and begun() == before:
        time.sleep(0.2)
    while time.monotonic() < limit and "inactive" not in debian.run(f"systemctl show -P ActiveState {service}"):
        time.sleep(0.2)
    assert begun() != before and "ExecMainStatus=0" in debian.run(f"systemctl show {service}"), (
        debian.run(f"journalctl --no-pager -n 30 -u {timer} -u {service}"))
    debian.run(f"rm -r {place} && systemctl daemon-reload && systemctl restart {timer}")
    # As docs/how-to/schedule.md says: a manual start counts as one of four in six hours.
    debian.run(f"systemctl reset-failed {service}", status=(0, 1))


def phone_with(debian, bundle):
    """A phone with an unpacked bundle."""
    inside = "/" + str(bundle.relative_to(debian.root))
    debian.run(["attache", "bundle", "extract", inside, "/tmp/phone"], user=ATTACHE)
    return Phone(next(debian.path("/tmp/phone").rglob("store.sqlite")))


def hands_back(debian, phone):
    """The phone's return is placed where attache may read it."""
    shutil.copy(phone.hand_back(), debian.path("/tmp/return.sqlite"))
    debian.run("chown attache:attache /tmp/return.sqlite")


def takes_a_return(debian, _):
    """A phone's return reaches the org in the next run, and only once."""
    bundle = next(debian.path(f"/var/lib/attache/{PIPELINE}/users").glob("*/1/ios.bundle.zip"))
    phone = phone_with(debian, bundle)
    phone.edit("Contact", "Title", "Facility manager")
    hands_back(debian, phone)
    debian.run(f"attache ingest {PIPELINE} /tmp/return.sqlite", user=ATTACHE)
    said = debian.run(f"attache run {PIPELINE}", user=ATTACHE)
    assert "1  updated" in said, said
    debian.run(f"attache ingest {PIPELINE} /tmp/return.sqlite", user=ATTACHE)
    said = debian.run(f"attache run {PIPELINE}", user=ATTACHE)
    assert "updated" not in said, said
    debian.run("rm -r /tmp/phone /tmp/return.sqlite")


def leaves_a_decision(debian, _):
    """Changes that the org rejects wait for a decision, and the service does not report them as a failure."""
    bundle = sorted(debian.path(f"/var/lib/attache/{PIPELINE}/users").glob("*/*/ios.bundle.zip"))[-1]
    phone = phone_with(debian, bundle)
    phone.edit("Contact", "Title", "M" * 200)
    hands_back(debian, phone)
    debian.run(f"attache ingest {PIPELINE} /tmp/return.sqlite", user=ATTACHE, status=(0, 3))
    if debian.init:
        start(debian, f"attache@{PIPELINE}.service")
        shown = debian.run(f"systemctl show attache@{PIPELINE}.service")
        assert "ExecMainStatus=3" in shown and "ActiveState=inactive" in shown, shown
    debian.run(f"attache run {PIPELINE}", user=ATTACHE, status=3)
    listed = debian.run(f"attache decide {PIPELINE} --list", user=ATTACHE)
    number = re.search(r"edit (\d+)", listed)
    assert number, listed
    debian.run(f"attache decide {PIPELINE} {number[1]} --discard --now", user=ATTACHE)
    status = debian.run(f"attache status {PIPELINE}", user=ATTACHE)
    assert "open edits: 0" in status, status
    debian.run("rm -r /tmp/phone /tmp/return.sqlite")


def prunes(debian, _):
    """prune: data beyond the limits of `keep` is removed."""
    foretold = debian.run(f"attache prune {PIPELINE} --dry-run", user=ATTACHE)
    done = debian.run(f"attache prune {PIPELINE}", user=ATTACHE)
    foretold = foretold.replace("would be removed", "removed").replace("dry run: nothing was removed\n", "")
    assert foretold == done, (foretold, done)
    again = debian.run(f"attache prune {PIPELINE}", user=ATTACHE)
    assert "there is nothing to remove" in again, again
    debian.run(f"attache run {PIPELINE}", user=ATTACHE)


def backs_up(debian, _):
    """backup: all state that cannot be rebuilt is written to a directory."""
    debian.run("install -d -o attache -g attache -m 0700 /srv/backups")
    said = debian.run(f"attache backup {PIPELINE} /srv/backups", user=ATTACHE)
    file = said.split(": ")[0]
    assert debian.run(["stat", "-c", "%U:%G %a", file]).split() == [ATTACHE, "600"], said
    listed = subprocess.run(
        ["tar", "--zstd", "-tf", debian.path(file)], check=True, capture_output=True, text=True).stdout
    assert "data/state.sqlite" in listed and f"configuration/{PIPELINE}.json" in listed, listed
    assert "jwt.key" not in listed and "bundle." not in listed, listed
    debian.backup = file


def recovers(debian, _):
    """recover: a machine with only the backup resumes the runs, and nothing is sent twice."""
    data = debian.path(f"/var/lib/attache/{PIPELINE}")
    bundle = sorted(data.glob("users/*/*/ios.bundle.zip"))[-1]
    phone = phone_with(debian, bundle)
    phone.edit("Contact", "Title", "Lost and found")
    hands_back(debian, phone)
    debian.run(f"attache ingest {PIPELINE} /tmp/return.sqlite", user=ATTACHE)
    said = debian.run(f"attache run {PIPELINE}", user=ATTACHE)
    assert "1  updated" in said, said
    # The machine is lost with all its data. Another one has the package, the backup and the login's key, which was
    # stored elsewhere. The org is unchanged, and the first machine no longer runs anything.
    other = debian.another()
    for place, mode in [("/tmp/attache.deb", 0o644), (debian.backup, 0o644), ("/tmp/return.sqlite", 0o644)]:
        other.path(place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(debian.path(place), other.path(place))
        other.path(place).chmod(mode)
    other.run("dpkg -i /tmp/attache.deb")
    subprocess.run(
        ["tar", "--zstd", "-C", other.path("/etc/attache"), "--strip-components=1", "-xf", other.path(debian.backup),
         "configuration"], check=True)
    shutil.copy(debian.path("/etc/attache/jwt.key"), other.path("/etc/attache/jwt.key"))
    other.run("chown -R root:attache /etc/attache && chown attache:attache /etc/attache/jwt.key /tmp/return.sqlite "
              "&& chmod -R g+rX /etc/attache && chmod 0600 /etc/attache/jwt.key")
    foretold = other.run(f"attache recover {PIPELINE} --from {debian.backup} --dry-run", user=ATTACHE)
    assert "nothing was changed" in foretold, foretold
    said = other.run(f"attache recover {PIPELINE} --from {debian.backup}", user=ATTACHE)
    assert "the ledger is that of a backup" in said, said
    other.run(f"attache run {PIPELINE}", user=ATTACHE)
    # The device knows nothing of this and returns its store again.
    other.run(f"attache ingest {PIPELINE} /tmp/return.sqlite", user=ATTACHE)
    said = other.run(f"attache run {PIPELINE}", user=ATTACHE)
    assert "1  already in org" in said, said
    status = other.run(f"attache status {PIPELINE}", user=ATTACHE)
    assert "open edits: 0" in status and "quarantine: 0 returns" in status, status
    debian.run("rm -r /tmp/phone /tmp/return.sqlite")


def goes(debian, _):
    """The package is removed, and the operator's files stay."""
    debian.run("dpkg -r attache")
    if debian.init:
        assert f"attache@{PIPELINE}.timer" not in debian.run("systemctl list-units --no-pager")
    assert not debian.path("/usr/bin/attache").exists()
    assert debian.path("/var/lib/attache/" + PIPELINE).is_dir()
    said = debian.run("dpkg -P attache")
    for place in ["/etc/attache", "/var/lib/attache"]:
        assert f"{place} is kept" in said, said
    assert not debian.path("/var/log/attache").exists(), "logs are left"
    debian.run("rm -r /etc/attache /var/lib/attache /etc/cron.d/attache /srv/*")
    # The account stays: its number must not be reused while files of it may exist.
    books = re.compile(
        r"/(etc/(passwd|shadow|group|gshadow|subuid|subgid)-?|var/lib/logrotate/.*|var/log/.*|var/spool/.*|var/mail.*|"
        r"var/lib/systemd/.*)$")
    left = {name for name in debian.listing() - debian.before if not books.match(name)}
    assert not left, f"it left {sorted(left)}"
    debian.run("dpkg -i /tmp/attache.deb && dpkg -P attache")
    left = {name for name in debian.listing() - debian.before if not books.match(name)}
    assert not left, f"an unused one left {sorted(left)}"


STEPS = [
    installs, is_as_debian_wants, stands_alone, starts_at_once, has_pages_and_completions, has_templates_for_engines,
    plays_the_demo, has_an_org, has_a_pipeline, runs_by_cron, runs_as_the_unit_says, units_are_right, runs_as_a_service,
    takes_a_return, leaves_a_decision, prunes, backs_up, recovers, goes,
]

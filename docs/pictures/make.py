#!/usr/bin/env python3
"""Makes the pictures of the README from the demo: its output as a terminal shows it, and its first report.

usage: make.py ATTACHE    the program; Chromium takes the picture of the report
"""

import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
# The parts of the story that the picture shows, by the beginnings of their headings.
PARTS = ["A day in the field", "Back from the field", "The next morning"]
LONGEST = 96
LINE, CHARACTER, MARGIN = 19, 8.43, 18


def parts(story):
    """The parts of the demo's story by their headings."""
    found = re.split(r"^(\S.*)\n-{3,}\n", story, flags=re.M)
    return dict(zip(found[1::2], found[2::2]))


def lines(story):
    """The lines of the terminal: the chosen parts of the story."""
    shown = ["$ attache demo", ""]
    for beginning in PARTS:
        heading, text = next((h, t) for h, t in parts(story).items() if h.startswith(beginning))
        shown += [heading] + text.split("\nThe demo left")[0].rstrip().splitlines() + [""]
    # The dry run and the comments after commands are left out.
    left_out = ("  reconcile: ", "First a dry run", "Then the real one")
    shown = [re.sub(r"   # .*", "", line) for line in shown if not line.startswith(left_out)][:-1]
    if longest := [line for line in shown if len(line) > LONGEST]:
        sys.exit("too long for the picture: " + longest[0])
    return shown


def drawing(text):
    """The lines as a drawing of a terminal."""
    width, height = round(LONGEST * CHARACTER + 2 * MARGIN), len(text) * LINE + 2 * MARGIN
    rows = []
    for number, line in enumerate(text):
        kind = "c" if line.startswith(("$ ", "  attache ")) else "h" if line and not line.startswith(" ") and (
            any(line.startswith(part) for part in PARTS)) else "t"
        rows.append(
            f'<text class="{kind}" x="{MARGIN}" y="{MARGIN + LINE * number + 14}" xml:space="preserve">'
            f"{html.escape(line)}</text>")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="attache demo in a terminal">\n'
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d7dde5}"
        ".c{fill:#7ee0a8}.h{fill:#fff;font-weight:bold}</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#17202a"/>\n' + "\n".join(rows) + "\n</svg>\n")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        sys.exit("there is no Chromium: make deps-test installs it")
    with tempfile.TemporaryDirectory() as directory:
        # The files of the demo have new absolute paths each time; the pictures show relative ones.
        directory = pathlib.Path(directory).resolve()
        story = subprocess.run(
            [program, "demo"], cwd=directory, check=True, capture_output=True, stdin=subprocess.DEVNULL,
            text=True).stdout.replace(f"{directory}/", "")
        (HERE / "terminal.svg").write_text(drawing(lines(story)))
        # The report of the run that ingested the returned stores: it has the most verdicts.
        report = min(directory.glob("snapshots/demo/reports/*/report.html"))
        report.write_text(report.read_text().replace(f"{directory}/", ""))
        subprocess.run(
            [chromium, "--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,1130",
             f"--user-data-dir={directory}/chromium", f"--screenshot={HERE / 'report.png'}", report.as_uri()],
            check=True, capture_output=True)


main()

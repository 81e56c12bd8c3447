#!/usr/bin/env python3
"""A page of documentation: every command in it runs, and prints what the page quotes.

    page_test.py NL_STAGE SOURCE_ROOT PAGE LEAST_COMMANDS LEAST_LINES

A block of commands (```sh) may be followed by a block of their output (```text). The quoted lines are those that the
commands print, blank ones aside; … stands for anything, and a line of … alone for any number of lines. The commands run one after
the other in a new folder that has the source tree's tests/ and docs/ in it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.S | re.M)


def matches(quoted, line):
    return re.fullmatch(".*".join(re.escape(part) for part in quoted.split("…")), line.rstrip()) is not None


def missing(quoted, printed):
    """Lines of the quote that are not printed, or not right after the quoted line before: what is left out is a line with nothing but …"""
    at, skips = 0, False
    for each in quoted:
        if each == "…":
            skips = True
            continue
        found = next((i for i in range(at, len(printed) if skips else min(at + 1, len(printed))) if matches(each, printed[i])), None)
        if found is None:
            yield each
            skips = True  # what follows is looked for all the same
        else:
            at, skips = found + 1, False
    if not skips and at < len(printed):
        yield f"(more follows: {printed[at]})"


def run(commands, folder, environment):
    done = subprocess.run(["bash", "-eu", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def main():
    nl_stage, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    blocks = BLOCK.findall((root / sys.argv[3]).read_text())
    least_commands, least_lines = int(sys.argv[4]), int(sys.argv[5])
    faults, commands_run, lines_checked, skipped_blocks = [], 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="nl-stage-tutorial-") as folder:
        os.makedirs(f"{folder}/bin")
        os.symlink(nl_stage, f"{folder}/bin/nl-stage")
        for name in ("tests", "docs"):
            os.symlink(root / name, f"{folder}/{name}")
        environment = os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}", "NL_STAGE_LEDGER": "off", "NO_COLOR": "1"}
        printed, skipped = "", False
        for kind, text in blocks:
            if kind == "sh":
                skipped = text.startswith("jq ") and shutil.which("jq") is None
            if skipped:
                skipped_blocks += 1
                continue
            if kind == "sh":
                status, printed = run(text, folder, environment)
                commands_run += 1
                if status != 0:
                    faults.append(f"status {status} of:\n{text}{printed}")
            else:
                quoted = [line for line in text.splitlines() if line.strip()]
                lines_checked += len(quoted)
                lines = [line for line in printed.splitlines() if line.strip()]
                faults += [f"not printed: {line}\n--- printed:\n{printed[-3000:]}" for line in missing(quoted, lines)]
    if commands_run < least_commands or lines_checked < least_lines:
        faults.append(f"only {commands_run} blocks of commands and {lines_checked} quoted lines were found")
    print("\n".join(faults) or f"{commands_run} blocks of commands, {lines_checked} quoted lines, {skipped_blocks} blocks left out for want of jq")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How often nl-stage says the right thing: imports real captures whose truth is known, and reads what the reports say first.

    leads.py NL_STAGE FIXTURES [NAME...]

truth.json has, for each capture, what an expert would have said: the kind of program, its unit and how many of them, words of the first
sentence and of the first action. A lead is right where all of them are. The share of right leads must not fall below the floor of truth.json,
and no capture may contradict itself (nl-stage validate). Prints a line for each capture and the share last.
"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).parent


def unpack(capture, folder):
    """A folder like a bundle of nl-stage, with the capture in it."""
    if capture.name.endswith(".tar.xz"):
        with tarfile.open(capture) as archive:
            archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
        (folder / "run.json").write_text(json.dumps({"name": capture.name.split(".")[0]}))
        return folder
    if capture.suffix == ".gz":
        target = folder / capture.stem
        with gzip.open(capture) as packed, open(target, "wb") as plain:
            shutil.copyfileobj(packed, plain)
        return target
    return capture


def units(run):
    return {stage["name"]: stage["count"] + stage["warmup_windows"] for stage in run["stages"]}


def what_is_wrong(truth, run, sentences, action):
    """Each difference between the truth and what was said."""
    wrong = []
    if run["workload"]["kind"] not in truth["kind"]:
        wrong.append(f"kind is {run['workload']['kind']}, not {' or '.join(truth['kind'])}")
    for stage, count in truth["units"].items():
        if abs(units(run).get(stage, 0) - count) > truth.get("tolerance", 0):
            wrong.append(f"{units(run).get(stage, 0)} of {stage}, not {count}")
    for words in truth["sentences"]:
        if words not in sentences:
            wrong.append(f"the summary does not say \"{words}\"")
    if truth["action"] is None:
        if action is not None:
            wrong.append(f"the first action is \"{action}\", and there is nothing to do")
    elif not any(words in (action or "") for words in truth["action"]):
        wrong.append(f"the first action is \"{action}\", not \"{truth['action'][0]}\"")
    return wrong


def said(bundle):
    """The sentences of the summary, and the first action; None: there is none."""
    report = (bundle / "report.md").read_text()
    short = report[report.index("## In short"):]
    short = short[:short.index("\n## ", 5)]
    actions = [line[3:] for line in short.splitlines() if line.startswith("1. ")]
    return short.replace("\\", ""), actions[0].replace("\\", "") if actions else None


def judge(nl_stage, fixtures, truth):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "in").mkdir()
        source = unpack(fixtures / truth["capture"], folder / "in")
        bundle = folder / "bundle"
        environment = {**os.environ, "NL_STAGE_LEDGER": "off"}
        made = subprocess.run([nl_stage, "import", source, "--out", bundle], capture_output=True, text=True, env=environment)
        if made.returncode != 0:
            return [f"import: {made.stderr.strip()}"], False
        checked = subprocess.run([nl_stage, "validate", bundle], capture_output=True, text=True, env=environment)
        wrong = what_is_wrong(truth, json.loads((bundle / "run.json").read_text()), *said(bundle))
        if checked.returncode != 0:
            wrong.append(f"validate: {checked.stderr.strip()}")
        return wrong, checked.returncode == 0


def main():
    nl_stage, fixtures, names = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3:]
    table = json.loads((HERE / "truth.json").read_text())
    captures = [truth for truth in table["captures"] if not names or truth["capture"].split("/")[-1].split(".")[0] in names]
    right, consistent = 0, True
    for truth in captures:
        wrong, agrees = judge(nl_stage, fixtures, truth)
        right += not wrong
        consistent = consistent and agrees
        print(f"{'right' if not wrong else 'WRONG'}  {truth['capture']}" + "".join(f"\n         {each}" for each in wrong), flush=True)
    floor = 0 if names else table["floor"]
    print(f"right leads: {right} of {len(captures)} ({100 * right / max(1, len(captures)):.0f} %), at least {floor}")
    return 0 if right >= floor and consistent else 1


if __name__ == "__main__":
    sys.exit(main())

"""Test cases in plain Python, with the last line that tools/tally wants."""

import os
import pathlib
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures"


class Skip(Exception):
    pass


class Scene:
    """A folder with a ledger of its own."""

    def __init__(self, nl_stage, folder):
        self.nl_stage, self.folder = str(nl_stage), pathlib.Path(folder)
        self.environment = {"NL_STAGE_LEDGER": str(self.folder / "ledger.sqlite"), "NO_COLOR": "1"}

    def use_standins(self, fault=""):
        """nsys and ncu that replay recorded captures."""
        standins = ROOT / "tests/integration/standin"
        self.environment.update(NL_STAGE_NSYS=str(standins / "nsys"), NL_STAGE_NCU=str(standins / "ncu"), NL_FIXTURES=str(FIXTURES),
                                NL_STARTED=str(self.folder / "started"), NL_FAKE_NSYS=fault)


def run(cases, nl_stage, names=()):
    passed, failed, skipped = 0, [], 0
    for case in cases:
        if names and case.__name__ not in names:
            continue
        with tempfile.TemporaryDirectory(prefix="nl-stage-agents-") as folder:
            try:
                case(Scene(pathlib.Path(nl_stage).resolve(), os.path.realpath(folder)))
                passed += 1
            except Skip as why:
                skipped += 1
                print(f"SKIPPED {case.__name__}: {why}")
            except Exception:  # each case is reported, whatever it threw
                failed.append(case.__name__)
                print(f"FAILED {case.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"nl-tests: {passed} passed, {len(failed)} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)

#!/usr/bin/env python3
"""nl-stage facts as it is called: what it reads, files, notes and exit statuses.

    facts_test.py NL_STAGE SOURCE_ROOT
"""
import csv
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

NL_STAGE, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
LLAMA = ROOT / "tests/fixtures/golden/h200-llama/run.json"
CAPTURE = ROOT / "tests/fixtures/h200-llama/nsys.sqlite"
ENVIRONMENT = os.environ | {"NL_STAGE_LEDGER": "off", "NO_COLOR": "1"}
TABLES = ("runs", "stages", "kernels", "collectives", "ranks", "collective_rates")


def facts(*words, folder=None, environment=ENVIRONMENT):
    return subprocess.run([NL_STAGE, "facts", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120, env=environment, check=False)


def rows_of(folder, table):
    with open(pathlib.Path(folder) / f"{table}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Facts(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.out = self.folder / "facts"
        self.other = self.run_with("other.json", run_id="other")

    def files(self):
        return sorted(path.name for path in self.out.iterdir()) if self.out.exists() else []

    def run_with(self, name, **changes):
        run = json.loads(LLAMA.read_text()) | changes
        (self.folder / name).write_text(json.dumps(run))
        return self.folder / name

    def test_rows_equal_the_run(self):
        done = facts(LLAMA, "--format", "csv", "--out", self.out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.files(), sorted(f"{table}.csv" for table in TABLES))
        run = json.loads(LLAMA.read_text())
        (row,) = rows_of(self.out, "runs")
        self.assertEqual((row["run_id"], row["status"]), (run["run_id"], run["status"]))
        self.assertEqual(float(row["tpot_ms"]), run["summary"]["tpot_ms"])
        self.assertEqual([stage["stage"] for stage in rows_of(self.out, "stages")], [stage["name"] for stage in run["stages"]])
        kernels = rows_of(self.out, "kernels")
        self.assertEqual([kernel["name"] for kernel in kernels], [kernel["name"] for kernel in run["kernels"]])
        for stage in rows_of(self.out, "stages"):
            bins = [int(stage[name]) for name in stage if name.startswith("budget_") and name != "budget_wall_ns" and stage[name]]
            self.assertTrue(not bins or sum(bins) == int(stage["budget_wall_ns"]), stage)

    def test_each_format_has_its_files(self):
        for table_format in ("parquet", "arrow"):
            self.assertEqual(facts(LLAMA, self.other, "-f", table_format, "-o", self.out).returncode, 0)
        self.assertEqual(self.files(), sorted(f"{table}.{end}" for table in TABLES for end in ("arrow", "parquet")))
        self.assertEqual(facts(LLAMA, self.other, "-f", "sqlite", "-o", self.out).returncode, 0)
        database = sqlite3.connect(self.out / "facts.sqlite")
        joined = database.execute("SELECT count(DISTINCT run_id), count(*) FROM stages JOIN runs USING (run_id)").fetchone()
        self.assertEqual(joined[0], 2)
        self.assertEqual(database.execute("SELECT count(*) FROM runs WHERE joules_per_token IS NULL").fetchone(), (2,))

    def test_parquet_in_a_new_folder_is_the_default(self):
        done = facts(LLAMA, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = list((self.folder / "artifacts/facts").glob("*/runs.parquet"))
        self.assertEqual(len(written), 1)
        self.assertIn("runs.parquet: runs, 1 row\n", done.stdout)

    def test_a_run_that_is_named_twice_counts_once(self):
        bundle = self.folder / "bundle"
        bundle.mkdir()
        (bundle / "run.json").write_bytes(LLAMA.read_bytes())
        done = facts(LLAMA, bundle, "-f", "csv", "-o", self.out)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"{bundle}: named before", done.stderr)
        self.assertEqual(len(rows_of(self.out, "runs")), 1)

    def test_a_capture_has_an_id_of_its_own_that_stays(self):
        ids = []
        for name in ("one", "two"):
            done = facts(CAPTURE, "-f", "csv", "-o", self.out / name)
            self.assertEqual(done.returncode, 0, done.stderr)
            ids.append(rows_of(self.out / name, "runs")[0]["run_id"])
        self.assertTrue(ids[0].startswith("capture-"))
        self.assertEqual(ids[0], ids[1])
        done = facts(CAPTURE, CAPTURE, "-f", "csv", "-o", self.out / "both")
        self.assertIn("named before", done.stderr)
        self.assertEqual(len(rows_of(self.out / "both", "runs")), 1)

    def test_one_run_that_cannot_be_read_is_an_error_that_names_it(self):
        (self.folder / "run.json").write_text('{"schema_version": "3.9.0", "run_id"')
        for run in (self.folder / "run.json", self.folder / "nowhere", self.folder):
            done = facts(run, "-o", self.out)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(str(run), done.stderr)
            self.assertFalse(self.out.exists())

    def test_of_several_runs_it_is_skipped_and_the_status_says_so(self):
        damaged = self.run_with("run.json", stages="none")
        done = facts(LLAMA, damaged, self.other, "-f", "csv", "-o", self.out)
        self.assertEqual(done.returncode, 3)
        self.assertIn(str(damaged), done.stderr)
        self.assertIn("1 of 3 runs skipped: the tables have the others", done.stderr)
        self.assertEqual(len(rows_of(self.out, "runs")), 2)
        told = json.loads(facts(LLAMA, damaged, "-o", self.out, "--json").stdout)
        self.assertEqual((told["runs"], told["exit_status"], len(told["skipped"])), (1, 3, 1))
        self.assertEqual(told["skipped"][0]["run"], str(damaged))

    def test_without_any_run_nothing_is_written(self):
        done = facts(self.folder / "a", self.folder / "b", "-o", self.out, "--json")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(json.loads(done.stdout)["tables"], [])
        self.assertFalse(self.out.exists())

    def test_tables_that_are_there_are_replaced_only_where_asked(self):
        self.assertEqual(facts(LLAMA, "-o", self.out).returncode, 0)
        before = (self.out / "runs.parquet").read_bytes()
        done = facts(self.other, "-o", self.out)
        self.assertEqual(done.returncode, 8)
        self.assertIn("--replace", done.stderr)
        self.assertEqual((self.out / "runs.parquet").read_bytes(), before)
        self.assertEqual(facts(self.other, "-o", self.out, "--replace").returncode, 0)
        self.assertNotEqual((self.out / "runs.parquet").read_bytes(), before)
        self.assertEqual(len(self.files()), len(TABLES))

    def test_a_full_disk_leaves_nothing_behind(self):
        limited = f'ulimit -f 8; exec "{NL_STAGE}" facts "{LLAMA}" -f "$0" -o "{self.out}"'
        for table_format in ("parquet", "arrow", "csv", "sqlite"):
            words = ["bash", "-c", f"trap '' XFSZ; {limited}", table_format]
            done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=ENVIRONMENT, check=False)
            self.assertEqual(done.returncode, 8, done.stderr)
            self.assertEqual(self.files(), [], table_format)

    def test_an_interrupt_leaves_nothing_behind(self):
        many = [CAPTURE] * 200  # each is read
        with subprocess.Popen([NL_STAGE, "facts", LLAMA, *many, "-o", self.out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
            deadline = time.time() + 60
            while not self.files() and time.time() < deadline:
                time.sleep(0.01)
            self.assertTrue(self.files())
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.files(), [])

    def test_the_listing_has_what_the_files_have(self):
        listing = json.loads(facts("--schema", "--json").stdout)
        told = json.loads(facts(LLAMA, "-o", self.out, "--json").stdout)
        self.assertEqual([table["columns"] for table in listing["tables"]], [table["columns"] for table in told["tables"]])
        self.assertIn("budget_wall_ns", facts("--schema").stdout)
        self.assertEqual(facts().returncode, 2)

    def test_the_ledger_has_runs_too(self):
        environment = ENVIRONMENT | {"NL_STAGE_LEDGER": str(self.folder / "ledger.sqlite")}
        subprocess.run([NL_STAGE, "import", CAPTURE, "--out", self.folder / "bundle"], check=True, capture_output=True, env=environment)
        done = facts("last", "-f", "csv", "-o", self.out, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows_of(self.out, "runs")[0]["run_id"], json.loads((self.folder / "bundle/run.json").read_text())["run_id"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

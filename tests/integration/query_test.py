#!/usr/bin/env python3
"""nl-stage query as it is called: formats, exit statuses, stdin, interrupts.

    query_test.py NL_STAGE SOURCE_ROOT
"""
import csv
import io
import json
import os
import pathlib
import pty
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

NL_STAGE, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
CAPTURE = ROOT / "tests/fixtures/h200-llama/nsys.sqlite"
RUN_JSON = ROOT / "tests/fixtures/golden/h200-llama/run.json"
ENVIRONMENT = os.environ | {"NL_STAGE_LEDGER": "off", "NO_COLOR": "1"}
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"


def query(*words, given=None, timeout=120):
    return subprocess.run([NL_STAGE, "query", *map(str, words)], input=given, capture_output=True, text=True, timeout=timeout, env=ENVIRONMENT)


def export_says(sql):
    connection = sqlite3.connect(f"file:{CAPTURE}?immutable=1", uri=True)
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


class Query(unittest.TestCase):
    def test_a_pipe_gets_csv_that_equals_the_export(self):
        done = query(CAPTURE, "SELECT name, count(*) AS calls, sum(duration_ns) AS total_ns FROM slices WHERE kind = 'kernel' GROUP BY name ORDER BY name")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = list(csv.reader(io.StringIO(done.stdout, newline="")))
        self.assertEqual(rows[0], ["name", "calls", "total_ns"])
        expected = export_says("SELECT s.value, count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
                               "JOIN StringIds s ON s.id = k.demangledName GROUP BY 1 ORDER BY 1")
        self.assertEqual([tuple(row) for row in rows[1:]], [(name, str(calls), str(total)) for name, calls, total in expected])

    def test_json_has_units_and_says_what_is_left_out(self):
        done = query(CAPTURE, "SELECT start_ns, name FROM slices", "--json", "--limit", "3")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["columns"], [{"name": "start_ns", "unit": "ns"}, {"name": "name", "unit": None}])
        self.assertEqual((answer["row_count"], len(answer["rows"]), answer["truncated"]), (3, 3, True))
        self.assertEqual(json.loads(query(CAPTURE, "SELECT 1 AS one", "--format", "json").stdout)["rows"], [[1]])

    def test_rows_beyond_the_limit_are_told_beside_the_csv(self):
        done = query(CAPTURE, "SELECT start_ns FROM slices")
        self.assertEqual(len(done.stdout.splitlines()), 1001)
        self.assertIn("--limit", done.stderr)
        everything = query(CAPTURE, "SELECT start_ns FROM slices WHERE kind = 'call'", "--limit", "0")
        self.assertEqual(len(everything.stdout.splitlines()) - 1, export_says("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME")[0][0])

    def test_sql_from_stdin(self):
        done = query(CAPTURE, "-", given="SELECT count(*) AS n\nFROM slices -- all\nWHERE kind = 'set';\n")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "n"))

    def test_findings_need_no_capture(self):
        with tempfile.TemporaryDirectory() as folder:
            bundle = pathlib.Path(folder) / "bundle"
            bundle.mkdir()
            (bundle / "run.json").write_bytes(RUN_JSON.read_bytes())
            for run in (bundle, bundle / "run.json"):
                done = query(run, "SELECT rule FROM findings", "--json")
                self.assertEqual([row[0] for row in json.loads(done.stdout)["rows"]], [each["rule"] for each in json.loads(RUN_JSON.read_text())["findings"]])
            missing = query(bundle, "SELECT count(*) FROM slices")
            self.assertEqual(missing.returncode, 3)
            self.assertIn("fix:", missing.stderr)

    def test_the_captures_of_an_import_are_found_and_a_changed_one_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            capture, bundle = pathlib.Path(folder) / "capture.sqlite", pathlib.Path(folder) / "bundle"
            capture.write_bytes(CAPTURE.read_bytes())
            subprocess.run([NL_STAGE, "import", capture, "--out", bundle], check=True, capture_output=True, env=ENVIRONMENT)
            count = "SELECT count(*) FROM slices WHERE kind = 'kernel'"
            self.assertEqual(query(bundle, count).stdout, query(CAPTURE, count).stdout)
            capture.write_bytes((ROOT / "tests/fixtures/h200-probe/probe_node.sqlite").read_bytes())
            changed = query(bundle, count)
            self.assertEqual(changed.returncode, 3)
            self.assertIn("has changed", changed.stderr)

    def test_exit_statuses(self):
        for status, words in [(2, (CAPTURE, "DELETE FROM slices")), (2, (CAPTURE, "SELECT nope FROM slices")), (2, (CAPTURE,)), (2, ()),
                              (2, (CAPTURE, "SELECT 1", "--timeout", "0")), (2, (CAPTURE, "SELECT 1", "--limit", "-1")),
                              (2, (CAPTURE, "SELECT 1", "--json", "--format", "csv")), (2, (CAPTURE, "SELECT zeroblob(1000000000)")),
                              (3, ("/no/such/run", "SELECT * FROM slices")), (7, (CAPTURE, ENDLESS, "--timeout", "0.2"))]:
            with self.subTest(words=words):
                done = query(*words, "--json") if "--json" not in words else query(*words)
                self.assertEqual(done.returncode, status)
                error = json.loads(done.stdout)["error"]
                self.assertEqual(error["exit_status"], status)
                self.assertTrue(error["fix"])

    def test_an_interrupt_ends_it(self):
        for signal_number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            started = subprocess.Popen([NL_STAGE, "query", CAPTURE, ENDLESS, "--timeout", "100"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env=ENVIRONMENT)
            time.sleep(1)
            started.send_signal(signal_number)
            _, errors = started.communicate(timeout=30)
            self.assertEqual(started.returncode, status)
            self.assertIn(b"interrupted", errors)

    def test_the_schema_names_tables_and_units(self):
        tables = {table["name"]: table for table in json.loads(query("--schema", "--json").stdout)["tables"]}
        columns = {column["name"]: column for column in tables["slices"]["columns"]}
        self.assertEqual(columns["duration_ns"]["unit"], "ns")
        self.assertIn("gaps: ", query("--schema").stdout)

    def test_a_terminal_gets_a_table_that_fits(self):
        main, other = pty.openpty()
        os.set_blocking(main, False)
        started = subprocess.Popen([NL_STAGE, "query", CAPTURE, "SELECT * FROM windows LIMIT 2"], stdout=other, stderr=subprocess.DEVNULL,
                                   env=ENVIRONMENT | {"TERM": "xterm"})
        os.close(other)
        shown = b""
        while select.select([main], [], [], 60)[0]:
            try:
                more = os.read(main, 65536)
            except OSError:
                break
            if not more:
                break
            shown += more
        started.wait(timeout=60)
        lines = shown.decode().replace("\r", "").splitlines()
        self.assertTrue(lines[0].startswith("id"), lines)
        self.assertTrue(any("not shown" in line for line in lines), lines)
        self.assertTrue(all(len(line) <= 80 for line in lines[:4]), lines)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

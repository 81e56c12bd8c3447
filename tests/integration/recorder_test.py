"""The verbs recorder and window, with the engine of workloads/serve on the CPU: recorder_test.py NL_STAGE SOURCE_ROOT"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

PROGRAM, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()


def wait_until(done, seconds=30):
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise AssertionError("it did not come about in time")
        time.sleep(0.05)


class Recorder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nl-recorder-"))
        cls.environment = {**os.environ, "XDG_RUNTIME_DIR": str(cls.folder), "NL_STAGE_LEDGER": str(cls.folder / "ledger.sqlite")}
        (cls.folder / "out").touch()
        cls.engine = subprocess.Popen(
            [PROGRAM, "recorder", "--name", "llm", "--", sys.executable, ROOT / "workloads/serve/serve.py", "--port", "0"],
            stdout=open(cls.folder / "out", "w"), stderr=open(cls.folder / "err", "w"), env=cls.environment)
        wait_until(lambda: "ready" in (cls.folder / "out").read_text() or cls.engine.poll() is not None)
        cls.ready = json.loads((cls.folder / "out").read_text().splitlines()[0])
        cls.url = f"http://127.0.0.1:{cls.ready['port']}"

    @classmethod
    def tearDownClass(cls):
        cls.engine.terminate()
        cls.engine.wait(20)
        shutil.rmtree(cls.folder)

    def nl_stage(self, *words, status=0):
        done = subprocess.run([PROGRAM, *map(str, words)], env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def load(self, *words):
        return subprocess.Popen([PROGRAM, "load", self.url, "--prompt-tokens", "16..32", "--output-tokens", "60", *words],
                                env=self.environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def test_program_takes_our_place(self):
        self.assertEqual(self.ready["pids"]["api"], self.engine.pid)
        self.assertIn("nl-stage: recorder 'llm'", (self.folder / "err").read_text())

    def test_list_names_every_process(self):
        with self.load("--concurrency", "2", "--requests", "2") as load:
            load.wait(60)
        listed = json.loads(self.nl_stage("recorder", "--json").stdout)["recorders"]
        self.assertEqual([each["name"] for each in listed], ["llm"])
        processes = {each["pid"]: each for each in listed[0]["processes"]}
        self.assertEqual(set(processes), set(self.ready["pids"].values()))
        worker = processes[self.ready["pids"]["worker 0"]]
        self.assertGreater(worker["steps"], 0)
        self.assertFalse(worker["cuda"])
        text = self.nl_stage("recorder").stdout
        self.assertIn("nl-serve", text)

    def test_window_of_a_batch(self):
        with self.load("--concurrency", "4", "--requests", "12") as load:
            done = self.nl_stage("window", "llm", "--steps", "15", "--min-batch", "3", "--out", "batch", "--json")
            load.wait(120)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["status"], "complete")
        bundle = self.folder / "batch"
        window = json.loads((bundle / "collector/window.json").read_text())
        by_pid = {each["pid"]: each for each in window["processes"]}
        worker = by_pid[self.ready["pids"]["worker 0"]]
        self.assertEqual(worker["steps"], 15)
        self.assertEqual(window["opened_by"], "mark")
        self.assertIsNone(worker["trouble"])
        # What the engine counts as its steps, and who was in them: marks of the window's own steps.
        sql = "select name from slices where kind = 'mark' and name like '%step index=%'"
        marks = json.loads(self.nl_stage("query", "batch", sql, "--format", "json").stdout)
        numbers = {int(row[0].split("index=")[1].split()[0]) for row in marks["rows"]}
        self.assertTrue(set(range(worker["first_step"], worker["first_step"] + 15)) <= numbers)
        self.assertEqual(self.nl_stage("validate", "batch").returncode, 0)
        self.assertFalse(any((self.folder / "nl-stage/recorders/llm/windows").iterdir()))
        listed = json.loads((bundle / "manifest.json").read_text())
        self.assertIn("collector/window.json", [each["path"] for each in listed["files"]])

    def test_window_by_pid_and_time(self):
        with self.load("--concurrency", "1", "--requests", "4") as load:
            self.nl_stage("window", self.ready["pids"]["scheduler"], "--seconds", "300ms", "--out", "timed")
            load.wait(120)
        self.assertTrue((self.folder / "timed/report.md").exists())

    def test_idle_server_is_said(self):
        with self.load("--concurrency", "1", "--requests", "1") as load:
            load.wait(60)
        time.sleep(0.5)
        done = self.nl_stage("window", "llm", "--within", "1s", "--out", "idle", status=7)
        self.assertIn("no step came within 1 s", done.stderr)

    def test_window_without_work_is_said(self):
        words = ("import sys, time; sys.path.insert(0, sys.argv[1]); import nl_stage_nvtx; nl_stage_nvtx.mark('here'); "
                 "print('ready', flush=True); time.sleep(60)")
        with subprocess.Popen([PROGRAM, "recorder", "--name", "sleeper", "--", sys.executable, "-c", words, ROOT / "nvtx/python"],
                              env=self.environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
            try:
                program.stdout.readline()
                done = self.nl_stage("window", "sleeper", "--seconds", "300ms", "--out", "nothing", status=5)
            finally:
                program.kill()
        self.assertIn("nothing ran in this window", done.stderr)
        self.assertTrue((self.folder / "nothing/run.json").exists())

    def test_counters_are_refused_in_words(self):
        done = self.nl_stage("window", "llm", "--counters", status=2)
        self.assertIn("a window has no hardware counters", done.stderr)
        self.assertIn("nl-stage run", done.stderr)

    def test_ctrl_c_keeps_the_window(self):
        with self.load("--concurrency", "2", "--requests", "40") as load:
            window = subprocess.Popen([PROGRAM, "window", "llm", "--steps", "100000", "--out", "stopped"], env=self.environment, cwd=self.folder,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            folder = self.folder / "nl-stage/recorders/llm/windows"
            wait_until(lambda: folder.exists() and any(each.is_dir() and any(each.iterdir()) for each in folder.iterdir()))
            time.sleep(0.7)
            window.send_signal(signal.SIGINT)
            out, err = window.communicate(timeout=60)
            load.terminate()
        self.assertEqual(window.returncode, 130, out + err)
        self.assertTrue((self.folder / "stopped/run.json").exists())

    def test_unknown_recorder(self):
        done = self.nl_stage("window", "nobody", status=3)
        self.assertIn("no recorder 'nobody' runs", done.stderr)
        self.assertIn("name one of these: llm", done.stderr)

    def test_name_is_taken(self):
        done = self.nl_stage("recorder", "--name", "llm", "--", "true", status=2)
        self.assertIn("a recorder 'llm' runs already", done.stderr)

    def test_program_that_is_not_there(self):
        done = self.nl_stage("recorder", "--name", "gone", "--", "./no-such-program", status=5)
        self.assertIn("cannot be started", done.stderr)
        self.assertFalse((self.folder / "nl-stage/recorders/gone").exists())

    def test_window_through_serve_needs_a_token_that_may_write(self):
        tokens = self.folder / "tokens.json"
        token = {role: self.nl_stage("serve", "token", "add", role, "--role", role, "--tokens", tokens).stdout.split()[0] for role in ("read", "write")}
        with subprocess.Popen([PROGRAM, "serve", "--port", "0", "--json", "--tokens", tokens], env=self.environment, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                text = server.stdout.readline()
                while text.count("{") != text.count("}"):
                    text += server.stdout.readline()
                port = json.loads(text)["port"]

                def ask(headers):
                    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/window", json.dumps({"recorder": "llm", "steps": 5}).encode(),
                                                     {"Content-Type": "application/json", **headers})
                    try:
                        with urllib.request.urlopen(request, timeout=60) as answer:
                            return answer.status, json.load(answer)
                    except urllib.error.HTTPError as refused:
                        return refused.code, json.load(refused)

                self.assertEqual(ask({})[0], 401)
                self.assertEqual(ask({"Authorization": f"Bearer {token['read']}"})[0], 403)
                with self.load("--concurrency", "2", "--requests", "10") as load:
                    status, answer = ask({"Authorization": f"Bearer {token['write']}"})
                    load.wait(120)
                self.assertEqual(status, 200, answer)
                self.assertEqual(answer["status"], "complete")
                self.assertTrue((pathlib.Path(self.folder) / answer["bundle"] / "collector/window.json").exists())
            finally:
                server.terminate()


unittest.main(argv=[sys.argv[0], "-v"])

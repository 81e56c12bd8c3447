"""workloads/serve as its clients and a profiler see it: real processes, on the CPU."""

import concurrent.futures
import contextlib
import functools
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SERVE = ROOT / "workloads" / "serve" / "serve.py"
LIMIT_S = 20  # of anything that is waited for: a machine may be busy

# Stands in for the nvtx package and writes into a file: process, time, call, domain, text.
NVTX = """
import os, time
FILE = os.open(os.environ["NVTX_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def log(call, domain, text=""):
    os.write(FILE, f"{os.getpid()}\\t{time.monotonic_ns()}\\t{call}\\t{domain}\\t{text}\\n".encode())
def push_range(message, domain=None, payload=None): log("push", domain, message)
def pop_range(domain=None): log("pop", domain)
def mark(message, domain=None): log("mark", domain, message)
start_range = end_range = None
"""


def wait_until(condition):
    until = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > until:
            raise AssertionError("it did not come to pass")
        time.sleep(0.01)


def is_there(pid):
    """Whether the process runs: not ended, nor waiting to be fetched by its parent."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Engine:
    def __init__(self, *flags, marks=False):
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        self.records_file, self.marks_file = folder / "records", folder / "marks"
        (folder / "nvtx.py").write_text(NVTX)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NVTX_", "PYTHON"))}
        environment.update({"PYTHONPATH": str(folder), "NVTX_LOG": str(self.marks_file)} if marks else {})
        command = [sys.executable, SERVE, "--device", "cpu", "--port", "0", "--records", self.records_file, *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
        line = self.process.stdout.readline()
        self.ready = json.loads(line) if line else None
        self.pids = self.ready["pids"] if line else {}

    def end(self, number=signal.SIGTERM):
        """The exit status. Where a test failed the processes may be in any state."""
        if self.process.stdout.closed:
            return self.process.returncode
        if number and self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.error = self.process.communicate(timeout=LIMIT_S)[1]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.returncode

    def connect(self):
        return http.client.HTTPConnection(self.ready["host"], self.ready["port"], timeout=LIMIT_S)

    def call(self, method, path, body=None, headers=(), connection=None):
        """Status, headers and body."""
        used = connection or self.connect()
        try:
            used.request(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body), dict(headers))
            response = used.getresponse()
            return response.status, response.headers, response.read()
        finally:
            if not connection:
                used.close()

    def complete(self, prompt, most, **more):
        status, _, body = self.call("POST", "/v1/completions", {"prompt": prompt, "max_tokens": most, "return_token_ids": True, **more})
        answer = json.loads(body)
        assert status == 200, answer
        return answer

    def tokens(self, prompt, most):
        return self.complete(prompt, most)["choices"][0]["token_ids"]

    def stream(self, path, body):
        """The headers and what each data: line has."""
        _, headers, text = self.call("POST", path, {"stream": True, **body})
        events = text.decode().split("\n\n")
        assert events[-1] == "" and all(event.startswith("data: ") and "\n" not in event for event in events[:-1]), text
        return headers, [event[len("data: ") :] for event in events[:-1]]

    def state(self):
        return json.loads(self.call("GET", "/health")[2])

    def is_idle(self):
        state = self.state()
        return state["running"] == state["waiting"] == 0 and state["blocks_free"] == state["blocks"]

    def figures(self):
        lines = self.call("GET", "/metrics")[2].decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}

    def records(self, kind):
        lines = self.records_file.read_text().split("\n")[:-1]  # the last one may be half there
        records = map(json.loads, lines)
        return [record for record in records if record["record"] == kind]


class EngineCase(unittest.TestCase):
    flags, marks = (), False

    @classmethod
    def setUpClass(cls):
        cls.engine = Engine(*cls.flags, marks=cls.marks)

    @classmethod
    def tearDownClass(cls):
        cls.engine.end()
        cls.engine.folder.cleanup()

    def started(self, *flags):
        engine = Engine(*flags)
        self.addCleanup(engine.folder.cleanup)
        self.addCleanup(engine.end)
        return engine


PROMPTS = [list(range(300 + 20 * number, 303 + 20 * number + 7 * number)) for number in range(6)]


def all_at_once(function, arguments):
    with concurrent.futures.ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(function, arguments))


class ApiTest(EngineCase):
    def test_a_completion_whole_and_streamed(self):
        for prompt in (" the road to the river", [300, 301, 302]):
            whole = self.engine.complete(prompt, 6)
            choice = whole["choices"][0]
            self.assertEqual((len(choice["token_ids"]), choice["finish_reason"], whole["object"]), (6, "length", "text_completion"))
            tokens = 5 if isinstance(prompt, str) else 3
            self.assertEqual(whole["usage"], {"prompt_tokens": tokens, "completion_tokens": 6, "total_tokens": tokens + 6})
            body = {"prompt": prompt, "max_tokens": 6, "stream_options": {"include_usage": True}}
            headers, events = self.engine.stream("/v1/completions", body)
            self.assertEqual(headers["Content-Type"], "text/event-stream")
            self.assertEqual(events.pop(), "[DONE]")
            chunks = list(map(json.loads, events))
            last = chunks.pop()
            self.assertEqual((last["choices"], last["usage"]), ([], whole["usage"]))
            self.assertEqual("".join(chunk["choices"][0]["text"] for chunk in chunks), choice["text"])
            self.assertEqual([chunk["choices"][0]["finish_reason"] for chunk in chunks], [None] * 5 + ["length"])
            self.assertEqual({chunk["id"] for chunk in chunks}, {last["id"]})

    def test_a_chat_whole_and_streamed(self):
        body = {"messages": [{"role": "user", "content": "hello"}], "max_completion_tokens": 4}
        status, _, text = self.engine.call("POST", "/v1/chat/completions", body)
        answer = json.loads(text)
        self.assertEqual((status, answer["object"]), (200, "chat.completion"))
        message = answer["choices"][0]["message"]
        _, events = self.engine.stream("/v1/chat/completions", body)
        self.assertEqual(events[-1], "[DONE]")
        deltas = [json.loads(event)["choices"][0]["delta"] for event in events[:-1]]
        self.assertEqual([delta.get("role") for delta in deltas], ["assistant"] + [None] * 3)
        self.assertEqual({"role": "assistant", "content": "".join(delta["content"] for delta in deltas)}, message)

    def test_outputs_do_not_depend_on_the_batch(self):
        alone = [self.engine.tokens(prompt, 12) for prompt in PROMPTS]
        self.assertEqual(all_at_once(lambda prompt: self.engine.tokens(prompt, 12), PROMPTS), alone)
        self.assertEqual(len(set(map(tuple, alone))), len(PROMPTS))
        few = self.started("--blocks", "12", "--block-tokens", "4", "--chunk-tokens", "16")
        self.assertEqual([few.tokens(prompt, 3) for prompt in PROMPTS[:1]], [alone[0][:3]])
        fitting = [prompt for prompt in PROMPTS if len(prompt) <= 30]
        self.assertEqual(all_at_once(lambda prompt: few.tokens(prompt, 12), fitting), alone[: len(fitting)])
        self.assertGreater(few.figures()["nl_serve:num_preemptions_total"], 0)
        two = self.started("--workers", "2")
        self.assertEqual(all_at_once(lambda prompt: two.tokens(prompt, 12), PROMPTS), alone)
        self.assertEqual({record["worker"] for record in two.records("step")}, {0, 1})

    def test_a_stop_string_ends_the_text_before_it(self):
        words = self.engine.complete(PROMPTS[2], 12)["choices"][0]["text"].split(" ")[1:]
        word = next(word for at, word in enumerate(words) if at >= 3 and word not in words[:at])
        answer = self.engine.complete(PROMPTS[2], 400, stop=f" {word}")
        self.assertEqual(answer["choices"][0]["text"], "".join(f" {each}" for each in words[: words.index(word)]))
        self.assertEqual((answer["choices"][0]["finish_reason"], answer["usage"]["completion_tokens"]), ("stop", words.index(word) + 1))
        name = answer["id"].removeprefix("cmpl-")
        wait_until(functools.partial(self.finished, name))
        id = next(record["id"] for record in self.engine.records("request") if record["name"] == name)
        steps = [step for step in self.engine.records("step") if any(each[0] == id for each in step["requests"])]
        self.assertLess(len(steps), 200)  # it was to write 400 tokens

    def test_a_stop_token_ends_the_output(self):
        tokens = self.engine.tokens(PROMPTS[3], 12)
        token = next(token for at, token in enumerate(tokens) if at >= 2 and token not in tokens[:at])
        choice = self.engine.complete(PROMPTS[3], 12, stop_token_ids=[token])["choices"][0]
        self.assertEqual((choice["token_ids"], choice["finish_reason"]), (tokens[: tokens.index(token) + 1], "stop"))

    def test_names_of_requests(self):
        body = {"prompt": [300], "max_tokens": 1}
        for name, expected in (("load-7.a:b/c", "load-7.a:b/c"), ("a b=c\td", "abcd"), ("x" * 300, "x" * 128)):
            _, headers, text = self.engine.call("POST", "/v1/completions", body, {"X-Request-Id": name})
            self.assertEqual((headers["X-Request-Id"], json.loads(text)["id"]), (expected, f"cmpl-{expected}"))
        self.assertRegex(self.engine.call("POST", "/v1/completions", body)[1]["X-Request-Id"], r"^nl-\d+$")

    def test_several_requests_on_one_connection(self):
        connection = self.engine.connect()
        self.addCleanup(connection.close)
        body = {"prompt": [300], "max_tokens": 2}
        for stream in (False, True, False):
            self.assertEqual(self.engine.call("POST", "/v1/completions", {**body, "stream": stream}, connection=connection)[0], 200)
        self.assertEqual(self.engine.call("GET", "/v1/nowhere", connection=connection)[0], 404)
        self.assertEqual(json.loads(self.engine.call("GET", "/v1/models", connection=connection)[2])["data"][0]["id"], "nl-serve")

    def test_what_is_wrong_is_said(self):
        good = {"prompt": [300], "max_tokens": 1}
        prompts = [[], "", None, [9999], [-1], ["a", "b"]]
        wrong = [{"max_tokens": 0}, {"max_tokens": "7"}, {"max_tokens": 4096}, {"n": 2}, {"stop": 7}, {"stop": [""]}, {"stop_token_ids": 7}]
        for body in [{**good, "prompt": prompt} for prompt in prompts] + [{**good, **each} for each in wrong] + [b"{", b"[]"]:
            status, _, text = self.engine.call("POST", "/v1/completions", body)
            self.assertEqual((status, json.loads(text)["error"]["code"]), (400, 400), body)
        for status, method, path in ((405, "GET", "/v1/completions"), (404, "GET", "/v2"), (405, "POST", "/health")):
            self.assertEqual(self.engine.call(method, path)[0], status)
        post = b"POST /v1/completions HTTP/1.1\r\n"
        heads = {
            b"hello\r\n\r\n": 400,
            b"GET /%s HTTP/1.1\r\n\r\n" % (b"x" * 100000): 431,
            post + b"Transfer-Encoding: chunked\r\n\r\n": 411,
            post + b"Content-Length: -1\r\n\r\n": 400,
            post + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n": 413,
        }
        for head, status in heads.items():
            with socket.create_connection((self.engine.ready["host"], self.engine.ready["port"]), LIMIT_S) as client:
                client.sendall(head)
                self.assertEqual(client.recv(4096).split(b" ")[1], b"%d" % status)
        self.assertEqual(len(self.engine.tokens([300], 1)), 1)

    def finished(self, name):
        return any(record["name"] == name for record in self.engine.records("request"))

    def test_a_client_that_goes_away_gives_its_blocks_back(self):
        for stream in (True, False):
            with contextlib.closing(self.engine.connect()) as connection:
                body = {"prompt": [300] * 40, "max_tokens": 1900, "stream": stream}
                connection.request("POST", "/v1/completions", json.dumps(body), {"X-Request-Id": f"gone-{stream}"})
                if stream:
                    connection.getresponse().read(20)
                wait_until(lambda: self.engine.state()["running"] == 1)
                wait_until(lambda: self.engine.state()["blocks_free"] < self.engine.ready["blocks"])
                self.assertEqual(self.engine.state()["running"], 1)
                connection.sock.shutdown(socket.SHUT_RDWR)
            wait_until(self.engine.is_idle)
            wait_until(functools.partial(self.finished, f"gone-{stream}"))
        gone = [record for record in self.engine.records("request") if record["name"].startswith("gone-")]
        self.assertEqual([record["reason"] for record in gone], ["cancelled"] * 2)
        self.assertTrue(all(record["output_tokens"] < 1900 for record in gone))

    def test_planted_faults(self):
        slow = self.started("--slow-schedule", "8", "--slow-detokenise", "4")
        slow.tokens([300], 5)
        self.assertEqual(slow.end(), 0)  # now all records are there
        for record in slow.records("schedule"):
            self.assertGreaterEqual(record["end_ns"] - record["begin_ns"], 8e6)
        self.assertGreaterEqual(slow.records("request")[0]["detokenised_ns"], 5 * 4e6)
        self.assertTrue(self.engine.tokens([300], 5))  # without them
        self.assertLess(min(record["end_ns"] - record["begin_ns"] for record in self.engine.records("schedule")), 8e6)


class RecordsTest(EngineCase):
    """One load of an engine with too few blocks, its records, its figures, and the marks that the profiler would see."""

    flags, marks = ("--blocks", "24", "--block-tokens", "8", "--chunk-tokens", "32", "--max-batch", "4"), True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.loads = [(f"load-{number}", [300 + number] * (5 + 13 * number), 20 + 5 * number) for number in range(7)]

        def ask(load):
            return cls.engine.call("POST", "/v1/completions", {"prompt": load[1], "max_tokens": load[2], "stream": True}, {"X-Request-Id": load[0]})

        all_at_once(ask, cls.loads)
        cls.figures = cls.engine.figures()
        cls.status = cls.engine.end()
        cls.requests, cls.steps, cls.schedules = (cls.engine.records(kind) for kind in ("request", "step", "schedule"))
        rows = (line.split("\t") for line in cls.engine.marks_file.read_text().splitlines())
        cls.events = [(int(pid), int(time_ns), call, domain, text) for pid, time_ns, call, domain, text in rows]

    def test_requests(self):
        self.assertEqual(self.status, 0)
        found = {record["name"]: (record["prompt_tokens"], record["most_tokens"], record["output_tokens"], record["reason"]) for record in self.requests}
        self.assertEqual(found, {name: (len(prompt), most, most, "length") for name, prompt, most in self.loads})
        for record in self.requests:
            order = [record[name] for name in ("read_ns", "arrived_ns", "queued_ns", "scheduled_ns", "first_token_ns")]
            order += [record["token_ns"][0], record["sent_ns"][0], record["sent_ns"][-1]]
            self.assertEqual(order, sorted(order))
            self.assertEqual(len(record["token_ns"]), record["output_tokens"])
            self.assertEqual(record["token_ns"], sorted(record["token_ns"]))
            self.assertTrue(all(sent >= token for sent, token in zip(record["sent_ns"], record["token_ns"])))

    def test_steps_add_up_to_the_requests(self):
        self.assertEqual([step["index"] for step in self.steps], list(range(len(self.steps))))
        for step, following in zip(self.steps, self.steps[1:]):
            self.assertLess(step["end_ns"], following["begin_ns"])
        self.assertEqual(sum(step["sampled"] for step in self.steps), sum(record["output_tokens"] for record in self.requests))
        for request in self.requests:
            mine = [(kind, count) for step in self.steps for id, kind, count in step["requests"] if id == request["id"]]
            read = sum(count for kind, count in mine if kind == "prefill")
            decoded = sum(count for kind, count in mine if kind == "decode")
            if not request["preempted_ns"]:
                self.assertEqual((read, decoded), (request["prompt_tokens"], request["output_tokens"] - 1))
            else:
                self.assertGreater(read, request["prompt_tokens"])
                self.assertLessEqual(decoded, request["output_tokens"] - 1)
        self.assertTrue(any(len({kind for _, kind, _ in step["requests"]}) == 2 for step in self.steps), "no mixed step")

    def test_schedules_belong_to_steps(self):
        self.assertEqual([record["index"] for record in self.schedules], list(range(len(self.steps))))
        for schedule, step in zip(self.schedules, self.steps):
            self.assertLessEqual(schedule["end_ns"], step["begin_ns"])
        preempted = [id for record in self.schedules for id in record["preempted"]]
        self.assertGreater(len(preempted), 0)
        self.assertEqual(sorted(preempted), sorted(request["id"] for request in self.requests for _ in request["preempted_ns"]))

    def test_figures(self):
        figures = {name.partition(":")[2]: value for name, value in self.figures.items()}
        self.assertEqual(figures["generation_tokens_total"], sum(record["output_tokens"] for record in self.requests))
        self.assertEqual(figures["prompt_tokens_total"], sum(record["prompt_tokens"] for record in self.requests))
        self.assertEqual(figures["num_preemptions_total"], sum(len(record["preempted_ns"]) for record in self.requests))
        self.assertEqual(figures['request_success_total{finished_reason="length"}'], len(self.loads))
        for name, since, until in (("time_to_first_token", "arrived_ns", 0), ("e2e_request_latency", "arrived_ns", -1)):
            expected = sum(record["token_ns"][until] - record[since] for record in self.requests) / 1e9
            self.assertAlmostEqual(figures[f"{name}_seconds_sum"], expected, 6)
            self.assertEqual(figures[f"{name}_seconds_count"], len(self.loads))
        self.assertEqual(figures["inter_token_latency_seconds_count"], sum(record["output_tokens"] - 1 for record in self.requests))
        waited = sum(record["scheduled_ns"] - record["arrived_ns"] for record in self.requests) / 1e9
        self.assertAlmostEqual(figures["request_queue_time_seconds_sum"], waited, 6)

    def test_marks_of_steps(self):
        worker = [event for event in self.events if event[0] == self.engine.pids["worker 0"]]
        marks = [(time_ns, text) for _, time_ns, call, domain, text in worker if (call, domain) == ("mark", "LLM")]
        ranges = [(time_ns, call, text) for _, time_ns, call, domain, text in worker if domain == "nl-serve"]
        self.assertEqual(len(marks) + len(ranges), len(worker))
        self.assertEqual(len(ranges), 8 * len(self.steps))
        for at, (step, (mark_ns, mark)) in enumerate(zip(self.steps, marks)):
            requests = ",".join(f"{id}:{kind}:{count}" for id, kind, count in step["requests"])
            self.assertEqual(mark, f"step index={at} requests={requests}")
            mine = ranges[8 * at : 8 * at + 8]
            prefills = [count for _, kind, count in step["requests"] if kind == "prefill"]
            decodes = len(step["requests"]) - len(prefills)
            name = f"execute_context_{len(prefills)}({sum(prefills)})_generation_{decodes}({decodes})"
            pairs = [("push", name), ("push", "preprocess"), ("pop", ""), ("push", "forward"), ("pop", ""), ("push", "sample"), ("pop", ""), ("pop", "")]
            self.assertEqual([(call, text) for _, call, text in mine], pairs)
            self.assertTrue(mark_ns <= step["begin_ns"] <= mine[0][0] <= step["preprocessed_ns"] <= step["forwarded_ns"] <= mine[-1][0] <= step["end_ns"])
        self.assertEqual(len(marks), len(self.steps))

    def test_marks_of_requests(self):
        marks = {}
        for pid, time_ns, call, _, text in sorted(self.events, key=lambda event: event[1]):
            if call == "mark" and text.startswith("request "):
                _, event, *pairs = text.split(" ")
                values = dict(pair.split("=") for pair in pairs)
                marks.setdefault(int(values.pop("id")), []).append((event, values, pid, time_ns))
        self.assertEqual(len(marks), len(self.loads))
        for record in self.requests:
            mine = marks[record["id"]]
            events = [event for event, *_ in mine if event not in ("preempted", "scheduled")]
            self.assertEqual(events, ["arrived", "queued", "first_token", "finished", "detokenised"])
            by_event = {event: values for event, values, *_ in mine}
            prompt, most = str(record["prompt_tokens"]), str(record["most_tokens"])
            self.assertEqual(by_event["arrived"], {"prompt": prompt, "most": most, "name": record["name"]})
            self.assertEqual(by_event["finished"], {"tokens": most, "reason": "length"})
            self.assertEqual(by_event["detokenised"], {"tokens": most, "us": str(record["detokenised_ns"] // 1000)})
            scheduled = [values["again"] for event, values, *_ in mine if event == "scheduled"]
            self.assertEqual(scheduled, [str(number) for number in range(len(record["preempted_ns"]) + 1)])
            self.assertEqual(sum(event == "preempted" for event, *_ in mine), len(record["preempted_ns"]))
            pids = {event: pid for event, _, pid, _ in mine}
            self.assertEqual((pids["arrived"], pids["detokenised"]), (self.engine.pids["api"],) * 2)
            self.assertEqual({pids[event] for event in ("queued", "scheduled", "first_token", "finished")}, {self.engine.pids["scheduler"]})
            times = {event: time_ns for event, _, _, time_ns in reversed(mine)}  # the first of each
            for event in ("arrived", "queued", "scheduled", "first_token"):
                self.assertLess(abs(times[event] - record[f"{event}_ns"]), 50e6)

    def test_ranges_of_the_other_processes(self):
        for role, names in (("api", {"tokenise", "detokenise"}), ("scheduler", {"schedule"})):
            found = {text for pid, _, call, _, text in self.events if pid == self.engine.pids[role] and call == "push"}
            self.assertEqual(found, names)


class ProcessesTest(EngineCase):
    def all_end(self, engine):
        wait_until(lambda: not any(map(is_there, engine.pids.values())))

    def test_titles(self):
        titles = {name: pathlib.Path(f"/proc/{pid}/comm").read_text().strip() for name, pid in self.engine.pids.items()}
        self.assertEqual(titles, {"api": "nl-serve API", "scheduler": "nl-serve schedu", "worker 0": "nl-serve worker"})

    def test_signals_end_all_processes(self):
        for number, to_group in ((signal.SIGTERM, False), (signal.SIGINT, True)):
            engine = self.started()
            with contextlib.closing(engine.connect()) as connection:
                connection.request("POST", "/v1/completions", json.dumps({"prompt": [300], "max_tokens": 1900, "stream": True}))
                connection.getresponse().read(20)  # it is at work
                os.killpg(engine.process.pid, number) if to_group else engine.process.send_signal(number)
                self.assertEqual(engine.end(None), 0)
            self.assertEqual(engine.error, "")
            self.all_end(engine)

    def test_one_that_dies_ends_the_others(self):
        for name in ("worker 0", "scheduler", "api"):
            engine = self.started()
            os.kill(engine.pids[name], signal.SIGKILL)
            self.assertNotEqual(engine.end(None), 0)
            if name != "api":
                self.assertEqual(engine.error, f"nl-serve: {name} ended with status -9\n")
            self.all_end(engine)

    def test_flags_that_cannot_work(self):
        taken = str(self.engine.ready["port"])
        for flags, words in (("--chunk-tokens 4", "--chunk-tokens is less"), (f"--port {taken}", "in use"), ("--blocks 0", "--blocks wants at least 1")):
            engine = self.started(*flags.split())
            self.assertIsNone(engine.ready)
            self.assertNotIn(engine.end(None), (0, None))
            self.assertIn(words, engine.error)


if __name__ == "__main__":
    unittest.main(verbosity=2)

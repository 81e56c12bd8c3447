#!/usr/bin/env python3
"""Questions with known answers, asked through `nl-stage mcp` by a client that knows nothing but what the tools say.

    answers.py NL_STAGE [QUESTION...]

Prints each question with its answer, whether it is right, the tools that were called, and what their answers cost in tokens (four bytes each). What is right
comes from experts (tests/leads/truth.json) or from the captures themselves, by other ways than nl-stage's. Questions whose tool this build
lacks are left out, and named. Fails where an answer is wrong, or an answer costs more than the budget.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tarfile

import cases
from client import Client, Failure

BUDGET_TOKENS = 2000  # of one answer, as tools are called without max_tokens
PROGRAMS = ["batching_server", "gru_loop", "photo_tags", "pixel_diffusion", "late_rank", "graph_writer", "tide_simulation"]


class Missing(Exception):
    """The build has not the tool, or not that in its answer."""


class Agent:
    """Asks, and counts what it reads."""

    def __init__(self, client):
        self.client = client
        self.tools = {tool["name"]: tool for tool in client.request("tools/list")["tools"]}
        self.begin()

    def begin(self):
        self.tokens, self.calls, self.dearest = 0, [], 0

    def _paid(self, name, text):
        cost = (len(text.encode()) + 3) // 4
        self.tokens += cost
        self.dearest = max(self.dearest, cost)
        self.calls.append(name)

    def call(self, tool, **arguments):
        if tool not in self.tools:
            raise Missing(f"the tool {tool}")
        result = self.client.request("tools/call", {"name": tool, "arguments": arguments})
        self._paid(tool, result["content"][0]["text"])
        if result["isError"]:
            raise Failure({"code": 0, "message": result["content"][0]["text"]})
        return json.loads(result["content"][0]["text"])

    def rows(self, run, sql):
        if "query" not in self.tools:
            raise Missing("the tool query")
        answer = self.call("query", run=run, sql=sql)
        return answer["rows"]

    def summary(self, run):
        answer = self.call("summary", run=run)
        if "budget" not in answer:
            raise Missing("the answer of summary")
        return answer

    def part(self, run, pointer):
        uri = f"nl-stage://bundle/{run}/run.json#{pointer}"
        text = self.client.request("resources/read", {"uri": uri})["contents"][0]["text"]
        self._paid("resource", text)
        return json.loads(text)


# How an agent finds out, each a few lines; what they return is compared with the truth.

def binds(agent, run):
    return agent.call("whatif", run=run)["binds"]


def first_function(agent, run):
    """What delays each step: the function whose change would bring the most, else that of the first finding."""
    predictions = agent.call("whatif", run=f"in_{run}")["predictions"]
    functions = [change.split(" ", 1)[1].split("=")[0] for each in predictions for change in each["changes"] if change.startswith("--host ")]
    return functions[0] if functions else agent.part(run, "/findings/0")["action"]


def first_action(agent, run):
    return agent.part(run, "/findings/0/action")


def graph_share(agent, run):
    prediction = agent.call("whatif", run=run, graph=["decode_step"])["predictions"][0]
    return 1 - prediction["predicted_ns"] / prediction["unperturbed_ns"]


def unprofiled_time(agent, run):
    time = agent.call("whatif", run=run)["unprofiled_ns"]
    return "not captured" if time is None else time


def kind_of_program(agent, run):
    return agent.part(run, "/workload/kind")


def unit(agent, run):
    return agent.part(run, "/workload/unit_stage")


def computing_share(agent, run):
    bins = {each["bin"]: each["share"] for each in agent.summary(run)["budget"]["bins"]}
    return bins["gpu_compute"]


def gpu_of(agent, run):
    return agent.call("ledger_search", words=[run])["runs"][0]["gpu"]


def same_speed(agent, run):
    """Whether a second import of the same capture is said to be faster or slower."""
    answer = agent.call("compare", runs=[run], to=["again"], max_tokens=2000)
    return sorted(set(re.findall(r'"verdict": ?"(\w+)"', json.dumps(answer))) & {"improved", "regressed", "faster", "slower"})


def longest_kernel_in_all(agent, run):
    return agent.rows(run, "SELECT name FROM kernels ORDER BY total_ns DESC LIMIT 1")[0][0]


def copies_to_gpu(agent, run):
    return agent.rows(run, "SELECT count(*) FROM slices WHERE kind = 'copy' AND direction = 'h2d'")[0][0]


def kernels_in_all(agent, run):
    return agent.rows(run, "SELECT count(*) FROM slices WHERE kind = 'kernel'")[0][0]


def longest_gap(agent, run):
    row = agent.rows(run, "SELECT gap_ns, call_before FROM gaps WHERE stage = 'decode_step' ORDER BY gap_ns DESC LIMIT 1")[0]
    return [row[0], re.sub(r"_v\d+$", "", row[1] or "")]


def steps(agent, run):
    return agent.rows(run, "SELECT count(*) FROM windows WHERE stage = 'step' GROUP BY stage")[0][0]


def says(*words):
    return lambda answer: any(word in str(answer) for word in words)


def equals(truth):
    return lambda answer: answer == truth


def meaning(agent, _):
    return json.dumps(agent.call("explain", name=["launch-starved"]))


def oracles(capture):
    """What is true of an nsys export, by SQL and arithmetic of this file's own."""
    db = sqlite3.connect(capture)
    names = dict(db.execute("SELECT id, value FROM StringIds"))
    kernels = list(db.execute("SELECT start, end, demangledName, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL"))
    others = [row for table in ("MEMCPY", "MEMSET") for row in db.execute(f"SELECT start, end, NULL, correlationId FROM CUPTI_ACTIVITY_KIND_{table}")]
    total = {}
    for start, end, name, _ in kernels:
        total[names[name]] = total.get(names[name], 0) + end - start
    windows = [(start, end) for start, end in db.execute(
        "SELECT start, end FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE coalesce(text, value) LIKE '%decode_step%' AND end IS NOT NULL")]
    calls = sorted(db.execute("SELECT start, globalTid, nameId, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME"))
    by_correlation = {call[3]: index for index, call in enumerate(calls)}
    gap, busy_until = (0, None), None
    for start, end, _, correlation in sorted(kernels + others):
        if busy_until is not None and start - busy_until > gap[0] and any(b < start and busy_until < e for b, e in windows):
            gap = (start - busy_until, correlation)
        busy_until = end if busy_until is None else max(busy_until, end)
    after = by_correlation.get(gap[1])
    before = next((calls[i] for i in range(after - 1, -1, -1) if calls[i][1] == calls[after][1]), None) if after is not None else None
    return {"kernel": max(total, key=total.get), "kernels": len(kernels),
            "copies": db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1").fetchone()[0],
            "gap": [gap[0], re.sub(r"_v\d+$", "", names[before[2]]) if before else ""]}


def questions(llama):
    """(name, run, question, how an agent finds out, whether its answer is right, the truth)"""
    def function(run, name):
        return (f"{run}_function", run, "Which function of the program delays each step?", first_function, says(name), name)
    return [
        ("binds", "llama", "What binds a decode step?", binds, says("host code", "launches"), "the host: its code, and launches"),
        ("graphs", "llama", "How much shorter would CUDA graphs make it?", graph_share, lambda share: 0.5 < share < 1, "more than half"),
        ("unprofiled", "llama", "How long does a token take unprofiled?", unprofiled_time, equals("not captured"), "not captured"),
        function("batching_server", "tally_usage"),
        function("gru_loop", "update_leaderboard"),
        function("photo_tags", "unpack_photos"),
        function("pixel_diffusion", "draw_preview"),
        ("late_rank", "late_rank", "Which function makes one process late?", first_action, says("rebuild_neighbours"), "rebuild_neighbours"),
        ("simulation", "tide_simulation", "What is to be done first?", first_action,
         says("memory that the GPU reaches directly", "Keep the data on the GPU"), "pinned memory, or no copy"),
        ("serving", "batching_server", "What kind of program is it?", kind_of_program, equals("serving"), "serving"),
        ("noise", "noise", "Which step repeats?", unit, equals(None), "none"),
        ("graph_unit", "graph_writer", "Which step repeats?", unit, equals("step"), "step"),
        ("gpu", "llama", "On which GPU was it captured?", gpu_of, says("H200"), "NVIDIA H200"),
        ("same", "llama", "Is a second import of the same capture faster or slower?", same_speed, equals([]), "neither"),
        ("computing", "graph_writer", "How much of a step does the GPU compute?", computing_share, lambda share: share >= 0.9, "90 % or more"),
        ("kernel", "llama", "Which kernel takes most of the GPU's time?", longest_kernel_in_all, equals(llama["kernel"]), llama["kernel"]),
        ("copies", "llama", "How many copies go to the GPU?", copies_to_gpu, equals(llama["copies"]), llama["copies"]),
        ("kernels", "llama", "How many kernels ran?", kernels_in_all, equals(llama["kernels"]), llama["kernels"]),
        ("gap", "llama", "How long is the longest gap of a decode step, and which call came before it?", longest_gap, equals(llama["gap"]), llama["gap"]),
        ("steps", "graph_writer", "How many steps ran?", steps, equals(350), 350),
        ("word", "llama", "What does launch-starved mean?", meaning, says("launch"), "the GPU waits for a launch that has not begun"),
    ]


def unpack(scene):
    """The captures, each as a bundle of its name."""
    made = [("llama", cases.FIXTURES / "h200-llama/nsys.sqlite"), ("again", cases.FIXTURES / "h200-llama/nsys.sqlite")]
    for name in PROGRAMS:
        folder = scene.folder / f"in_{name}"
        folder.mkdir()
        with tarfile.open(cases.FIXTURES / f"h200-programs/{name}.tar.xz") as archive:
            archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
        (folder / "run.json").write_text(json.dumps({"name": name}))
        made.append((name, folder))
    noise = scene.folder / "noise.nltrace"
    subprocess.run(["gzip", "-dc", cases.FIXTURES / "h200-unmarked/noise.nltrace.gz"], stdout=noise.open("wb"), check=True)
    made.append(("noise", noise))
    for name, source in made:
        done = subprocess.run([scene.nl_stage, "import", source, "--copy", "--out", scene.folder / name, "--name", name], capture_output=True, text=True,
                              env={**os.environ, **scene.environment}, cwd=scene.folder, check=False)
        if done.returncode != 0:
            raise AssertionError(f"import of {name}: {done.stderr}")


def ask_all(scene):
    unpack(scene)
    wrong, missing, tokens, asked = [], [], 0, 0
    with Client(scene.nl_stage, ["--root", str(scene.folder)], folder=scene.folder, environment=scene.environment) as client:
        agent = Agent(client)
        for name, run, question, find_out, is_right, truth in questions(oracles(cases.FIXTURES / "h200-llama/nsys.sqlite")):
            if WANTED and name not in WANTED:
                continue
            agent.begin()
            try:
                answer = find_out(agent, run)
                right = is_right(answer)
            except Missing as why:
                missing.append(f"{name} needs {why}")
                continue
            except (Failure, KeyError, IndexError, TypeError) as broken:
                answer, right = f"{type(broken).__name__}: {broken}", False
            asked += 1
            tokens += agent.tokens
            if not right or agent.dearest > BUDGET_TOKENS:
                wrong.append(name)
            print(f"{'right' if right else 'WRONG'}  {question} ({run}): {str(answer)[:160]}{'' if right else f'; the truth: {truth}'}"
                  f"  [{', '.join(agent.calls)}: {agent.tokens} tokens]", flush=True)
    for each in missing:
        print(f"not asked: {each}")
    print(f"answers: {asked - len(wrong)} of {asked} right, {tokens} tokens, {tokens / max(1, asked):.0f} for each; {len(missing)} not asked")
    assert asked and not wrong, wrong


if __name__ == "__main__":
    WANTED = sys.argv[2:]
    cases.run([ask_all], sys.argv[1])

#!/usr/bin/env python3
"""`nl-stage mcp` as a client sees it, faults included: the protocol on its output and nothing else, both kinds of revision, what an agent may do, and
what becomes of a run when it is cancelled or its client goes away.

    mcp_test.py NL_STAGE [CASE...]
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import cases
from client import LEGACY, MODERN, Client, Failure

PROBE = cases.FIXTURES / "h200-probe/probe_node.sqlite"


def serve(scene, *words, **options):
    return Client(scene.nl_stage, ["--root", str(scene.folder), *words], folder=scene.folder, environment=scene.environment, **options)


def code_of(ask):
    try:
        ask()
    except Failure as failure:
        return failure.code
    return None


def imported(scene, name="bundle"):
    shutil.copy(PROBE, scene.folder / "probe.sqlite")
    subprocess.run([scene.nl_stage, "import", "probe.sqlite", "--copy", "--out", name], cwd=scene.folder, env={**os.environ, **scene.environment}, check=True,
                   capture_output=True)


def processes_of(scene):
    """Command lines of the processes that work in the folder of the scene, the server's own excluded."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd") == str(scene.folder):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[0] and b"mcp" not in words:
                    found.append(b" ".join(words))
        except OSError:
            pass
    return found


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def long_run(scene):
    """The arguments of a run that lasts until it is interrupted."""
    scene.use_standins("hangs")
    return {"config": "light", "out": "bundle", "command": ["sleep", "4244"]}


def assert_kept(scene):
    """The interrupted run left a bundle that says so, and no process."""
    until(lambda: (scene.folder / "bundle/manifest.json").exists())
    run = json.loads((scene.folder / "bundle/run.json").read_text())
    assert run["status"] == "interrupted", run["status"]
    assert run["kernels"], "what was captured until then is there"
    until(lambda: not processes_of(scene))


def discovers(scene):
    with serve(scene) as client:
        found = client.request("server/discover")
        assert found["supportedVersions"] == [MODERN] and found["resultType"] == "complete", found
        names = [tool["name"] for tool in client.request("tools/list")["tools"]]
        assert "summary" in names and "whatif" in names and "run" not in names, names
        assert client.close() == 0


def speaks_the_older_revision(scene):
    with serve(scene, legacy=True) as client:
        assert client.request("ping") == {}
        tools = client.request("tools/list")["tools"]
        assert all(tool["inputSchema"]["type"] == "object" for tool in tools)
        assert client.request("resources/list")["resources"] == []
        assert client.close() == 0
    assert LEGACY < MODERN


def nothing_but_the_protocol_is_printed(scene):
    scene.use_standins()
    with serve(scene, "--allow-run") as client:
        client.send_bytes(b"{\n\xff\xfe\n[]\n\n")
        result = client.call("run", config="light", out="bundle", command=["sh", "-c", "echo to stdout; echo to stderr >&2"])
        assert not result["isError"], result
        assert client.close() == 0
    assert all(message is None or message.get("jsonrpc") == "2.0" for message in [*client.kept, *client.messages.queue]), client.kept


def refuses_what_is_no_message(scene):
    with serve(scene) as client:
        client.send_bytes(b"{\n")
        assert client.next_message()["error"]["code"] == -32700
        client.send_bytes(b"[" * 100_000 + b"\n")
        assert client.next_message()["error"]["code"] == -32600
        client.send_bytes(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n')
        assert client.next_message()["error"]["code"] == -32600
        assert code_of(lambda: client.request("nonsense")) == -32601
        assert code_of(lambda: client.request("tools/call", {"name": "nonsense"})) == -32602
        assert client.request("tools/list")["tools"]


def a_huge_message_is_refused_and_not_kept(scene):
    with serve(scene) as client:
        client.request("server/discover")
        before = resident_kb(client.process.pid)
        block = b"x" * (1 << 20)
        for _ in range(200):
            client.send_bytes(block)
        client.send_bytes(b"\n")
        assert client.next_message()["error"]["code"] == -32600
        grown = resident_kb(client.process.pid) - before
        assert grown < 20_000, f"{grown} kB for a message of 200 MB"
        assert client.request("tools/list")["tools"]


def resident_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def answers_what_is_piped(scene):
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY}},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ledger_search", "arguments": {}}}]
    imported(scene)
    done = subprocess.run([scene.nl_stage, "mcp", "--root", scene.folder], input="".join(json.dumps(line) + "\n" for line in lines), text=True,
                          capture_output=True, env={**os.environ, **scene.environment}, timeout=60, check=True)
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert len(replies[2]["result"]["structuredContent"]["runs"]) == 1, replies


def paths_lie_within_the_root(scene):
    imported(scene)
    (scene.folder / "link").symlink_to("/etc")
    with serve(scene) as client:
        for path in ["/etc/passwd", "../..", "link/passwd", "bundle/../../x", "/proc/self/environ"]:
            result = client.call("whatif", run=path)
            assert result["isError"] and "outside" in result["structuredContent"]["error"]["what"], (path, result)
            assert code_of(lambda path=path: client.request("resources/read", {"uri": f"nl-stage://bundle/{path}/run.json"})) == -32602
        assert not client.call("whatif", run="bundle")["isError"]
        assert not client.call("whatif", run="last")["isError"]


def words_that_look_like_flags_are_none(scene):
    with serve(scene) as client:
        for run in ["--help", "--ledger=/tmp/x", "-h", "--", "--json"]:
            error = client.call("whatif", run=run)["structuredContent"]["error"]
            assert error["kind"] == "input", error
        error = client.call("whatif", run="x", stage="--json")["structuredContent"]["error"]
        assert error["kind"] == "input", error


def wrong_arguments_say_what_is_right(scene):
    with serve(scene) as client:
        for arguments, part in [({"rum": "x"}, "run"), ({"run": ["x"]}, "text"), ({"run": "x", "pinned": "yes"}, "true or false"),
                                ({"run": {"a": 1}}, "text"), ({"run": "x", "batch": "many"}, ""), ({}, "RUN")]:
            result = client.call("whatif", **arguments)
            error = result["structuredContent"]["error"]
            assert result["isError"] and part in error["fix"], error
        error = client.call("whatif", run="a\0b")["structuredContent"]["error"]
        assert "character" in error["what"], error


def commands_are_not_run_unless_allowed(scene):
    with serve(scene) as client:
        assert code_of(lambda: client.call("run", command=["touch", "made"])) == -32602
        assert not (scene.folder / "made").exists()


def a_command_goes_through_no_shell(scene):
    scene.use_standins()
    with serve(scene, "--allow-run") as client:
        result = client.call("run", config="light", out="bundle", command=["touch", "--", "a b", "$(touch c)", ";", "--json"])
        assert result["structuredContent"]["status"] == "complete" or (scene.folder / "a b").exists(), result
    assert (scene.folder / "$(touch c)").exists() and not (scene.folder / "c").exists()


def a_run_is_a_task_that_is_polled(scene):
    scene.use_standins()
    with serve(scene, "--allow-run", tasks=True) as client:
        started = client.call("run", config="light", out="bundle", command=["true"])
        assert started["resultType"] == "task", started
        until(lambda: client.request("tasks/get", {"taskId": started["taskId"]})["status"] != "working", 120)
        ended = client.request("tasks/get", {"taskId": started["taskId"]})
        assert ended["status"] == "completed", ended
        content = ended["result"]["structuredContent"]
        links = [each["uri"] for each in ended["result"]["content"] if each["type"] == "resource_link"]
        assert f"nl-stage://run/{content['run_id']}/run.json" in links, links
        assert json.loads(client.request("resources/read", {"uri": links[-1]})["contents"][0]["text"])["run_id"] == content["run_id"]


def a_cancelled_task_keeps_its_bundle(scene):
    arguments = long_run(scene)
    with serve(scene, "--allow-run", tasks=True) as client:
        task = client.call("run", **arguments)["taskId"]
        until(lambda: (scene.folder / "started").exists())
        state = client.request("tasks/get", {"taskId": task})
        assert "[1/" in state.get("statusMessage", ""), state
        client.request("tasks/cancel", {"taskId": task})
        until(lambda: client.request("tasks/get", {"taskId": task})["status"] == "cancelled")
        assert_kept(scene)


def a_cancelled_call_keeps_its_bundle(scene):
    arguments = long_run(scene)
    with serve(scene, "--allow-run", legacy=True) as client:
        number = client.begin("tools/call", {"name": "run", "arguments": arguments, "_meta": {"progressToken": 7}})
        until(lambda: (scene.folder / "started").exists())
        client.notify("notifications/cancelled", {"requestId": number, "reason": "enough"})
        assert_kept(scene)
        assert client.request("ping") == {}
        told = [message for message in client.kept if message.get("method") == "notifications/progress"]
        assert told and told[0]["params"]["progressToken"] == 7, client.kept
        assert not [message for message in client.kept if message.get("id") == number], "a cancelled request is not answered"


def a_client_that_closes_its_end_ends_the_run(scene):
    arguments = long_run(scene)
    client = serve(scene, "--allow-run", legacy=True)
    client.begin("tools/call", {"name": "run", "arguments": arguments})
    until(lambda: (scene.folder / "started").exists())
    assert client.close() == 0
    assert_kept(scene)


def a_client_that_is_killed_ends_the_run(scene):
    arguments = long_run(scene)
    script = ("import json, sys, time\n"
              "from client import Client\n"
              "program, folder, environment, arguments = json.loads(sys.argv[1])\n"
              "client = Client(program, ['--root', folder, '--allow-run'], folder=folder, environment=environment, legacy=True)\n"
              "client.begin('tools/call', {'name': 'run', 'arguments': arguments})\n"
              "time.sleep(600)\n")
    words = json.dumps([scene.nl_stage, str(scene.folder), scene.environment, arguments])
    client = subprocess.Popen([sys.executable, "-c", script, words], cwd=pathlib.Path(__file__).parent)
    until(lambda: (scene.folder / "started").exists())
    client.kill()
    client.wait()
    assert_kept(scene)


def a_server_that_is_ended_ends_the_run(scene):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        shutil.rmtree(scene.folder / "bundle", ignore_errors=True)
        (scene.folder / "started").unlink(missing_ok=True)
        arguments = long_run(scene)
        client = serve(scene, "--allow-run", legacy=True)
        client.begin("tools/call", {"name": "run", "arguments": arguments})
        until(lambda: (scene.folder / "started").exists())
        client.process.send_signal(number)
        status = client.process.wait(30)
        assert status in (-signal.SIGKILL, 128 + number), (number, status)
        assert_kept(scene)


def a_verb_that_crashes_takes_nobody_with_it(scene):
    imported(scene)
    with serve(scene) as client:
        number = client.begin("tools/call", {"name": "whatif", "arguments": {"run": "bundle"}})
        until(lambda: processes_of(scene) or not client.messages.empty())
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and b"whatif" in (entry / "cmdline").read_bytes() and os.readlink(entry / "cwd") == str(scene.folder):
                    os.kill(int(entry.name), signal.SIGSEGV)
            except OSError:
                pass
        result = client.answer_to(number)
        if result["isError"]:  # else it was quicker than we
            assert "signal 11" in result["structuredContent"]["error"]["what"], result
        assert client.request("tools/list")["tools"]


def long_answers_are_cut_and_can_be_read(scene):
    imported(scene)
    with serve(scene) as client:
        short = client.call("summary", run="last", max_tokens=200)
        assert len(short["content"][0]["text"]) <= 800, len(short["content"][0]["text"])
        cut = short["structuredContent"]["cut"]
        whole = client.request("resources/read", {"uri": cut["whole"]})["contents"][0]["text"]
        assert json.loads(whole) == client.content("summary", run="last", max_tokens=200_000)


if __name__ == "__main__":
    cases.run([discovers, speaks_the_older_revision, nothing_but_the_protocol_is_printed, refuses_what_is_no_message,
               a_huge_message_is_refused_and_not_kept, answers_what_is_piped, paths_lie_within_the_root, words_that_look_like_flags_are_none,
               wrong_arguments_say_what_is_right, commands_are_not_run_unless_allowed, a_command_goes_through_no_shell,
               a_run_is_a_task_that_is_polled, a_cancelled_task_keeps_its_bundle, a_cancelled_call_keeps_its_bundle,
               a_client_that_closes_its_end_ends_the_run, a_client_that_is_killed_ends_the_run, a_server_that_is_ended_ends_the_run,
               a_verb_that_crashes_takes_nobody_with_it, long_answers_are_cut_and_can_be_read], sys.argv[1], sys.argv[2:])

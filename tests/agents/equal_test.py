#!/usr/bin/env python3
"""Every tool answers with what its verb prints with --json: the words are written here once more, as a user would type them.

    equal_test.py NL_STAGE [CASE...]
"""

import json
import os
import shutil
import subprocess
import sys

import cases
from client import Client

PROBE = cases.FIXTURES / "h200-probe/probe_node.sqlite"

# tool -> [(arguments, the same on the command line)]; the runs "bundle" and "other" are below the root.
CALLS = {
    "doctor": [({}, ["doctor", "--json"])],
    "summary": [({"run": "last"}, ["show", "last", "--json"]), ({"run": "nobody"}, ["show", "nobody", "--json"])],
    "explain": [({"NAME": ["tpot"]}, ["explain", "tpot", "--json"]), ({"NAME": ["nonsense"]}, ["explain", "nonsense", "--json"])],
    "query": [({"RUN": "bundle", "SQL": "select name, count(*) from slices group by name order by 2 desc, 1 limit 5"},
               ["query", "bundle", "select name, count(*) from slices group by name order by 2 desc, 1 limit 5", "--json"]),
              ({"RUN": "bundle", "SQL": "drop table slices"}, ["query", "bundle", "drop table slices", "--json"])],
    "whatif": [({"run": "bundle"}, ["whatif", "bundle", "--json"]),
               ({"run": "last", "graph": ["decode_step"], "host_speed": 2},
                ["whatif", "last", "--graph", "decode_step", "--host-speed", "2", "--json"]),
               ({"run": "bundle", "stage": "nonsense"}, ["whatif", "bundle", "--stage", "nonsense", "--json"]),
               ({"record": True}, ["whatif", "--record", "--json"]), ({}, ["whatif", "--json"])],
    "compare": [({"runs": ["bundle"], "to": ["other"]}, ["compare", "bundle", "--to", "other", "--json"]),
                ({"runs": ["bundle"], "to": ["other"], "minimum_effect": 5, "force": True},
                 ["compare", "bundle", "--to", "other", "--minimum-effect", "5", "--force", "--json"])],
    "ledger_search": [({}, ["ls", "--json"]),
                      ({"words": ["probe"], "metric": ["tpot_ms"], "limit": 1}, ["ls", "probe", "--metric", "tpot_ms", "-n", "1", "--json"]),
                      ({"since": "nonsense"}, ["ls", "--since", "nonsense", "--json"])],
    "run": [({"config": "light", "dry_run": True, "command": ["python3", "-c", "print(1)"]},
             ["run", "--config", "light", "--dry-run", "--json", "--", "python3", "-c", "print(1)"]),
            ({"config": "light"}, ["run", "--config", "light", "--json"])],
    "window": [({"recorder": "nobody"}, ["window", "nobody", "--json"]),
               ({"recorder": "nobody", "when": "step > 3"}, ["window", "nobody", "--when", "step > 3", "--json"])],
    "import": [({"files": ["probe.sqlite"], "out": "again"}, ["import", "probe.sqlite", "--out", "again", "--json"]),
               ({"files": ["none.sqlite"]}, ["import", "none.sqlite", "--json"])],
    "try": [({"a": ["true"], "b": ["sh", "-c", "exit 3"], "out": "trial", "rounds": 1, "warmup": 0, "no_profile": True},
             ["try", "--a", "true", "--b", "sh -c 'exit 3'", "--out", "trial", "--rounds", "1", "--warmup", "0", "--no-profile", "--json"]),
            ({}, ["try", "--json"])],
}
# What is of the moment: it differs between two calls of the same verb.
OF_THE_MOMENT = {"run_id", "created_at", "written_at", "started_at", "finished_at", "seed", "rounds", "folder", "elapsed_ms", "elapsed_s",
                 "duration_ms", "took_ms", "read_ms", "query_ms", "wall_s"}


# Checks of doctor of what other programs do meanwhile: free disk, profilers that run.
OF_THE_MACHINE = ("tmpdir", "artifacts", "profilers", "ncu.lock", "container.shm")


def steady(value):
    if isinstance(value, dict) and value.get("id") in OF_THE_MACHINE:
        return value["id"]
    if isinstance(value, dict):
        return {key: steady(each) for key, each in value.items() if key not in OF_THE_MOMENT}
    if isinstance(value, list):
        return [steady(each) for each in value]
    return value


def setting(scene):
    scene.use_standins()
    shutil.copy(PROBE, scene.folder / "probe.sqlite")
    for name in ("bundle", "other"):
        printed(scene, ["import", "probe.sqlite", "--copy", "--out", name, "--name", name])


def printed(scene, words):
    for out in ("again", "trial"):
        if out in words:
            shutil.rmtree(scene.folder / out, ignore_errors=True)
    done = subprocess.run([scene.nl_stage, *words], cwd=scene.folder, env={**os.environ, **scene.environment}, capture_output=True, text=True,
                          timeout=120, check=False)
    return done.returncode, done.stdout


def verbs(scene):
    return {verb["name"] for verb in json.loads(printed(scene, ["help", "--json"])[1])["verbs"]}


def positional_names(tool, arguments):
    """RUN, SQL, NAME stand for the first arguments of the tool: what they are called is the verb's to say."""
    names = iter(tool["inputSchema"]["properties"])
    return {next(names) if key.isupper() else key: value for key, value in arguments.items()}


def every_tool_answers_as_its_verb_prints(scene):
    setting(scene)
    words = ["--root", str(scene.folder), "--allow-run"]
    with Client(scene.nl_stage, words, folder=scene.folder, environment=scene.environment) as client:
        tools = {tool["name"]: tool for tool in client.request("tools/list")["tools"]}
        assert set(tools) <= set(CALLS), f"no calls for {set(tools) - set(CALLS)}"
        compared = 0
        for name, tool in tools.items():
            for arguments, typed in CALLS[name]:
                status, text = printed(scene, typed)
                for out in ("again", "trial"):
                    shutil.rmtree(scene.folder / out, ignore_errors=True)
                result = client.call(name, **positional_names(tool, arguments), max_tokens=200_000)
                assert result["_meta"]["nl-stage/exit_status"] == status, (name, arguments, status, result)
                assert steady(result["structuredContent"]) == steady(json.loads(text)), (name, arguments, text, result["structuredContent"])
                assert list(result["structuredContent"]) == list(json.loads(text)), "the order of the members is the verb's"
                compared += 1
        print(f"{compared} calls of {len(tools)} tools answered as their verbs print")


def the_list_is_whole(scene):
    listed = [tool["name"] for tool in json.loads(printed(scene, ["mcp", "--allow-run", "--json"])[1])["tools"]]
    verb_of = {name: calls[0][1][0] for name, calls in CALLS.items()}
    missing = [name for name in CALLS if name not in listed]
    assert [name for name in CALLS if name in listed] == listed, listed  # in this order
    here = [name for name in missing if verb_of[name] in verbs(scene)]
    assert not here, f"the verb is here, the tool is not: {here}"
    if missing:
        raise cases.Skip(f"this build has no {', '.join(missing)}")


def the_list_is_the_same_each_time(scene):
    once, twice = (printed(scene, ["mcp", "--json"])[1] for _ in range(2))
    assert once == twice and "run" not in [tool["name"] for tool in json.loads(once)["tools"]]


def the_list_is_small(scene):
    """An agent pays for it with each conversation."""
    text = json.dumps(json.loads(printed(scene, ["mcp", "--allow-run", "--json"])[1])["tools"])
    assert len(text) / 4 < 5000, f"{len(text) / 4:.0f} tokens"


if __name__ == "__main__":
    cases.run([every_tool_answers_as_its_verb_prints, the_list_is_whole, the_list_is_the_same_each_time, the_list_is_small], sys.argv[1], sys.argv[2:])

#!/usr/bin/env python3
"""The conformance tests of the Model Context Protocol's makers, on the MCP address of `nl-stage serve`, for both kinds of revisions.

    check_conformance.py NL_STAGE

They and the node that they need are those that tools/fetch-mcp-clients has fetched; where they are missing the test is skipped, says why and ends with
status 77. Left out are scenarios that call tools of the suite's own ("json_schema_2020_12_tool"), and of the others the checks in NOT_TESTABLE.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cases

SUITES = {
    "2026-07-28": ("conformance-next", ("server-stateless", "tools-list", "resources-list", "sep-2164-resource-not-found", "caching",
                                        "dns-rebinding-protection", "http-header-validation", "tasks-capability-negotiation")),
    "2025-06-18": ("conformance", ("server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection")),
}
# They fail on every server that has no tool "test_missing_capability", "test_streaming_elicitation", "test_logging_tool" or "slow_compute", and no prompts.
NOT_TESTABLE = {
    "sep-2549-prompts-list-caching-hints",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-missing-capability-http-400",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2663-server-rejects-undeclared-client",
    "tasks-per-request-meta-opt-in",
}
CHECK = re.compile(r"\[(?P<name>[\w-]+)\s*\]\s+(?P<outcome>SUCCESS|FAILURE|WARNING|SKIPPED|INFO)")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def node_of(clients):
    """The one that was fetched with the suite, which needs 22 or newer; else the machine's."""
    fetched = sorted(clients.glob("node_modules/node-linux-*/bin/node"))
    node = str(fetched[0]) if fetched else shutil.which("node") or skip("no node; tools/setup --lint installs it")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return node if int(version.lstrip("v").split(".")[0]) >= 22 else skip(f"node {version} is older than 22")


def checks_of(node, clients, url, revision, scenario, folder):
    """By name, with their outcome, and what was printed."""
    suite, _ = SUITES[revision]
    words = [node, clients / "node_modules" / suite / "dist/index.js", "server", "--url", url, "--scenario", scenario]
    if suite == "conformance-next":
        words += ["--spec-version", revision, "--force"]  # of an extension, too
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    text = COLOUR.sub("", done.stdout + done.stderr)
    return {match["name"]: match["outcome"] for match in CHECK.finditer(text)}, text


def main():
    nl_stage = pathlib.Path(sys.argv[1]).resolve()
    fetched = subprocess.run([cases.ROOT / "tools/fetch-mcp-clients", "--cached"], capture_output=True, text=True, check=False).stdout.strip()
    clients = pathlib.Path(fetched or skip("no conformance tests; tools/fetch-mcp-clients fetches them"))
    node = node_of(clients)
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="nl-stage-conformance-") as folder:
        environment = {**os.environ, "NL_STAGE_LEDGER": f"{folder}/ledger.sqlite"}
        shutil.copy(cases.FIXTURES / "h200-probe/probe_node.sqlite", folder)
        subprocess.run([nl_stage, "import", "probe_node.sqlite", "--out", "bundle"], cwd=folder, env=environment, check=True, capture_output=True)
        with subprocess.Popen([nl_stage, "serve", "--port", "0", "--json"], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
            text = ""
            while not text.rstrip().endswith("}"):
                text += server.stdout.readline() or sys.exit("serve ended: " + text)
            url = json.loads(text)["address"] + "mcp"
            for revision, (_, scenarios) in SUITES.items():
                for scenario in scenarios:
                    checks, printed = checks_of(node, clients, url, revision, scenario, folder)
                    bad = [name for name, outcome in checks.items() if outcome == "FAILURE" and name not in NOT_TESTABLE]
                    good = sum(outcome == "SUCCESS" for outcome in checks.values())
                    passed += good
                    if bad or good == 0:
                        failed += 1
                        print(f"FAILED {revision} {scenario}: {', '.join(bad) or 'no check passed'}\n{printed}")
            server.terminate()
    print(f"nl-tests: {passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

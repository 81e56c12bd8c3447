#!/usr/bin/env python3
"""Runs the clients that the makers of the Model Context Protocol publish for node on `nl-stage mcp`.

    check_clients.py NL_STAGE

They are those that tools/fetch-mcp-clients has fetched. Where node or they are missing the test is skipped: it says why and ends with status 77.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import cases


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def main():
    nl_stage = pathlib.Path(sys.argv[1]).resolve()
    node = shutil.which("node") or skip("no node; tools/setup --lint installs it")
    fetched = subprocess.run([cases.ROOT / "tools/fetch-mcp-clients", "--cached"], capture_output=True, text=True, check=False).stdout.strip()
    clients = fetched or skip("no clients; tools/fetch-mcp-clients fetches them")
    with tempfile.TemporaryDirectory(prefix="nl-stage-clients-") as folder:
        environment = {**os.environ, "NL_STAGE_LEDGER": f"{folder}/ledger.sqlite"}
        shutil.copy(cases.FIXTURES / "h200-probe/probe_node.sqlite", folder)
        subprocess.run([nl_stage, "import", "probe_node.sqlite", "--out", "bundle"], cwd=folder, env=environment, check=True, capture_output=True)
        sys.exit(subprocess.run([node, pathlib.Path(__file__).parent / "clients.mjs", clients, nl_stage, folder], check=False).returncode)


if __name__ == "__main__":
    main()

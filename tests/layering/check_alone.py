#!/usr/bin/env python3
"""Sources compile alone: nothing in them relies on what a unity build includes or names before them.

    check_alone.py BUILD [PART]

All sources of the product take as long as the rest of the tests. So each commit has a 64th of them, which its hash chooses: PART is a number from 0 to 63,
or `all`. Only the syntax is checked, by clang where it is there, and by the compiler of the build for Debian's LibTorch, whose headers want that.
What fails says the command that shows it again.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

PARTS = 64
SKIPPED = 77  # as Meson has it


def targets(build):
    text = subprocess.run(["meson", "introspect", "--targets", str(build)], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def product_sources(build):
    """Each C++ source outside of tests with the parameters of its target."""
    found = {}
    for target in targets(build):
        for group in target["target_sources"]:
            if group.get("language") != "cpp":
                continue
            for file in group["sources"] + group["generated_sources"]:
                path = pathlib.Path(file)
                if "-unity" in path.name and path.exists():
                    for line in re.findall(r'#include\s*[<"](.+?)[">]', path.read_text()):
                        found.setdefault(str((build / line).resolve()), group["parameters"])
                elif not file.startswith(str(build)):
                    found.setdefault(file, group["parameters"])
    return {file: parameters for file, parameters in found.items() if "/tests/" not in file and file.endswith(".cpp") and not file.startswith(str(build))}


def commit(root):
    if shutil.which("git") is None:
        return "0"
    result = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return result.stdout.strip() or "0"


def compile_alone(compiler, file, parameters):
    gcc_only = ("--param", "-Wno-psabi", "-fpch", "-include")
    kept = [each for each in parameters if not each.startswith(gcc_only) and not each.startswith("-W")]
    command = ["c++" if "/libtorch/" in file else compiler, *kept, "-fsyntax-only", "-w", file]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if result.returncode == 0 else f"{file} does not compile alone:\n{result.stderr[:2000]}\nagain: {' '.join(command)}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    part = sys.argv[2] if len(sys.argv) > 2 else str(int(commit(pathlib.Path(__file__).parent)[:8], 16) % PARTS)
    compiler = shutil.which("clang++-19") or shutil.which("clang++") or shutil.which("c++")
    if compiler is None:
        print("no compiler")
        return SKIPPED
    sources = product_sources(build)
    chosen = {file: parameters for file, parameters in sources.items() if part == "all" or zlib.crc32(os.path.basename(file).encode()) % PARTS == int(part)}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda item: compile_alone(compiler, *item), sorted(chosen.items())) if fault]
    print("\n".join(faults))
    print(f"{len(chosen)} of {len(sources)} sources alone (part {part} of {PARTS}), {len(faults)} do not compile")
    return 1 if faults or not sources else 0


if __name__ == "__main__":
    sys.exit(main())

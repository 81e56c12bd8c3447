"""Running a program bare, under nsys and under the collector, and reading what they leave behind."""
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
PATIENCE_S = 90  # for one program: a hang is a finding, not the end of all
WARM_UP, SPINS, HOLDS = 1000, 2, 20  # kernels of nl-launch-loop besides those that it was asked for


class Failed(Exception):
    pass


class Setting:
    """Where things are, and what went wrong so far."""

    def __init__(self, arguments):
        self.build, self.out = arguments.build.resolve(), arguments.out.resolve()
        self.torch, self.launches, self.bad = arguments.torch, arguments.launches, []

    def fresh(self, name):
        path = self.out / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def verdict(self, where, what, good, detail=""):
        print(f"  {what:44} {'ok' if good else 'NOT SO'}  {detail}", flush=True)
        if not good:
            self.bad.append(f"{where}: {what} {detail}")
        return good

    def attempt(self, name, part, *more):
        """Where one cannot be tried, the others still are."""
        try:
            part(self, *more)
        except Exception as trouble:  # whatever it was, it is told
            self.verdict(name, name, False, f"{type(trouble).__name__}: {trouble}"[:600])

    @property
    def collector(self):
        return str(self.build / "collector/libnl_collector.so")

    @property
    def loop(self):
        return str(self.build / "workloads/nl-launch-loop")

    @property
    def llm(self):
        return str(self.build / "workloads/nl-llm-cuda")

    def script(self, name):
        return [sys.executable, str(ROOT / "workloads/pytorch" / name)]

    def nl_stage(self, *words):
        return subprocess.run([str(self.build / "cli/nl-stage"), *map(str, words)], env=clean_env(), capture_output=True, text=True)


def clean_env(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("NL_STAGE_") and not k.endswith("INJECTION64_PATH")}
    env.update(more)
    return env


def collector_env(setting, trace, **more):
    trace.mkdir(parents=True, exist_ok=True)
    return clean_env(CUDA_INJECTION64_PATH=setting.collector, NVTX_INJECTION64_PATH=setting.collector, NL_STAGE_TRACE_DIR=str(trace), **more)


def under_nsys(argv, out, graphs="node"):
    return subprocess.run(["nsys", "profile", "-t", "cuda,nvtx", "--sample=none", "--cpuctxsw=none", f"--cuda-graph-trace={graphs}", "-f", "true",
                           "-e", "NSYS_NVTX_PROFILER_REGISTER_ONLY=0", "-o", str(out / "run"), *argv], env=clean_env(), capture_output=True, text=True)


def under_ours(setting, argv, out, **more):
    return subprocess.run(argv, env=collector_env(setting, out / "trace", **more), capture_output=True, text=True, timeout=PATIENCE_S)


def nsys_sqlite(out):
    subprocess.run(["nsys", "export", "--type", "sqlite", "-f", "true", "-o", str(out / "run.sqlite"), str(out / "run.nsys-rep")],
                   check=True, capture_output=True)
    return out / "run.sqlite"


def our_bundle(setting, out, *more):
    """What nl-stage makes of the collector's files: the SQLite (None where there were no kernels) and run.json."""
    files = sorted((out / "trace").glob("*.nltrace"))
    shutil.rmtree(out / "bundle", ignore_errors=True)
    done = setting.nl_stage("import", "--out", out / "bundle", *more, "--collector", *files)
    if not (out / "bundle/run.json").exists():
        raise Failed(f"import made no bundle of {len(files)} files: {done.stdout} {done.stderr}")
    sqlite = out / "bundle/collector/run.sqlite"
    return sqlite if sqlite.exists() else None, run_json(out / "bundle")


def run_json(bundle):
    return json.loads((bundle / "run.json").read_text())


def problems_of(run):
    return "; ".join(f"{problem['what']}: {problem['where'][:150]}" for problem in run["problems"]) or "no problems"


def notes_of(run):
    return [note["text"] for note in run["import_stats"]["notes"]]


def rows(path, query):
    if path is None:
        return []
    database = sqlite3.connect(path)
    try:
        return database.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        database.close()


def kernel_count(path):
    found = rows(path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")
    return found[0][0] if found else 0


def kernels_named(path, part):
    """(start, end) of those whose mangled name has this in it, in order."""
    return rows(path, "SELECT k.start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds m ON m.id = k.mangledName "
                      f"WHERE m.value LIKE '%{part}%' ORDER BY k.start")


def json_line(text):
    return json.loads(next(line for line in reversed(text.strip().splitlines()) if line.startswith("{")))


def file_start_ns(trace):
    """CLOCK_MONOTONIC at time 0 of the capture: when the earliest file was made (collector/trace_format.h)."""
    return min(struct.unpack_from("<q", file.read_bytes()[:64], 24)[0] for file in trace.glob("*.nltrace"))

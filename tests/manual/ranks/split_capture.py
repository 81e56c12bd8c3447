#!/usr/bin/env python3
"""Splits a real export with two GPUs into two, as if each GPU had been a rank that was captured alone, with a clock of its own.

    split_capture.py CAPTURE OUT [--device 1] [--shift-ms 137] [--drift-ppm 40]

OUT/rank1.sqlite has the rows of that GPU, OUT/rank0.sqlite those of the others. All times of rank 1 are moved:
    t' = t + shift + drift · (t − t0),   t0: where the first GPU operation of the capture begins
The start of the session stays, so that its wall clock is off by the shift. Host rows go with the process that used the GPU. Where one process
used both, rank 0 has its host rows, and rank 1 the calls that launched its operations and what else their threads did. OUT/truth.json says what
was done. Environments are blanked, but for RANK and LOCAL_RANK.
"""
import argparse
import json
import pathlib
import sqlite3

TIMES = ("start", "end", "timestamp", "startTime", "stopTime")
MS = 1_000_000
PROCESS = ~0xFFFFFF  # of a globalTid


class Capture:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        names = [name for (name,) in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        self.columns = {name: [row[1] for row in self.db.execute(f'PRAGMA table_info("{name}")')] for name in names}

    def values(self, statement, *parameters):
        return [row[0] for row in self.db.execute(statement, parameters)]

    def tables_with(self, *columns):
        return [name for name, own in self.columns.items() if all(column in own for column in columns)]

    def gpu_tables(self):
        return self.tables_with("deviceId", "globalPid")

    def close(self):
        self.db.commit()
        self.db.execute("VACUUM")
        self.db.close()


def processes_of(capture, condition):
    """By their kernels: waits of a process may be said to be of another GPU."""
    return set(capture.values(f"SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE {condition}"))


def of_processes(processes):
    return f"globalPid IN ({','.join(str(process) for process in sorted(processes))})"


def keep_gpu_rows(capture, condition):
    for table in capture.gpu_tables():
        capture.db.execute(f'DELETE FROM "{table}" WHERE NOT ({condition})')


def drop_processes(capture, processes):
    """The host rows of processes that are of another rank."""
    for table in capture.tables_with("globalTid"):
        capture.db.execute(f'DELETE FROM "{table}" WHERE {of_processes(processes).replace("globalPid", f"(globalTid & {PROCESS})")}')
    for table in capture.tables_with("globalPid"):
        if table not in capture.gpu_tables():
            capture.db.execute(f'DELETE FROM "{table}" WHERE {of_processes(processes)}')


def keep_calls_of_gpu_rows(capture):
    """Of a process that is shared: only calls with an operation in this file, and the threads that made them."""
    made = " UNION ".join(f'SELECT correlationId, globalPid FROM "{table}"' for table in capture.gpu_tables() if "correlationId" in capture.columns[table])
    capture.db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE NOT EXISTS "
                       f"(SELECT 1 FROM ({made}) made WHERE made.correlationId = CUPTI_ACTIVITY_KIND_RUNTIME.correlationId "
                       f"AND made.globalPid = (CUPTI_ACTIVITY_KIND_RUNTIME.globalTid & {PROCESS}))")
    for table in capture.tables_with("globalTid"):
        if table != "ThreadNames":
            capture.db.execute(f'DELETE FROM "{table}" WHERE globalTid NOT IN (SELECT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME)')


def drop_calls_of_gpu_rows(capture, calls):
    capture.db.execute("CREATE TEMP TABLE gone (correlationId INTEGER, globalPid INTEGER)")
    capture.db.executemany("INSERT INTO gone VALUES (?, ?)", calls)
    capture.db.execute("CREATE INDEX temp.gone_by_id ON gone (correlationId)")
    capture.db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE EXISTS (SELECT 1 FROM gone WHERE gone.correlationId = "
                       f"CUPTI_ACTIVITY_KIND_RUNTIME.correlationId AND gone.globalPid = (CUPTI_ACTIVITY_KIND_RUNTIME.globalTid & {PROCESS}))")


def move_clock(capture, shift_ns, drift_ppm, t0):
    """In whole numbers: drift in units of 1e-9, rounded half up."""
    parts = round(drift_ppm * 1000)
    for table, columns in capture.columns.items():
        for column in columns:
            if column in TIMES and not table.startswith("ENUM_"):
                capture.db.execute(f'UPDATE "{table}" SET "{column}" = "{column}" + ? + moved("{column}" - ?, ?) WHERE "{column}" IS NOT NULL',
                                   (shift_ns, t0, parts))


def blank_environment(capture, rank):
    facts = [("RANK", rank), ("LOCAL_RANK", rank), ("WORLD_SIZE", 2)]
    if "META_DATA_CAPTURE" in capture.columns:
        capture.db.execute("DELETE FROM META_DATA_CAPTURE WHERE name LIKE '%ENVIRONMENT_VARIABLE%'")
        capture.db.executemany("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?)",
                               [(f'{name}="{value}"',) for name, value in facts])
    if "TARGET_INFO_SYSTEM_ENV" in capture.columns:
        capture.db.execute("UPDATE TARGET_INFO_SYSTEM_ENV SET value = ? WHERE name = 'DeviceEnvironment'",
                           (";".join(f"{name}={value}" for name, value in facts),))
    # Blocks of a process's environment: NAME=value, divided by NUL.
    capture.db.execute("UPDATE StringIds SET value = '' WHERE instr(CAST(value AS BLOB), x'00') > 0")


def first_gpu_ns(capture):
    return min(time for table in capture.gpu_tables() if "start" in capture.columns[table]
               for time in capture.values(f'SELECT min(start) FROM "{table}"') if time is not None)


def split(source, out, device, shift_ns, drift_ppm):
    chosen, others = f"deviceId = {device}", f"deviceId <> {device}"
    copies = []
    for rank in (0, 1):
        path = out / f"rank{rank}.sqlite"
        path.write_bytes(source.read_bytes())
        path.chmod(0o644)
        copies.append(Capture(path))
        copies[-1].db.create_function("moved", 2, lambda since, parts: (since * parts + 500_000_000) // 1_000_000_000)
    t0 = first_gpu_ns(copies[0])
    one, two = processes_of(copies[0], others), processes_of(copies[0], chosen)
    if not one or not two:
        raise SystemExit(f"{source.name} has kernels on one side only: {others} in {len(one)} processes, {chosen} in {len(two)}")
    if not one & two:
        others, chosen = of_processes(one), of_processes(two)
    calls = [row for table in copies[0].gpu_tables() if "correlationId" in copies[0].columns[table]
             for row in copies[0].db.execute(f'SELECT DISTINCT correlationId, globalPid FROM "{table}" WHERE {chosen}')]
    keep_gpu_rows(copies[0], others)
    keep_gpu_rows(copies[1], chosen)
    drop_processes(copies[0], two - one)
    drop_processes(copies[1], one - two)
    if one & two:
        drop_calls_of_gpu_rows(copies[0], calls)
        keep_calls_of_gpu_rows(copies[1])
    move_clock(copies[1], shift_ns, drift_ppm, t0)
    for rank, capture in enumerate(copies):
        blank_environment(capture, rank)
        capture.close()
    return {"source": source.name, "device": device, "t0_ns": t0, "shift_ns": shift_ns, "drift_ppm": drift_ppm,
            "processes": {"rank0": len(one), "rank1": len(two), "shared": len(one & two)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--device", type=int, default=1, help="the GPU that becomes rank 1")
    parser.add_argument("--shift-ms", type=float, default=137.0)
    parser.add_argument("--drift-ppm", type=float, default=40.0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    truth = split(options.capture, options.out, options.device, round(options.shift_ms * MS), options.drift_ppm)
    (options.out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()

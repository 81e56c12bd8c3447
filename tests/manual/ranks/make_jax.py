#!/usr/bin/env python3
"""Makes exports of four ranks from the public captures pax_fsdp4_4proc_proc{0..3}.zip of NVIDIA/JAX-Toolbox (Apache-2.0).

    make_jax.py IN OUT        IN/0 … IN/3: what the archives hold, unpacked; OUT/rank0.sqlite.gz …

The archives do not hold the captures, but tables that nsys-jax made of them: every NVTX range with the time from the first to the last of its
GPU operations. Where a range without inner ranges has one operation, that is the time of the operation itself. So these are true:
times, order, hosts' ranges, GPUs and what tells the rank. These are not known and are made up: names of kernels (here what the range says),
streams (7, NCCL's 20), grids, and the calls that launched (here they last as long as the range around them). The time of day at which a
session began is missing, and there is no table that says it.

Not kept: the environment, but for which process it was; names of hosts; other processes.
The tables are Parquet. Write each as JSON lines first, a row a line, with any reader: device-metadata.jsonl, system-metadata.jsonl and
trace.jsonl (of nvtx_gpu_proj_trace) in IN/0 … IN/3.
"""
import gzip
import json
import os
import pathlib
import runpy
import sqlite3
import sys
import tempfile

MAKE_RANKS = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "ranks" / "make_ranks.py"
MADE = runpy.run_path(str(MAKE_RANKS))
insert = MADE["insert"]
COLLECTIVES = {"all-reduce": "AllReduce", "all-gather": "AllGather", "reduce-scatter": "ReduceScatter"}
RANK_FACTS = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS")
PLAIN_GPU_FACTS = ("id", "name", "busLocation", "l2CacheSize", "totalMemory", "memoryBandwidth", "clockRate", "smCount", "chipName", "computeMajor",
                   "computeMinor")


def rows_of(folder, name):
    with open(folder / f"{name}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Export:
    def __init__(self, path, device):
        self.db, self.strings, self.device = sqlite3.connect(path), {}, device
        for table, columns in MADE["TABLES"].items():
            if table not in ("TARGET_INFO_SESSION_START_TIME", "NVTX_PAYLOAD_SCHEMAS", "NVTX_PAYLOAD_SCHEMA_ENTRIES", "META_DATA_CAPTURE"):
                self.db.execute(f"CREATE TABLE {table} ({columns if table == 'StringIds' else columns.replace(' NOT NULL', '')})")
        self.db.execute("CREATE TABLE TARGET_INFO_NVTX_CUDA_DEVICE (name TEXT, hwId INTEGER, vmId INTEGER, deviceId INTEGER)")

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings) + 1)

    def facts(self, folder, pid):
        self.process, self.thread = (1 << 48) | (pid << 24), (1 << 48) | (pid << 24) | pid
        for gpu in rows_of(folder, "device-metadata"):
            facts = {name: gpu[f"('TARGET_INFO_GPU', '{name}')"] for name in PLAIN_GPU_FACTS}
            insert(self.db, "TARGET_INFO_GPU", vmId=1 << 48, cuDevice=gpu["cuDevice"], uuid=f"00000000-0000-0000-0000-{self.device:012}", **facts)
            told = {name: gpu[f"('TARGET_INFO_NVTX_CUDA_DEVICE', '{name}')"] for name in ("name", "hwId", "vmId", "deviceId")}
            insert(self.db, "TARGET_INFO_NVTX_CUDA_DEVICE", **told)
        for fact in rows_of(folder, "system-metadata"):
            if fact["name"] == "DeviceEnvironment":
                kept = [pair for pair in fact["value"].split(";") if pair.split("=")[0] in RANK_FACTS]
                self.system_fact(fact, ";".join(kept))
            elif fact["name"] == "Hostname":
                self.system_fact(fact, "node0")
            elif fact["name"] in ("CpuCores", "CpuArchitecture", "CpuDescription", "NvDriverVersion", "CudaDriverVersion", "OsDescription"):
                self.system_fact(fact, fact["value"])
        insert(self.db, "PROCESSES", globalPid=self.process, pid=pid, name="python3")
        insert(self.db, "ThreadNames", nameId=self.string("python3"), priority=20, globalTid=self.thread)
        for name, value in (("EXPORT_PRODUCT_VERSION", "2024.4.1"), ("EXPORT_SCHEMA_VERSION", "3.11.0"), ("EXPORT_SCHEMA_VERSION_MAJOR", "3"),
                            ("EXPORT_SCHEMA_VERSION_MINOR", "11"), ("EXPORT_SCHEMA_VERSION_MICRO", "0")):
            insert(self.db, "META_DATA_EXPORT", name=name, value=value)

    def system_fact(self, fact, value):
        insert(self.db, "TARGET_INFO_SYSTEM_ENV", globalVid=1 << 48, devStateName="Local (CLI)", name=fact["name"], nameEnum=fact["nameEnum"],
               value=value)

    def ranges(self, trace):
        """TSL:Thunk:#hlo_op=wrapped_copy#: the domain is before the first colon."""
        first_ns = int(min(row["Orig Start"] for row in trace))
        domains = {name: number for number, name in enumerate(sorted({row["Name"].split(":")[0] for row in trace}), 1)}
        for name, number in domains.items():
            insert(self.db, "NVTX_EVENTS", start=first_ns, eventType=75, text=name, globalTid=self.thread, domainId=number)
        for row in sorted(trace, key=lambda row: (row["Orig Start"], -row["Orig Duration"])):
            domain, _, text = row["Name"].partition(":")
            start = int(row["Orig Start"])
            insert(self.db, "NVTX_EVENTS", start=start, end=start + int(row["Orig Duration"]), eventType=59, textId=self.string(text),
                   globalTid=(self.process | row["TID"]), domainId=domains[domain])

    def kernel(self, row, name, correlation):
        launched = int(row["Orig Start"])
        insert(self.db, "CUPTI_ACTIVITY_KIND_RUNTIME", start=launched, end=launched + int(row["Orig Duration"]), eventClass=1,
               globalTid=self.process | row["TID"], correlationId=correlation, nameId=self.string("cuLaunchKernel"), returnValue=0)
        label = self.string(name)
        insert(self.db, "CUPTI_ACTIVITY_KIND_KERNEL", start=row["Projected Start"], end=row["Projected Start"] + row["Projected Duration"],
               deviceId=self.device, contextId=1, streamId=20 if name.startswith("nccl") else 7, correlationId=correlation, globalPid=self.process,
               demangledName=label, shortName=label, mangledName=label, registersPerThread=0, gridX=1, gridY=1, gridZ=1, blockX=1, blockY=1,
               blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0)

    def close(self):
        self.db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, text) for text, number in self.strings.items()])
        self.db.commit()
        self.db.execute("VACUUM")
        self.db.close()


def operation_of(name):
    """TSL:Thunk:#name=…,hlo_op=all-gather-start.12# → all-gather-start.12"""
    return name.rsplit("hlo_op=", 1)[-1].rstrip("#").split(",")[0]


def kernel_name(row, by_id):
    if not row["Name"].startswith("NCCL:"):
        return operation_of(row["Name"])
    operation = operation_of(by_id[row["ParentId"]]["Name"])
    kind = next(kind for start, kind in COLLECTIVES.items() if operation.startswith(start))
    return f"ncclDevKernel_{kind}"


def make(folder, path, device):
    trace = [row for row in rows_of(folder, "trace") if row["Name"]]
    by_id = {row["RangeId"]: row for row in trace}
    single = [row for row in trace if row["NumGPUOps"] == 1 and row["NumChild"] == 0]
    export = Export(path, device)
    export.facts(folder, trace[0]["PID"])
    export.ranges(trace)
    for correlation, row in enumerate(sorted(single, key=lambda row: row["Projected Start"]), 1):
        export.kernel(row, kernel_name(row, by_id), correlation)
    last_ns = max(row["Projected Start"] + row["Projected Duration"] for row in trace)
    insert(export.db, "ANALYSIS_DETAILS", globalVid=1 << 48, duration=last_ns, startTime=0, stopTime=last_ns)
    export.close()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for rank in range(4):
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "rank.sqlite")
            make(source / str(rank), plain, rank)
            packed = gzip.compress(pathlib.Path(plain).read_bytes(), 9, mtime=0)
        (out / f"rank{rank}.sqlite.gz").write_bytes(packed)


if __name__ == "__main__":
    main()

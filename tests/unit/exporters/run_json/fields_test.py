#!/usr/bin/env python3
"""Every member of every struct that makes up a Run is written to run.json and read back.

What a struct holds in run.json is said in one function, `fields(auto& io, Ref<decltype(io), Struct> s)`, which knows nothing of
a member that was added to the header since. So the members are read from the headers here and looked for there.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
HEADERS = ["run", "stage", "counters", "time", "timeline", "operator", "host_code", "efficiency", "rule", "prediction", "median_step", "perturbation",
           "trace"]
OF_TRACE = {"Device", "Dim3", "ImportStats"}
NOT_IN_RUN = {"PowerSample", "DeviceTableEntry", "DramUse", "OperatorDtypes", "OperatorRecords", "HostSample", "HostSamples",
              "GarbageCollection", "NcuRange", "NcuLaunch", "NcuReport", "WindowCounters", "CounterReport",  # what is summed up or chosen from before
              "BudgetBinKey", "RuleText", "RuleSeverity", "RuleEvidence", "RuleAdvice", "RuleSpec", "Rules"}  # what the program knows itself
SUMMED_UP = {"StageCounters::dram_use", "StageSampling::dram_use",  # in dram_pct
             "WhatIf::name"}  # the run's


def structs(text):
    for match in re.finditer(r"^struct (\w+) \{(.*?)^\};", text, re.S | re.M):
        body = re.sub(r"//.*", "", match[2])
        body = re.sub(r"[^;{}]*\)( const)? \{[^}]*\}", "", body)  # member functions
        members = []
        for statement in body.split(";"):
            statement = re.sub(r"\s*=\s*[^,]+", "", statement).strip()
            if not statement or "friend" in statement or "(" in statement:
                continue
            while re.search(r"<[^<>]*>", statement):
                statement = re.sub(r"<[^<>]*>", "", statement)
            names = re.match(r"[\w:]+\s+(.*)", statement, re.S)  # "std::optional low, high"
            members += [name.strip() for name in names[1].split(",")]
        yield match[1], members


def described(source):
    """struct name → the members that its fields() or cells_of() mentions."""
    out = {}
    functions = re.finditer(r"^(?:void|auto) \w+\(([^;{}]*?)\) \{(.*?)^\}", source, re.S | re.M)
    for function in functions:
        head = source[max(0, function.start() - 120):function.start()]
        name = re.search(r"Ref<decltype\(io\), (\w+)>", function[1]) or re.search(r"remove_const_t<\w+>, (\w+)>", head)
        variable = re.search(r"(\w+)$", function[1])
        if name:
            out.setdefault(name[1], set()).update(re.findall(rf"\b{variable[1]}\.(\w+)", function[2]))
    return out


def main():
    source = "\n".join(f.read_text() for f in sorted(ROOT.glob("exporters/run_json/*.*")))
    known = described(source)
    missing, seen = [], 0
    for header in HEADERS:
        for name, members in structs((ROOT / f"model/{header}.h").read_text()):
            if name in NOT_IN_RUN or (header == "trace" and name not in OF_TRACE):
                continue
            for member in members:
                seen += 1
                if member not in known.get(name, set()) and f"{name}::{member}" not in SUMMED_UP:
                    missing.append(f"{name}::{member} of model/{header}.h is not in run.json")
    if seen < 350:  # the headers had 382 when this was written: fewer would mean that they are not understood here
        missing.append(f"only {seen} members were found")
    print("\n".join(missing) or f"{seen} members of the model are in run.json")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

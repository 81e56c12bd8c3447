#!/usr/bin/env python3
"""Checks that product code decides on codes, not on sentences or name strings.

    check_codes.py SOURCE_ROOT            fails where a file has more such decisions than its ceiling
    check_codes.py SOURCE_ROOT --ceilings prints the table for what is there now

A decision is a comparison with a string literal (== or !=) or a search for one (find, starts_with …) of two characters
or more. Words that come from outside (a file format, a tool's output, a key that a user writes) have to be compared, so
the files that read them are exempt, each with its reason. All other files have a ceiling, 0 unless listed. A ceiling
may only be lowered: use an enum class and a table of words instead of a new comparison.
"""
import pathlib
import re
import sys
import tempfile

ROOMS = ('analysis', 'cli', 'collector', 'exporters', 'load', 'model', 'nvtx', 'orchestrator', 'parsers', 'query', 'runs', 'servers')

# A folder or a file whose strings come from outside.
OUTSIDE = {
    'parsers/': 'words of foreign formats: nsys, ncu, Kineto, ONNX Runtime, trtexec, Hugging Face',
    'nvtx/': 'the range vocabulary that workloads write',
    'collector/': 'environment variables, and the names of CUDA and CUPTI',
    'analysis/verdicts/rules/parse.cpp': 'words of rule expressions',
    'model/cuda_calls.h': 'names of CUDA calls',
    'model/function_name.cpp': 'names of C++ functions',
    'model/metrics.cpp': 'names of ncu metrics',
    'model/precision.cpp': 'data types as frameworks and model files spell them',
    'model/counters.h': "CUPTI's names of stall reasons",
    'analysis/trace/kernel_class.cpp': 'names of kernels',
    'analysis/trace/kernel_direction.cpp': 'names of kernels and operators',
    'analysis/staging/found/work.cpp': 'names of kernels',
    'analysis/trace/kernel_names.cpp': 'names of kernels',
    'analysis/figures/counters/metric_values.cpp': 'names of ncu metrics',
    'analysis/figures/counters/join_counters.cpp': 'names of ncu metrics',
    'analysis/figures/counters/ncu_match.cpp': 'names of ncu metrics',
    'analysis/figures/efficiency/roofline.cpp': 'names of ncu metrics',
    'analysis/figures/efficiency/device_peaks.cpp': 'names of GPUs',
    'analysis/figures/efficiency/llm_shape.cpp': 'values of a model file',
    'analysis/figures/host/code_origin.cpp': 'paths of files and libraries, names of Python modules and functions',
    'analysis/figures/host/host_work.cpp': 'names of Python modules and functions, and lines of programs',
    'analysis/figures/overhead/tracing_cost.cpp': 'names of interpreters',
    'analysis/trace/operator_names.cpp': 'names of PyTorch operator ranges',
    'analysis/figures/operators/types.cpp': 'names of operators',
    'analysis/verdicts/rules/fields_copies.cpp': 'names of kernels, copies and PyTorch operators',
    'analysis/verdicts/rules/fields_kernel.cpp': 'names of PyTorch operators',
    'analysis/verdicts/rules/fields_software.cpp': 'names of inference engines, packages and kernels',
    'analysis/verdicts/rules/totals.cpp': 'names of execution providers and operators',
    'cli/output.cpp': 'names of terminals',
    'cli/workload_words.cpp': 'the -- of the command line',
    'cli/manual/': 'words of shells and of the command line',
    'cli/cmd_stats.cpp': 'report and format names of the command line',
    'exporters/nsys_sqlite/': 'names of CUDA calls in an nsys export',
    'exporters/report/text/markdown.cpp': 'marks of Markdown',
    'exporters/report/text/kernel_names.cpp': 'names of kernels',
    'exporters/run_json/run_json.cpp': 'keys of run.json',
    'exporters/run_json/capture.cpp': 'words of earlier run.json formats',
    'exporters/run_json/schema_writer.cpp': 'keys of JSON Schema',
    'runs/archive/': 'keys and paths of archives, file names of a bundle, host names',
    'orchestrator/sampling/': 'names of programs, libraries and symbols',
    'orchestrator/config/': 'keys and values of YAML files',
    'orchestrator/bundle/schema.cpp': 'keys of run.json',
    'orchestrator/bundle/provenance.cpp': 'keys of nsys tables, of files of the CUDA toolkit, and names of scripts',
    'orchestrator/bundle/manifest.cpp': 'file names of a bundle',
    'orchestrator/import.cpp': 'a key of run.json, and the names that tools give their files',
    'orchestrator/capture/failure.cpp': "what programs write to their standard error",
    'orchestrator/capture/limits.cpp': "values of nsys' --trace",
    'orchestrator/capture/plan_parts.cpp': "Hydra's command line",
    'orchestrator/read.cpp': "keys of a model's attributes",
    'orchestrator/doctor/': 'names of other profilers, of processors and hypervisors',
    'orchestrator/machine/': 'tool versions and help texts, files of /proc, names of other profilers',
    'orchestrator/process/': 'environment variables and paths of nsys',
    'orchestrator/capture/count_ncu.cpp': "ncu's messages",
    'cli/cmd_query.cpp': 'format names of the command line',
    'exporters/report/text/links.cpp': "keys of run.json in the pointers of evidence",
    'query/': 'words of SQL, names of its tables and functions, formats of the command line',
    'load/': 'events and answers of servers, addresses',
    'servers/mcp/': 'methods and keys of the protocol, keys of what verbs print',
    'servers/http/': 'methods, headers, addresses and forms of HTTP, and keys of JSON Schema',
}

# Decisions that are still there. Lower a number when you remove one, and its line with the last.
CEILINGS = {
    'orchestrator/capture/trace_nsys.cpp': 2,
}

STRING = r'"((?:[^"\\]|\\.){2,})"'
DECISION = re.compile(
    rf'[!=]=\s*(?:std::string_view\(|std::string\()?{STRING}'
    rf'|{STRING}\s*[!=]='
    rf'|\b(?:find|rfind|starts_with|ends_with|contains|compare)\(\s*{STRING}')
# A file's suffix or name is a format, not a decision on words.
SUFFIX = re.compile(r'(?:extension|filename)\(\)(?:\.string\(\))?\s*[!=]=')


def decisions(text):
    """(line number, the string) of each decision; comments do not count."""
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'(^|\s)//.*', '', line)
        if SUFFIX.search(code):
            continue
        for match in DECISION.finditer(code):
            yield number, next(group for group in match.groups() if group)


def outside(path):
    return any(path == place or (place.endswith('/') and path.startswith(place)) for place in OUTSIDE)


def found(root):
    table = {}
    for room in ROOMS:
        for path in sorted((root / room).rglob('*')):
            name = path.relative_to(root).as_posix()
            if path.suffix in ('.cpp', '.h') and not outside(name):
                if hits := list(decisions(path.read_text())):
                    table[name] = hits
    return table


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {
            'analysis/a.cpp': 'if (note.find("not recorded") != npos) return;  // == "no"\n// x == "no"\n'
                              'if (verdict == "over") f("a sentence");\nif (c == "x") g();\n',
            'parsers/b.cpp': 'if (key == "name") read();\n',
            'cli/c.h': 'if (path.extension() == ".yaml") load();\nif ("auto" == word) h();\n',
        }.items():
            (root / path).parent.mkdir()
            (root / path).write_text(text)
        table = found(root)
        assert table == {'analysis/a.cpp': [(1, 'not recorded'), (3, 'over')], 'cli/c.h': [(2, 'auto')]}, table


def main():
    self_test()
    root = pathlib.Path(sys.argv[1]).resolve()
    table = found(root)
    if '--ceilings' in sys.argv:
        print('\n'.join(f"    '{path}': {len(hits)}," for path, hits in table.items()))
        return
    faults = []
    for path, hits in table.items():
        if len(hits) > CEILINGS.get(path, 0):
            faults.append(f'{path}: {len(hits)} decisions on a string, {CEILINGS.get(path, 0)} are allowed')
            faults += [f'  {path}:{number}: "{words}"' for number, words in hits]
    for path, ceiling in CEILINGS.items():
        if len(table.get(path, [])) < ceiling:
            print(f'{path}: lower the ceiling from {ceiling} to {len(table.get(path, []))}')
    for place in OUTSIDE:
        if not (root / place).exists():
            faults.append(f'{place} is exempt, but not there')
    print('\n'.join(faults) or f'{sum(map(len, table.values()))} decisions on a string remain, in {len(table)} files')
    sys.exit(bool(faults))


main()

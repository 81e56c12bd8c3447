#!/usr/bin/env python3
"""Checks that no text of JSON or YAML reaches a parser before its bounds were checked (model/input_bounds.h).

    check_bounds.py SOURCE_ROOT

A call of nlohmann's parse() has json_within_bounds() in the same statement; a call of YAML's Load() has
within_bounds() in it, or check_yaml_bounds() in the line above. Texts that nl-stage has just made, or that belong to the
machine, are exempt, each with its reason. A stream is never parsed: its bounds are not known.
"""
import pathlib
import re
import sys

ROOMS = ('adapters', 'analysis', 'cli', 'collector', 'exporters', 'load', 'model', 'nvtx', 'orchestrator', 'parsers', 'query', 'runs', 'servers')

EXEMPT = {
    'exporters/consistency/consistency.cpp': 'a run.json that was written a moment ago',
    'orchestrator/bundle/schema.cpp:parsed_schema': 'a schema of our own',
    'orchestrator/bundle/provenance.cpp': "version.json of the machine's CUDA toolkit",
    'orchestrator/import.cpp': 'a SAX reader that keeps one name and builds no tree',
    'adapters/tensorrt/layer_times.cpp': "what TensorRT's own library says of a layer",
    'servers/http/routes.cpp:components': 'a part of our own of the OpenAPI file',
    'servers/http/run_routes.cpp:_schema': 'a schema of our own',
    'runs/queue/machine_lock.cpp': 'a text that was made in the same line',
}

CALL = re.compile(r'(?:[jJ]son::(?:sax_)?parse|YAML::Load(?:All|File)?)\(')


def faults(root):
    for room in ROOMS:
        for file in sorted((root / room).rglob('*')):
            if file.suffix not in ('.cpp', '.h'):
                continue
            name = file.relative_to(root).as_posix()
            lines = file.read_text(encoding='utf-8').split('\n')
            for number, line in enumerate(lines):
                if not CALL.search(line) or 'within_bounds(' in line or 'check_yaml_bounds(' in lines[number - 1]:
                    continue
                near = '\n'.join(lines[max(0, number - 3):number])
                exempt = [key for key in EXEMPT if key.split(':')[0] == name and (':' not in key or key.split(':')[1] in near)]
                if not exempt:
                    yield f'{name}:{number + 1}: {line.strip()}'


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    for fault in found:
        print(f'{fault}\n  check its bounds first: json_within_bounds() of model/input_bounds.h, or check_yaml_bounds()')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())

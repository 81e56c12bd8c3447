#!/usr/bin/env python3
"""What tools/package puts together belongs together: one version everywhere, and the manual names every option."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def text(name):
    return (ROOT / name).read_text()


def versions():
    # Sample: version: '0.1.0',          version = "0.1.0"  # that of meson.build
    program = re.search(r"^ *version: '([\d.]+)',", text('meson.build'), re.MULTILINE).group(1)
    module = re.search(r'^version = "([\d.]+)"', text('nvtx/python/pyproject.toml'), re.MULTILINE).group(1)
    if program != module:
        yield f'meson.build has version {program}, nvtx/python/pyproject.toml {module}'


def workload_options():
    # Sample: "  --layers N      layers (4)\n"        \fB\-\-layers\fR \fIN\fR
    source = text('workloads/llm_options.cpp')
    told = re.findall(r'"  (--\w+)', source[:source.index('kCudaHelp')])
    page = text('workloads/nl-llm-cpu.1').replace('\\-', '-')
    assert len(told) > 5, told
    yield from (f'workloads/nl-llm-cpu.1 lacks {option}' for option in told if rf'\fB{option}\fR' not in page)


def main():
    faults = [*versions(), *workload_options()]
    print('\n'.join(faults) or 'one version, every option')
    sys.exit(bool(faults))


main()

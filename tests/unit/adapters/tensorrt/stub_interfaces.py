"""Writes a class for each interface that a library of TensorRT implements, whose functions all end the program.

    stub_interfaces.py FOLDER_OF_NVINFER_H OUTPUT

The stand-in library derives from these and has only what nl-stage calls. The interfaces grow with every release, so that they are read from the
headers at hand.
"""
import pathlib
import re
import sys

WANTED = {
    'NvInferImpl.h': ('nvinfer1', 'apiv::V', ['Builder', 'BuilderConfig', 'CudaEngine', 'EngineInspector', 'ExecutionContext', 'HostMemory',
                                             'NetworkDefinition', 'OptimizationProfile', 'Runtime', 'Tensor']),
    'NvOnnxParser.h': ('nvonnxparser', 'I', ['Parser', 'ParserError']),
}
PURE = re.compile(r'virtual ([^;{}]+?)\b(\w+)\(([^()]*)\)( const)?( noexcept)? = 0;')


def body_of(name, text):
    """`class VRuntime : public VRoot { … };` without what stands around the braces."""
    found = re.search(r'\bclass %s\b[^;{]*\{(.*?)\};' % name, text)
    if not found:
        sys.exit(f'{name} is not in the headers')
    return found.group(1)


def stub(name, base, body):
    lines = [f'class {name} : public {base} {{', ' public:']
    for result, function, arguments, const, noexcept in PURE.findall(body):
        lines.append(f'  {result}{function}({arguments}){const}{noexcept} override {{ nl::fake::not_played("{name}::{function}"); }}')
    return '\n'.join(lines + ['};', ''])


def main():
    folder, output = map(pathlib.Path, sys.argv[1:])
    parts = ['#pragma once', '#pragma GCC system_header', '#include <NvInfer.h>', '#include <NvOnnxParser.h>',
             '#include "tests/unit/adapters/tensorrt/not_played.h"']
    for header, (namespace, prefix, names) in WANTED.items():
        text = re.sub(r'/\*.*?\*/', ' ', (folder / header).read_text(), flags=re.DOTALL)
        text = ' '.join(re.sub(r'//[^\n]*|^\s*#[^\n]*', ' ', text, flags=re.MULTILINE).split())
        parts.append(f'namespace {namespace}::stubs {{')
        parts += [stub(name, prefix + name, body_of((prefix + name).split('::')[-1], text)) for name in names]
        parts.append('}')
    output.write_text('\n'.join(parts) + '\n')


main()

#!/usr/bin/env python3
"""tools/onnxruntime-include with a package and an npm made here: headers and library of one release, or headers alone with a warning."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[3] / 'tools'
SYSTEM = [pathlib.Path(folder) / 'onnxruntime_cxx_api.h' for folder in ('/usr/include/onnxruntime', '/usr/local/include/onnxruntime')]

APT_GET = '''#!/bin/bash
while [ $# -gt 0 ] && [ "$1" != download ]; do shift; done
for package in "${@:2}"; do cp "$DISTRIBUTION/$package.deb" . || exit 100; done
'''
# Fails as often as the file `failures` has lines.
NPM = '''#!/bin/bash
echo "$*" >> "$DISTRIBUTION/npm.log"
if [ -s "$DISTRIBUTION/failures" ]; then sed -i 1d "$DISTRIBUTION/failures"; exit 1; fi
cp "$DISTRIBUTION/onnxruntime-node.tgz" ./onnxruntime-node-1.21.7.tgz
'''


def write_program(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def build_package(distribution):
    tree = distribution / 'tree'
    headers = tree / 'usr/include/onnxruntime'
    headers.mkdir(parents=True)
    (headers / 'onnxruntime_cxx_api.h').touch()
    (headers / 'onnxruntime_c_api.h').write_text('#define ORT_API_VERSION 21\n')
    (tree / 'DEBIAN').mkdir()
    (tree / 'DEBIAN/control').write_text('Package: libonnxruntime-dev\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\n'
                                         'Description: test\n')
    subprocess.run(['dpkg-deb', '-Znone', '--root-owner-group', '--build', tree, distribution / 'libonnxruntime-dev.deb'], check=True,
                   stdout=subprocess.DEVNULL)


def build_npm_package(distribution):
    for folder in ('arm64', 'x64'):
        library = distribution / 'package/bin/napi-v3/linux' / folder / 'libonnxruntime.so.1'
        library.parent.mkdir(parents=True)
        library.write_text(folder)
    subprocess.run(['tar', '-czf', distribution / 'onnxruntime-node.tgz', '-C', distribution, 'package'], check=True)


@unittest.skipUnless(shutil.which('dpkg-deb'), 'needs dpkg')
@unittest.skipIf(any(path.exists() for path in SYSTEM), 'the system has headers of ONNX Runtime')
class OnnxRuntimeIncludeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        self.distribution, self.cache, self.bin = root / 'distribution', root / 'cache', root / 'bin'
        self.distribution.mkdir()
        self.bin.mkdir()
        build_package(self.distribution)
        build_npm_package(self.distribution)
        silent = '#!/bin/sh\n'
        for name, text in {'apt-get': APT_GET, 'apt-cache': silent, 'npm': NPM, 'sleep': silent, 'ldconfig': silent}.items():
            write_program(self.bin / name, text)

    def include(self, *arguments):
        env = {**os.environ, 'PATH': f'{self.bin}:{os.environ["PATH"]}', 'NL_STAGE_CACHE': str(self.cache), 'DISTRIBUTION': str(self.distribution)}
        return subprocess.run([TOOLS / 'onnxruntime-include', *arguments], env=env, capture_output=True, text=True)

    def test_fetches_nothing_unless_told_to(self):
        done = self.include()
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertFalse(self.cache.exists())

    def test_library_has_the_release_of_the_headers(self):
        done = self.include('--fetch')
        self.assertEqual(done.stdout.strip(), str(self.cache / 'onnxruntime/include'), done.stderr)
        self.assertIn('onnxruntime-node@1.21', (self.distribution / 'npm.log').read_text())
        machine = {'aarch64': 'arm64', 'x86_64': 'x64'}[os.uname().machine]
        self.assertEqual((self.cache / 'onnxruntime/lib/libonnxruntime.so.1').read_text(), machine)
        self.assertEqual(self.include().returncode, 0)

    def test_npm_is_tried_again(self):
        (self.distribution / 'failures').write_text('once\ntwice\n')
        self.assertEqual(self.include('--fetch').returncode, 0)
        self.assertTrue((self.cache / 'onnxruntime/lib').is_dir())

    def test_headers_without_a_library_are_told_and_completed_later(self):
        (self.distribution / 'failures').write_text('no\n' * 3)
        done = self.include('--fetch')
        self.assertEqual(done.returncode, 0)
        self.assertIn('WARNING: headers without a library', done.stderr)
        (self.cache / 'onnxruntime.failed').unlink()
        self.assertEqual(self.include('--fetch').returncode, 0)
        self.assertTrue((self.cache / 'onnxruntime/lib/libonnxruntime.so.1').exists())

    def test_without_a_package_nothing_is_left_behind(self):
        (self.distribution / 'libonnxruntime-dev.deb').unlink()
        self.assertEqual(self.include('--fetch').returncode, 1)
        self.assertFalse((self.cache / 'onnxruntime').exists())

    def test_what_failed_is_not_tried_again_within_the_hour(self):
        (self.distribution / 'failures').write_text('no\n' * 3)
        self.include('--fetch')
        done = self.include('--fetch')
        self.assertEqual(done.returncode, 0)
        self.assertIn('within the last hour', done.stderr)
        self.assertEqual(len((self.distribution / 'npm.log').read_text().splitlines()), 3)


unittest.main()

#!/usr/bin/env python3
"""tools/fetch-nsys with packages made here: what nsys needs and the system lacks comes along, or its name is printed."""
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / 'tools' / 'fetch-nsys'
COMPILER = shutil.which('c++') or shutil.which('g++')
HOST = 'usr/lib/nsight-systems/host-linux-test'
TARGET = 'usr/lib/nsight-systems/target-linux-test'

# Only packages with a file of their own can be downloaded.
APT_GET = '''#!/bin/bash
while [ $# -gt 0 ] && [ "$1" != download ]; do shift; done
for package in "${@:2}"; do cp "$DISTRIBUTION/$package.deb" . || exit 100; done
'''
APT_CACHE = '''#!/bin/bash
while [ "$1" != depends ]; do shift; done
for package; do
  echo "$package"
  for needed in $(cat "$DISTRIBUTION/$package.depends" 2>/dev/null); do echo "  Depends: $needed"; done
done
printf '%s\\n' '  Depends: <a-virtual-package>' ' |Depends: libssh-4' '  Depends: an-alternative-that-is-gone'
'''
# The real one ends with status 0 too when its importer cannot start.
NSYS = '''#!/bin/bash
here=$(dirname "$0")
case $1 in
  profile) "$here/../host-linux-test/QdstrmImporter" && echo report > proof.nsys-rep ;;
  export) cp proof.nsys-rep proof.sqlite ;;
esac
exit 0
'''
IMPORTER = 'extern "C" int counters(); int main() { return counters(); }'
COUNTERS = 'extern "C" int keys(); extern "C" int counters() { return keys(); }'
KEYS = 'extern "C" int keys() { return 0; }'


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def compile_program(source, output, *options):
    subprocess.run([COMPILER, '-x', 'c++', '-', '-x', 'none', '-o', output, *options], input=source, text=True, check=True)
    return output


def build_library(folder, name, source, *libraries):
    return compile_program(source, folder / name, '-shared', '-fPIC', f'-Wl,-soname,{name}', *libraries)


def build_package(distribution, name, files, depends=''):
    """DISTRIBUTION/NAME.deb of files {path inside: source}, and NAME.depends."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / name
        for inside, source in files.items():
            (tree / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, tree / inside)
        (tree / 'DEBIAN').mkdir()
        (tree / 'DEBIAN' / 'control').write_text(
            f'Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: test\n')
        subprocess.run(['dpkg-deb', '-Znone', '--root-owner-group', '--build', tree, distribution / f'{name}.deb'],
                       check=True, stdout=subprocess.DEVNULL)
    (distribution / f'{name}.depends').write_text(depends)


def build_target_package(distribution, folder, nsys):
    write_program(folder / 'nsys', nsys)
    (folder / 'module.py').touch()
    build_package(distribution, 'nsight-systems-target',
                  {f'{TARGET}/nsys': folder / 'nsys', f'{TARGET}/python/lib/module.py': folder / 'module.py'})


@unittest.skipUnless(COMPILER and shutil.which('dpkg-deb'), 'needs a compiler and dpkg')
class FetchNsysTest(unittest.TestCase):
    """nsight-systems' importer needs libnlcounters.so.4, which needs libnlkeys.so.1."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        built = pathlib.Path(folder.name)
        cls.packages = built / 'distribution'
        cls.packages.mkdir()
        keys = build_library(built, 'libnlkeys.so.1', KEYS)
        counters = build_library(built, 'libnlcounters.so.4', COUNTERS, keys)
        importer = compile_program(IMPORTER, built / 'QdstrmImporter', counters, f'-Wl,-rpath-link,{built}',
                                   '-Wl,--disable-new-dtags,-rpath,$ORIGIN')
        build_package(cls.packages, 'libnlkeys1', {'usr/lib/libnlkeys.so.1': keys})
        build_package(cls.packages, 'libnlcounters4', {'usr/lib/libnlcounters.so.4': counters}, 'libnlkeys1')
        build_package(cls.packages, 'libssh-4', {'usr/lib/libssh.so.4.9': keys})
        build_package(cls.packages, 'nsight-systems', {f'{HOST}/QdstrmImporter': importer}, 'libnlcounters4')
        build_target_package(cls.packages, built, NSYS)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.distribution = self.root / 'distribution'
        shutil.copytree(self.packages, self.distribution)
        for name, text in {'apt-get': APT_GET, 'apt-cache': APT_CACHE, 'sleep': '#!/bin/sh\n'}.items():
            write_program(self.root / 'bin' / name, text)
        self.cached_library = self.root / 'cache' / 'nsys' / 'host-linux-test' / 'libnlkeys.so.1'

    def fetch(self):
        env = {**os.environ, 'PATH': f'{self.root / "bin"}:{os.environ["PATH"]}', 'NL_STAGE_CACHE': str(self.root / 'cache'),
               'DISTRIBUTION': str(self.distribution)}
        done = subprocess.run([SCRIPT], env=env, capture_output=True, text=True)
        return done.returncode, done.stdout.strip(), (done.stderr.splitlines() or [''])[-1]

    def test_brings_the_libraries_of_its_dependencies(self):
        status, nsys, why = self.fetch()
        self.assertEqual(status, 0, why)
        importer = pathlib.Path(nsys).parent.parent / 'host-linux-test' / 'QdstrmImporter'
        self.assertEqual(subprocess.run([importer]).returncode, 0)

    def test_names_a_library_that_no_package_has(self):
        (self.distribution / 'nsight-systems.depends').write_text('')
        self.assertEqual(self.fetch(), (1, '', 'fetch-nsys: nsys lacks libnlcounters.so.4 (host-linux-test)'))

    def test_names_a_library_whose_package_cannot_be_fetched(self):
        (self.distribution / 'libnlkeys1.deb').unlink()
        self.assertEqual(self.fetch(), (1, '', 'fetch-nsys: nsys lacks libnlkeys.so.1 (host-linux-test)'))

    def test_completes_a_cached_nsys_that_lost_a_library(self):
        self.fetch()
        self.cached_library.unlink()
        status, _, why = self.fetch()
        self.assertEqual(status, 0, why)
        self.assertTrue(self.cached_library.exists())

    def test_does_not_print_a_cached_nsys_that_lost_a_library(self):
        self.fetch()
        self.cached_library.unlink()
        (self.distribution / 'libnlkeys1.deb').unlink()
        self.assertEqual(self.fetch(), (1, '', 'fetch-nsys: nsys lacks libnlkeys.so.1 (host-linux-test)'))

    def test_does_not_print_an_nsys_that_exports_nothing(self):
        build_target_package(self.distribution, self.root, NSYS.replace('cp proof', 'true proof'))
        why = "fetch-nsys: nsys cannot profile 'true' and export the report (status 0); its output is above"
        self.assertEqual(self.fetch(), (1, '', why))


unittest.main(argv=sys.argv[:1])

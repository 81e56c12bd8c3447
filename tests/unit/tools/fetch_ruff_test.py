#!/usr/bin/env python3
"""tools/fetch-ruff with an npm and a node made here: a program in PATH comes first, the module is fetched once, npm is tried again."""
import os
import pathlib
import subprocess
import tempfile
import unittest

FETCH = pathlib.Path(__file__).resolve().parents[3] / 'tools' / 'fetch-ruff'
# Fails as often as the file `failures` has lines.
NPM = '''#!/bin/bash
echo "$*" >> "$STATE/npm.log"
if [ -s "$STATE/failures" ]; then sed -i 1d "$STATE/failures"; exit 1; fi
mkdir package && touch package/ruff_wasm.js && tar -czf ruff.tgz package && rm -r package
'''
NEEDED = ('bash', 'env', 'find', 'mkdir', 'mktemp', 'mv', 'rm', 'sed', 'tar', 'gzip', 'timeout', 'touch')


class FetchRuffTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = pathlib.Path(folder.name)
        self.cache, self.bin = self.state / 'cache', self.state / 'bin'
        self.bin.mkdir()
        # Only what the script calls, so that neither a ruff nor a node of this machine is found.
        for name in NEEDED:
            found = next(path for path in (pathlib.Path(part) / name for part in ('/usr/bin', '/bin')) if path.exists())
            (self.bin / name).symlink_to(found)
        self.write('sleep', '#!/bin/bash\n')

    def write(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def with_npm(self, node='#!/bin/bash\n'):
        self.write('npm', NPM)
        self.write('node', node)

    def fetch(self, *arguments):
        env = {'PATH': str(self.bin), 'HOME': str(self.state), 'NL_STAGE_CACHE': str(self.cache), 'STATE': str(self.state),
               'TMPDIR': os.environ.get('TMPDIR', '/tmp')}
        return subprocess.run([FETCH, *arguments], env=env, capture_output=True, text=True)

    def calls_of_npm(self):
        log = self.state / 'npm.log'
        return log.read_text().splitlines() if log.exists() else []

    def test_a_program_in_path_comes_first(self):
        self.with_npm()
        self.write('ruff', '#!/bin/bash\n')
        self.assertEqual(self.fetch().stdout.strip(), str(self.bin / 'ruff'))
        self.assertEqual(self.calls_of_npm(), [])

    def test_only_looks_where_told_to(self):
        self.with_npm()
        done = self.fetch('--cached')
        self.assertEqual((done.returncode, done.stdout, self.calls_of_npm()), (1, '', []))

    def test_is_fetched_once(self):
        self.with_npm()
        first = self.fetch()
        self.assertTrue(first.stdout.strip().endswith('/ruff_wasm.js'), first.stderr)
        self.assertEqual(self.fetch().stdout, first.stdout)
        self.assertEqual(self.fetch('--cached').stdout, first.stdout)
        self.assertEqual(len(self.calls_of_npm()), 1)
        self.assertEqual([path.name for path in self.cache.iterdir()], [pathlib.Path(first.stdout.strip()).parent.name])

    def test_npm_is_tried_again_and_then_left_alone_for_an_hour(self):
        self.with_npm()
        (self.state / 'failures').write_text('once\ntwice\nthrice\n')
        self.assertEqual(self.fetch().returncode, 1)
        self.assertEqual(len(self.calls_of_npm()), 3)
        self.assertIn('within the last hour', self.fetch().stderr)
        (self.cache / 'ruff.failed').unlink()
        self.assertEqual(self.fetch().returncode, 0)

    def test_a_module_that_node_cannot_run_is_not_kept(self):
        self.with_npm(node='#!/bin/bash\nexit 1\n')
        self.assertEqual(self.fetch().returncode, 1)
        self.assertEqual(self.fetch('--cached').returncode, 1)

    def test_without_npm_the_packages_are_named(self):
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn('packages nodejs and npm', done.stderr)


if __name__ == '__main__':
    unittest.main()

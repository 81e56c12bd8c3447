#!/usr/bin/env python3
"""tools/fetch-page-tools with an npm and a node made here: the tools are fetched once, npm is tried again, and a failure is remembered."""
import os
import pathlib
import subprocess
import tempfile
import unittest

FETCH = pathlib.Path(__file__).resolve().parents[3] / 'tools' / 'fetch-page-tools'
# Fails as often as the file `failures` has lines.
NPM = '''#!/bin/bash
echo "$*" >> "$STATE/npm.log"
if [ -s "$STATE/failures" ]; then sed -i 1d "$STATE/failures"; exit 1; fi
[ -e package-lock.json ] || exit 1
mkdir -p node_modules/eslint/bin node_modules/typescript/bin && touch node_modules/eslint/bin/eslint.js node_modules/typescript/bin/tsc
'''
NEEDED = ('bash', 'cat', 'cp', 'cut', 'dirname', 'env', 'find', 'mkdir', 'mktemp', 'mv', 'rm', 'sed', 'sha256sum', 'timeout', 'touch')


class FetchPageToolsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = pathlib.Path(folder.name)
        self.cache, self.bin = self.state / 'cache', self.state / 'bin'
        self.bin.mkdir()
        # Only what the script calls, so that no node of this machine is found.
        for name in NEEDED:
            found = next(path for path in (pathlib.Path(part) / name for part in ('/usr/bin', '/bin')) if path.exists())
            (self.bin / name).symlink_to(found)
        self.write('sleep', '#!/bin/bash\n')

    def write(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def with_npm(self, node='#!/bin/bash\n', failures=0):
        self.write('npm', NPM)
        self.write('node', node)
        (self.state / 'failures').write_text('x\n' * failures)

    def fetch(self, *arguments):
        env = {'PATH': str(self.bin), 'HOME': str(self.state), 'NL_STAGE_CACHE': str(self.cache), 'STATE': str(self.state),
               'TMPDIR': os.environ.get('TMPDIR', '/tmp')}
        return subprocess.run([FETCH, *arguments], env=env, capture_output=True, text=True)

    def calls_of_npm(self):
        log = self.state / 'npm.log'
        return log.read_text().splitlines() if log.exists() else []

    def test_only_looks_where_told_to(self):
        self.with_npm()
        done = self.fetch('--cached')
        self.assertEqual((done.returncode, done.stdout, self.calls_of_npm()), (1, '', []))

    def test_is_fetched_once_and_runs_no_scripts_of_packages(self):
        self.with_npm()
        first = self.fetch()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertTrue((pathlib.Path(first.stdout.strip()) / 'node_modules/typescript/bin/tsc').exists())
        self.assertEqual((self.fetch().stdout, self.fetch('--cached').stdout), (first.stdout, first.stdout))
        self.assertEqual(len(self.calls_of_npm()), 1)
        self.assertIn('--ignore-scripts', self.calls_of_npm()[0])

    def test_npm_is_tried_again(self):
        self.with_npm(failures=2)
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(len(self.calls_of_npm()), 3)

    def test_a_failure_is_remembered_and_leaves_nothing_behind(self):
        self.with_npm(failures=99)
        done = self.fetch()
        self.assertEqual((done.returncode, len(self.calls_of_npm())), (1, 4))
        self.assertEqual([path.name for path in self.cache.iterdir()], ['page-tools.failed'])
        self.assertIn('within the last hour', self.fetch().stderr)
        self.assertEqual(len(self.calls_of_npm()), 4)

    def test_a_node_that_does_not_run_them_is_named(self):
        self.with_npm(node='#!/bin/bash\n[ "$1" = --version ] && echo v12.0.0\n')
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn('node v12.0.0 does not run them', done.stderr)

    def test_says_what_is_missing(self):
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn('no node and npm here', done.stderr)


unittest.main()

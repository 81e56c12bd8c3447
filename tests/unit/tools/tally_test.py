#!/usr/bin/env python3
"""tools/tally: what counts as passed, failed and skipped, and when the status says so."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TALLY = pathlib.Path(__file__).resolve().parents[3] / 'tools' / 'tally'


def program(result='OK', stdout='', name='x_tests', returncode=0):
    return {'name': name, 'command': [f'build/{name}'], 'result': result, 'returncode': returncode, 'stdout': stdout}


class TallyTest(unittest.TestCase):
    def tally(self, *tests, raw=None):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / 'build' / 'meson-logs' / 'testlog.json'
            log.parent.mkdir(parents=True)
            log.write_text(raw if raw is not None else ''.join(json.dumps(test) + '\n' for test in tests))
            done = subprocess.run([sys.executable, TALLY, log], capture_output=True, text=True)
            return done.stdout.splitlines()[-1], done.returncode

    def test_adds_up_programs_and_counts_scripts_once(self):
        last, status = self.tally(program(stdout='…\nnl-tests: 12 passed, 0 failed, 1 skipped\n'),
                                  program(stdout='nl-tests: 3 passed, 0 failed, 0 skipped\n'),
                                  program(name='layering.py'), program(name='gpu.py', result='SKIP', returncode=77))
        self.assertEqual((last, status), ('16 passed, 0 failed, 2 skipped', 0))

    def test_a_failed_case_fails(self):
        last, status = self.tally(program('FAIL', 'nl-tests: 2 passed, 1 failed, 0 skipped\n', returncode=1))
        self.assertEqual((last, status), ('2 passed, 1 failed, 0 skipped', 1))

    def test_a_script_that_should_fail_passes_as_long_as_it_fails(self):
        self.assertEqual(self.tally(program('EXPECTEDFAIL', name='check.py', returncode=1)), ('1 passed, 0 failed, 0 skipped', 0))
        self.assertEqual(self.tally(program('UNEXPECTEDPASS', name='check.py')), ('0 passed, 1 failed, 0 skipped', 1))
        self.assertEqual(self.tally(program('ERROR', name='check.py', returncode=99)), ('0 passed, 1 failed, 0 skipped', 1))

    def test_a_crash_after_the_tally_fails(self):
        last, status = self.tally(program('FAIL', 'nl-tests: 2 passed, 0 failed, 0 skipped\n', returncode=23))
        self.assertEqual((last, status), ('2 passed, 1 failed, 0 skipped', 1))

    def test_no_tally_fails_even_with_status_0(self):
        self.assertEqual(self.tally(program(stdout='hello')), ('0 passed, 1 failed, 0 skipped', 1))

    def test_a_timeout_fails(self):
        self.assertEqual(self.tally(program('TIMEOUT', name='slow.py')), ('0 passed, 1 failed, 0 skipped', 1))

    def test_nothing_run_fails(self):
        self.assertEqual(self.tally(raw=''), ('0 passed, 0 failed, 0 skipped', 1))
        self.assertEqual(self.tally(program(stdout='nl-tests: 0 passed, 0 failed, 0 skipped\n')),
                         ('0 passed, 1 failed, 0 skipped', 1))


if __name__ == '__main__':
    unittest.main()

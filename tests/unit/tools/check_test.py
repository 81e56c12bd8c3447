#!/usr/bin/env python3
"""tools/check: which files count as changed, whose tests they call for, and what the verdict says."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
PATH = pathlib.Path(__file__).resolve().parents[3] / 'tools' / 'check'
loader = importlib.machinery.SourceFileLoader('check', str(PATH))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader('check', loader))
loader.exec_module(check)

ROOMS = {'model', 'parsers', 'exporters', 'exporters/run_json', 'staging/windows', 'staging/ranges'}


class TreeCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.addCleanup(setattr, check, 'ROOT', check.ROOT)
        check.ROOT = self.root

    def write(self, path, text=''):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        return path


@unittest.skipUnless(shutil.which('git'), 'needs git')
class ChangedTest(TreeCase):
    def git(self, *words):
        env = {**os.environ, 'GIT_AUTHOR_NAME': 'a', 'GIT_AUTHOR_EMAIL': 'a@b', 'GIT_COMMITTER_NAME': 'a', 'GIT_COMMITTER_EMAIL': 'a@b',
               'GIT_CONFIG_GLOBAL': '/dev/null'}
        subprocess.run(['git', *words], cwd=self.root, check=True, capture_output=True, env=env)

    def commit(self, subject):
        self.git('add', '-A')
        self.git('commit', '-q', '-m', subject)

    def setUp(self):
        super().setUp()
        self.git('init', '-q', '-b', 'main')
        self.write('a.cpp', 'int a;\n')
        self.write('moved.cpp', 'int moved;\nint more;\n')
        self.commit('first')
        self.write('b.cpp', 'int b;\n')
        self.commit('second')

    def test_on_main_the_last_commit_and_the_work_tree(self):
        self.write('a.cpp', 'int a = 1;\n')
        self.write('new.cpp')
        self.assertEqual(check.changed_files(check.default_base()), {'a.cpp': True, 'b.cpp': True, 'new.cpp': True})

    def test_on_a_branch_all_since_it_left_main(self):
        self.git('checkout', '-q', '-b', 'work')
        self.git('mv', 'moved.cpp', 'elsewhere.cpp')
        self.commit('third')
        (self.root / 'a.cpp').unlink()
        self.commit('fourth')
        # What only moved, or is gone, has no new text.
        self.assertEqual(check.changed_files(check.default_base()), {'moved.cpp': False, 'elsewhere.cpp': False, 'a.cpp': False})

    def test_a_clone_of_one_commit_has_its_work_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            self.git('clone', '-q', '--depth', '1', f'file://{self.root}', f'{folder}/clone')
            check.ROOT = pathlib.Path(folder) / 'clone'
            (check.ROOT / 'a.cpp').write_text('int a = 2;\n')
            self.assertEqual(check.changed_files(check.default_base()), {'a.cpp': True})

    def test_an_unknown_base_ends_it(self):
        with self.assertRaises(SystemExit) as ended:
            check.changed_files('nowhere')
        self.assertIn('nowhere', str(ended.exception))


class RoomsTest(TreeCase):
    def test_rooms_around_a_file_or_inside_its_folder(self):
        for path, rooms in {'model/run.h': {'model'}, 'tests/unit/parsers/ncu/csv_test.cpp': {'parsers'}, 'modeling/x.cpp': set(),
                            'exporters/run_json/fields.h': {'exporters', 'exporters/run_json'}, 'exporters/meson.build': {'exporters'},
                            'staging/windows/a.cpp': {'staging/windows'}, 'staging/one.cpp': {'staging/windows', 'staging/ranges'},
                            'meson.build': set(), 'docs/index.md': set(), 'tests/unit/files.h': set(), 'tests/integration/a.cpp': set()}.items():
            self.assertEqual(check.rooms_of(path, ROOMS), rooms, path)

    def users(self):
        paths = {self.write('model/run.h', '#include <vector>\n'),
                 self.write('model/words.h', '#include "model/run.h"\n'),
                 self.write('parsers/csv.h', '#include "../model/words.h"\n'),
                 self.write('parsers/csv.cpp', '#include "csv.h"\n'),
                 self.write('tests/unit/files.h', '// #include "model/run.h"\n'),
                 self.write('tests/unit/exporters/a_test.cpp', '#include "tests/unit/files.h"\n#include "model/nowhere.h"\n')}
        return check.included_by(self.root, paths)

    def select(self, *changed):
        own, others = check.select(changed, ROOMS, self.users(), lambda rooms: {'parsers': 'read("tests/fixtures/h200/a.csv")', 'model': '"other"'})
        return own, dict(others)

    def test_a_header_calls_for_the_rooms_that_include_it(self):
        self.assertEqual(self.select('model/run.h'), ({'model'}, {'parsers': 2}))
        self.assertEqual(self.select('model/run.h', 'parsers/csv.cpp'), ({'model', 'parsers'}, {}))
        self.assertEqual(self.select('tests/unit/files.h'), (set(), {'exporters': 1}))

    def test_a_source_calls_for_its_own_room_only(self):
        self.assertEqual(self.select('model/run.cpp'), ({'model'}, {}))

    def test_a_data_file_calls_for_the_rooms_whose_tests_name_it(self):
        self.assertEqual(self.select('tests/fixtures/h200/b.json'), ({'parsers'}, {}))
        self.assertEqual(self.select('conf/a.csv'), ({'parsers'}, {}))
        self.assertEqual(self.select('tests/fixtures/make'), (set(), {}))
        self.assertEqual(self.select('tests/fixtures/h2/b.json', 'docs/h200/a.csv'), (set(), {}))

    def test_clang_tidy_sees_a_header_through_the_source_of_its_name(self):
        objects = {'parsers/csv.cpp': 'o', 'tests/unit/exporters/a_test.cpp': 'o', 'model/run.cpp': 'o'}
        tidied = check.sources_to_tidy
        self.assertEqual(tidied(['parsers/csv.h', 'parsers/csv.cpp'], objects, self.users()), ['parsers/csv.cpp'])
        self.assertEqual(tidied(['model/run.h'], objects, self.users()), ['parsers/csv.cpp'])
        self.assertEqual(tidied(['model/run.cpp', 'docs/a.md', 'model/unused.h'], objects, self.users()), ['model/run.cpp'])


    def test_clang_tidy_does_without_what_the_compiler_precompiled(self):
        command = "c++ -Imodel -include model_pch.hpp -fpch-preprocess '-DA=\"b c\"' -c ../model/run.cpp"
        self.assertEqual(check.without_precompiled_headers(command), "c++ -Imodel '-DA=\"b c\"' -c ../model/run.cpp")


class TestsTest(unittest.TestCase):
    def test(self, *words, depends=()):
        return check.Test({'name': 'x', 'depends': list(depends), 'cmd': [str(word) for word in words]}, {'id': ['tests/unit/model/model_tests']})

    def test_scripts_of_the_tree_need_nothing_compiled_and_are_of_no_room(self):
        tests = check.ROOT / 'tests'
        self.assertTrue(self.test('/usr/bin/python3', tests / 'lint/check_format.py', check.ROOT).is_script_of_the_tree())
        self.assertTrue(self.test('/usr/bin/python3', tests / 'unit/tools/docs_test.py').is_script_of_the_tree())
        self.assertFalse(self.test('/usr/bin/python3', tests / 'unit/nvtx/auto_test.py').is_script_of_the_tree())
        self.assertFalse(self.test('/usr/bin/python3', tests / 'layering/check_twin_symbols.py', depends=['id']).is_script_of_the_tree())

    def test_a_program_is_of_the_room_of_its_folder(self):
        program = self.test(check.ROOT / check.FOLDER / 'tests/unit/model/model_tests', depends=['id'])
        self.assertEqual((program.room(), program.needs), ('model', ['tests/unit/model/model_tests']))
        self.assertIsNone(self.test(check.ROOT / check.FOLDER / 'tests/integration/integration_tests').room())


class VerdictTest(unittest.TestCase):
    def verdict(self, *results, left_out=()):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            steps = check.Steps(5)
            for number, result in enumerate(results):
                steps.run(f'step {number}', lambda result=result: result)
            steps.left_out += left_out
            status = steps.verdict()
        return status, said.getvalue().splitlines()

    def test_a_failed_step_fails_the_check(self):
        status, lines = self.verdict([], ['lint format', 'the build of cli'], [])
        self.assertEqual(status, 1)
        self.assertRegex(lines[-1], r'^check: FAILED: lint format, the build of cli, 0 min \d+ s$')
        status, lines = self.verdict([], None)
        self.assertEqual((status, lines[-2]), (0, '   out of time, 0 s'))
        self.assertRegex(lines[-1], r'^check: passed, 0 min \d+ s$')

    def test_what_was_left_out_is_named(self):
        status, lines = self.verdict([], left_out=['cli'])
        self.assertEqual((status, lines[-2]), (0, 'check: not checked: cli'))

    def test_rooms_that_do_not_fit_are_left_out_and_a_failure_is_none_of_them(self):
        for result, failed, left in ((None, [], 1), (['cli'], ['cli'], 0), ([], [], 0)):
            with contextlib.redirect_stdout(io.StringIO()), unittest.mock.patch.object(check, 'check_rooms', return_value=result):
                steps = check.Steps(5)
                check.check_others(steps, [], {'cli': 3})
            self.assertEqual((steps.failed, len(steps.left_out)), (failed, left))
        with unittest.mock.patch.object(check, 'check_rooms') as asked:
            steps = check.Steps(1e-9)
            check.check_others(steps, [], {'cli': 3, 'model': 1})
        self.assertEqual((asked.call_count, steps.left_out[0].split(', which')[0]), (0, 'model, cli'))

    def test_time_is_over_only_where_it_is_limited(self):
        self.assertFalse(check.Steps(0).over())
        self.assertTrue(check.Steps(1e-9).over())

    def test_a_command_past_its_time_is_ended(self):
        self.assertIsNone(check.call(['sleep', '60'], 0.05))
        self.assertEqual(check.call(['false']), 1)


if __name__ == '__main__':
    unittest.main()

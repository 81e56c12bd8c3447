#!/usr/bin/env python3
"""Reads made dumps of PyTorch's flight recorder, of jobs whose fault is known, and files of NCCL Inspector.

    collectives_test.py NL_STAGE SOURCE_ROOT        NL_UPDATE_GOLDEN=1 writes the golden texts anew

Numbers are held against Python's own pickle.load() of the same files, and against what make_dumps.py planted.
"""
import json
import os
import pathlib
import pickle
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

NL_STAGE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
FIXTURES = ROOT / "tests/fixtures/collectives"
sys.path.insert(0, str(FIXTURES))
import make_dumps  # noqa: E402

os.environ["NL_STAGE_LEDGER"] = "off"


class Collectives(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, scene, *options, to=None):
        folder = self.folder / (to or scene)
        subprocess.run([sys.executable, FIXTURES / "make_dumps.py", folder, scene, *map(str, options)], check=True)
        return folder

    def run_verb(self, *words):
        return subprocess.run([NL_STAGE, "collectives", *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def answer(self, *words, status=0):
        done = self.run_verb(*words, "--json")
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(json.loads(done.stdout)["exit_status"], status)
        return json.loads(done.stdout)

    def flight(self, *words, **how):
        return self.answer(*words, **how)["flight"]

    def refused(self, *words, status=3):
        done = self.run_verb(*words, "--json")
        self.assertEqual(done.returncode, status, done.stdout)
        return json.loads(done.stdout)["error"]

    def valid(self, text):
        done = subprocess.run([NL_STAGE, "validate", "--schema", "collectives", "-"], input=text, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Golden(Collectives):
    def test_every_scene_reads_as_its_golden_text(self):
        for scene in [*make_dumps.SCENES, "inspector"]:
            with self.subTest(scene):
                done = self.run_verb(self.make(scene))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                golden = FIXTURES / "golden" / (scene + ".md")
                if os.environ.get("NL_UPDATE_GOLDEN"):
                    golden.write_text(done.stdout)
                self.assertEqual(done.stdout, golden.read_text())

    def test_every_answer_fits_its_schema(self):
        for scene in [*make_dumps.SCENES, "inspector"]:
            with self.subTest(scene):
                self.valid(self.run_verb(self.make(scene), "--json").stdout)


class Verdicts(Collectives):
    PLANTED = {"healthy": "nothing_waits", "shapes": "nothing_waits", "free_sizes": "nothing_waits", "batch": "nothing_waits", "hang": "not_called",
               "chain": "not_called", "sizes": "mismatch", "kind": "mismatch", "dtype": "mismatch", "order": "mismatch", "died": "no_dump",
               "all_called": "all_called", "sends": "all_called", "circle": "circle", "apart": "unknown"}

    def test_each_planted_fault_is_told_in_every_format(self):
        self.assertEqual(set(self.PLANTED), set(make_dumps.SCENES))
        for scene, verdict in self.PLANTED.items():
            for form in ("torch", "2", "5", "json"):
                with self.subTest(scene=scene, form=form):
                    self.assertEqual(self.flight(self.make(scene, "--format", form, to=scene + form))["verdict"], verdict)

    def test_the_rank_that_hangs_and_where_it_was(self):
        flight = self.flight(self.make("hang"))
        waited = flight["waited_for"]
        self.assertEqual([(each["rank"], each["by"]) for each in waited], [(2, [0, 1, 3])])
        self.assertEqual(waited[0]["last_call"]["frames"][-1], {"function": "save", "file": "/code/train.py", "line": 77})
        self.assertEqual(flight["groups"][0]["wait"]["sequence"], 5)

    def test_the_end_of_a_chain(self):
        self.assertEqual([each["rank"] for each in self.flight(self.make("chain"))["waited_for"]], [3, 1])

    def test_states_are_those_that_python_reads(self):
        for scene in ("hang", "order", "batch", "apart"):
            folder = self.make(scene, "--format", "4")
            flight = self.flight(folder)
            dumps = {int(file.name.rsplit("_", 1)[1]): pickle.loads(file.read_bytes()) for file in folder.iterdir()}
            self.assertEqual(flight["calls"], sum(len(dump["entries"]) for dump in dumps.values()))
            for member in flight["groups"][0]["members"]:
                own = [entry for entry in dumps[member["rank"]]["entries"] if not entry["is_p2p"] and entry["process_group"][0] == "0"]
                last = own[-1]["collective_seq_id"] if own else None
                self.assertEqual(member["called"], last)
                if scene != "batch":  # whose parts have the state of the whole
                    done = [entry["collective_seq_id"] for entry in own if entry["state"] == "completed"]
                    self.assertEqual(member["completed"], max(done))

    def test_exit_code(self):
        self.assertEqual(self.run_verb(self.make("healthy"), "--exit-code").returncode, 0)
        self.assertEqual(self.run_verb(self.make("hang"), "--exit-code").returncode, 9)
        self.answer(self.make("sizes"), "--exit-code", status=9)
        self.assertEqual(self.run_verb(self.make("inspector"), "--exit-code").returncode, 0)

    def test_a_ring_and_open_calls_say_what_they_do_not_show(self):
        ring = self.flight(self.make("hang", "--keep", 2, to="ring"))
        self.assertEqual(ring["verdict"], "not_called")  # the last call of rank 2 in the group is in its ring
        self.assertEqual(ring["begin_late"], [0, 1, 2, 3])
        active = self.flight(self.make("hang", "--active", to="active"))
        self.assertEqual(active["verdict"], "not_called")  # a dump without any call, of a rank that kept all of them
        text = self.run_verb(self.folder / "ring").stdout
        self.assertIn("older ones of ranks 0 to 3 were written over", text)


class Faults(Collectives):
    def test_files_that_are_cut_are_named_and_skipped(self):
        folder = self.make("hang")
        file = folder / "nccl_trace_rank_1"
        whole = file.read_bytes()
        for size in (0, 1, 2, 20, 50, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:size])
            answer = self.answer(*sorted(folder.iterdir()), status=3)
            self.assertEqual(len(answer["skipped"]), 1)
            self.assertIn("nccl_trace_rank_1", answer["skipped"][0]["where"])
            self.assertEqual(answer["skipped"][0]["code"], "capture_damaged")
            self.assertEqual(answer["flight"]["missing_ranks"], [1])
            self.assertEqual(answer["flight"]["waited_for"][0]["rank"], 2)

    def test_one_file_that_is_cut_is_an_error(self):
        file = self.make("hang") / "nccl_trace_rank_1"
        file.write_bytes(file.read_bytes()[:-1])
        self.assertEqual(self.refused(file)["what"], "the pickle is cut off")

    def test_pickles_with_objects_are_refused_and_nothing_runs(self):
        class Touch:
            def __reduce__(self):
                return (os.mkdir, (str(ran),))

        ran = self.folder / "ran"
        file = self.folder / "nccl_trace_rank_0"
        for protocol in range(2, 6):
            dump = make_dumps.hang(4).dump(0)
            dump["entries"][2]["profiling_name"] = Touch()
            file.write_bytes(pickle.dumps(dump, protocol=protocol))
            error = self.refused(file)
            self.assertIn("GLOBAL posix.mkdir would import a class or a function", error["what"])
            self.assertIn(", byte ", error["where"])
            self.assertFalse(ran.exists())

    def test_a_tensor_of_pytorch_is_refused(self):
        # What torch.save() of a tensor begins with, after the protocol.
        tensor = b"\x80\x02}X\x09\0\0\0pg_configctorch._utils\n_rebuild_tensor_v2\nq\0((X\x07\0\0\0storage"
        (self.folder / "nccl_trace_rank_0").write_bytes(tensor)
        self.assertIn("torch._utils._rebuild_tensor_v2", self.refused(self.folder / "nccl_trace_rank_0")["what"])

    def test_two_dumps_of_one_rank(self):
        one, other = self.make("hang", to="one"), self.make("hang", to="other")
        error = self.refused(one, other)
        self.assertEqual(error["what"], "two dumps are of rank 0")
        self.assertIn("other/nccl_trace_rank_0", error["where"])

    def test_dumps_of_two_jobs(self):
        one, other = self.make("hang", to="one"), self.make("hang", "--ranks", 8, to="other")
        error = self.refused(one / "nccl_trace_rank_0", other / "nccl_trace_rank_1")
        self.assertEqual(error["what"], "the dumps are not of one job: one has 4 ranks, the other 8")

    def test_a_name_without_a_rank_or_with_that_of_another(self):
        folder = self.make("hang")
        (folder / "nccl_trace_rank_0").rename(folder / "dump")
        self.assertIn("does not end with its rank", self.refused(folder / "dump")["what"])
        (folder / "dump").rename(folder / "nccl_trace_rank_9")
        self.assertIn("by its name the dump is of rank 9", self.refused(folder)["what"])

    def test_what_is_no_evidence(self):
        (self.folder / "note.txt").write_text("x")
        self.assertEqual(self.refused(self.folder / "note.txt")["code"], "unknown_format")
        self.assertEqual(self.refused(self.folder)["code"], "no_capture")
        self.assertEqual(self.refused(self.folder / "gone")["code"], "no_such_file")
        self.assertEqual(self.refused(ROOT / "tests/fixtures/h200-probe/probe_node.sqlite")["code"], "unknown_format")
        self.assertEqual(self.run_verb().returncode, 2)

    def test_other_files_of_a_folder_are_passed_over(self):
        folder = self.make("hang")
        (folder / "train.log").write_text("started\n")
        self.assertEqual(self.flight(folder)["ranks"], [0, 1, 2, 3])

    def test_huge_numbers_and_deep_nesting(self):
        folder = self.make("hang", "--format", "4")
        dump = make_dumps.hang(4).dump(0)
        dump["entries"][0]["record_id"] = 1 << 4000
        dump["entries"][1]["input_sizes"] = [[1 << 62, 1 << 62, -1]]
        nested = []
        for _ in range(200):
            nested = [nested]
        dump["entries"][2]["extra"] = nested
        (folder / "nccl_trace_rank_0").write_bytes(pickle.dumps(dump, protocol=4))
        flight = self.flight(folder)
        self.assertEqual(flight["damaged_calls"], 1)
        self.valid(self.run_verb(folder, "--json").stdout)

    def test_names_cannot_reach_the_terminal(self):
        folder = self.make("hang", "--format", "4")
        dump = make_dumps.hang(4).dump(2)
        dump["entries"][-1]["frames"] = [{"name": "\x1b[2J", "filename": "a|b", "line": 1}]
        (folder / "nccl_trace_rank_2").write_bytes(pickle.dumps(dump, protocol=4))
        self.assertNotIn("\x1b", self.run_verb(folder).stdout)

    def test_a_thousand_ranks(self):
        folder = self.make("hang", "--ranks", 1000, to="many")
        begin = time.monotonic()
        flight = self.flight(folder)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual([(each["rank"], len(each["by"])) for each in flight["waited_for"]], [(2, 999)])
        text = self.run_verb(folder).stdout
        self.assertLess(len(text), 5000)  # ranks are told as ranges

    def test_import_says_which_verb_reads_it(self):
        file = self.make("hang") / "nccl_trace_rank_0"
        done = subprocess.run([NL_STAGE, "import", file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("it is a dump of PyTorch's flight recorder: nl-stage collectives", done.stderr)


class Inspector(Collectives):
    def test_times_are_those_in_the_lines(self):
        folder = self.make("inspector")
        answer = self.answer(folder)["inspector"]
        self.assertEqual((answer["files"], answer["calls"], answer["damaged_lines"]), (4, 160, 0))
        lines = [json.loads(line) for file in folder.iterdir() for line in file.read_text().splitlines()]
        for row in answer["collectives"]:
            for rank in row["by_rank"]:
                own = [line["coll_perf"] for line in lines if line["header"]["rank"] == rank["rank"] and line["coll_perf"]["coll"] == row["kind"]]
                times = [perf["coll_exec_time_us"] for perf in own]
                self.assertEqual((rank["median_us"], rank["least_us"], rank["most_us"]), (statistics.median(times), min(times), max(times)))
                self.assertAlmostEqual(rank["bus_gb_per_s"], statistics.median(perf["coll_busbw_gbs"] for perf in own), places=4)

    def test_the_planted_rank_came_last(self):
        reduces = self.answer(self.make("inspector"))["inspector"]["collectives"][0]
        self.assertEqual(reduces["kind"], "AllReduce")
        self.assertEqual([rank["shortest"] for rank in reduces["by_rank"]], [0, 20, 0, 0])
        self.assertEqual(reduces["calls_of_all"], 20)

    def test_both_kinds_together(self):
        answer = self.answer(self.make("hang"), self.make("inspector"))
        self.assertEqual(answer["flight"]["verdict"], "not_called")
        self.assertEqual(answer["inspector"]["files"], 4)

    def test_a_last_line_that_is_cut(self):
        folder = self.make("inspector")
        file = next(folder.iterdir())
        file.write_bytes(file.read_bytes()[:-30])
        answer = self.answer(folder)["inspector"]
        self.assertEqual((answer["calls"], answer["damaged_lines"]), (159, 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""Imports made captures of several ranks, whose clocks and late ranks are known.

    ranks_test.py NL_STAGE SOURCE_ROOT
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

NL_STAGE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
MAKE = ROOT / "tests/fixtures/ranks/make_ranks.py"
os.environ["NL_STAGE_LEDGER"] = "off"


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, *options, to="made"):
        subprocess.run([sys.executable, MAKE, self.folder / to, *options], check=True)
        return sorted((self.folder / to).glob("rank*.*"))

    def truth(self, to="made"):
        return json.loads((self.folder / to / "truth.json").read_text())

    def run_import(self, *arguments):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run([NL_STAGE, "import", *map(str, arguments), "--out", out], capture_output=True, text=True)
        return done, out

    def imported(self, *arguments):
        done, out = self.run_import(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((out / "run.json").read_text())

    def refused(self, *arguments):
        done, out = self.run_import(*arguments)
        self.assertFalse(out.exists(), "nothing is left of what was refused")
        return done.returncode, done.stderr

    def check_clocks(self, run, truth, drift_ppm=None):
        """drift_ppm: what a capture of that length can tell; None: it is too short to tell one."""
        began_ns = min(made["session_ns"] for made in truth["ranks"])  # the run's time 0, by the clock of rank 0
        for entry, made in zip(run["ranks"][1:], truth["ranks"][1:]):
            self.assertEqual(entry["clock"], "collectives")
            # At the time at which offset_ns holds, the clock of the day is ahead by the shift and by what it drifted since its session began.
            since_ns = entry["drift_from_ns"] + began_ns - made["session_ns"]
            ahead_ns = made["shift_ns"] + made["drift_ppm"] * since_ns / 1e6
            self.assertLess(abs(entry["offset_ns"] - ahead_ns), 8_000, entry)  # 4 us of jitter, and where the run begins
            self.assertLess(entry["residual_ns"], 15_000)
            if drift_ppm:
                self.assertLess(abs(entry["drift_ppm"] - made["drift_ppm"]), drift_ppm, entry)

    def test_a_rank_that_computes_longer(self):
        files = self.make("--ranks", "4", "--requests", "4", "--pause-ms", "1500", "--steps", "10", "--shift-ms", "0,137,-80,40",
                          "--drift-ppm", "0,40,-5,3", "--late", "2:1:compute")
        run, truth = self.imported(*files), self.truth()
        self.check_clocks(run, truth, drift_ppm=2)
        self.assertEqual([r["source"] for r in run["ranks"]], ["environment"] * 4)
        late = run["ranks"][2]["lateness"]
        self.assertGreaterEqual(late["last"], 40)
        self.assertGreater(late["computing_ns"], 0.9 * late["late_ns"])
        self.assertIn("nvjet", late["slowest_kernel"])
        true_ns = sum(c["after_second_last_ns"] for c in truth["collectives"] if c["last"] == 2)
        self.assertLess(abs(late["late_ns"] / true_ns - 1), 0.05, "lateness to 5 %")
        rules = [f["rule"] for f in run["findings"] if f["subject"] == "decode_step"]
        self.assertIn("straggler_rank", rules)
        self.assertNotIn("exposed_communication", rules, "what is waiting for a late rank is no exchange of data")
        report = (self.folder / "out/report.md").read_text()
        self.assertTrue("The late one is rank 2:" in report)
        self.assertTrue("its GPU computed longer" in report)
        self.assertNotIn("API_TOKEN", "".join(p.read_text(errors="replace") for p in (self.folder / "out").rglob("*") if p.is_file()))

    def check_matrix(self, run, truth):
        """Each step against what was made: the sums of how much later than the last but one a rank came."""
        matrix = run["rank_matrix"]
        self.assertEqual(matrix["stage"], "decode_step")
        made = {}
        for each in truth["collectives"]:
            if each["step"] >= 0:
                made[each["last"]] = made.get(each["last"], 0) + each["after_second_last_ns"]
        for column, rank in enumerate(matrix["ranks"]):
            total = sum(row["late_ns"][column] for row in matrix["rows"])
            self.assertLess(abs(total - made.get(rank, 0)), 0.05 * sum(made.values()), f"rank {rank}")

    def test_the_matrix_of_a_rank_that_is_always_late(self):
        run = self.imported(*self.make("--ranks", "4", "--steps", "40", "--late", "2:1:compute"))
        self.check_matrix(run, self.truth())
        matrix = run["rank_matrix"]
        self.assertEqual((matrix["steps"], matrix["steps_each"], len(matrix["rows"])), (40, 2, 20))
        self.assertGreaterEqual(run["ranks"][2]["lateness"]["steps_latest"], 39)
        for row in matrix["rows"]:
            self.assertGreater(row["late_ns"][2], 1_500_000, "1 ms in each of two steps, less what it came earlier")
        report = (self.folder / "out/report.md").read_text()
        self.assertIn("nearly always the same one", report)
        self.assertIn("| Steps | rank 0 | rank 1 | rank 2 | rank 3 |", report)
        page = (self.folder / "out/report.html").read_text()
        self.assertIn('<td class="n h4"', page)
        for rank in run["ranks"]:
            budget = rank["budget"]
            self.assertLessEqual(sum(value for key, value in budget.items() if key != "wall_ns"), budget["wall_ns"])
            waits = budget["wait_ns"] / budget["wall_ns"]
            self.assertTrue(waits < 0.1 if rank["rank"] == 2 else waits > 0.3, rank)

    def test_the_matrix_of_ranks_that_are_late_in_turns(self):
        run = self.imported(*self.make("--ranks", "3", "--steps", "24", "--late", "0:1:compute:2", "--late", "1:1.4:host:3", "--late", "2:1.8:compute:4",
                                       "--missing", "1:5"))
        self.check_matrix(run, {"collectives": [each for each in self.truth()["collectives"] if each["step"] >= 5]})
        self.assertGreater(run["rank_matrix"]["changes"], 5)
        self.assertIn("Ranks are late in turns", (self.folder / "out/report.md").read_text())

    def test_a_rank_whose_program_is_late(self):
        run = self.imported(*self.make("--ranks", "4", "--steps", "30", "--late", "1:1:host"))
        late = run["ranks"][1]["lateness"]
        self.assertGreater(late["host_ns"], 0.9 * late["late_ns"])
        self.assertEqual(late["slowest_range"], "prepare_inputs")
        straggler = [f for f in run["findings"] if f["rule"] == "straggler_rank"]
        self.assertTrue(straggler, [f["rule"] for f in run["findings"]])
        self.assertIn("rank 1", straggler[0]["message"])
        self.assertIn("prepare_inputs", json.dumps(straggler[0]))

    def test_ranks_of_one_step_are_not_told_to_be_late(self):
        files = self.make("--ranks", "4", "--steps", "30")
        one = self.imported(files[0])
        run = self.imported(*files)
        # They all-reduce in each step: four parts of one model, which writes each token once.
        rates = [each["latency"]["output_tokens_per_s"] for each in (one, run)]
        self.assertLess(abs(rates[1] / rates[0] - 1), 0.02, rates)
        self.assertTrue(run["name"] == "made", run["name"])
        last = [r["lateness"]["late_ns"] for r in run["ranks"]]
        self.assertLess(max(last), 0.7 * sum(last))
        self.assertFalse([f for f in run["findings"] if f["rule"] == "straggler_rank"])

    def test_numbers_by_file_name_and_by_order(self):
        files = self.make("--ranks", "3", "--steps", "12", "--named", "file")
        run = self.imported(files[2], files[0], files[1])
        self.assertEqual([(r["rank"], r["source"]) for r in run["ranks"]], [(0, "file-name"), (1, "file-name"), (2, "file-name")])
        self.assertEqual([pathlib.Path(r["file"]).name for r in run["ranks"]], ["rank0.sqlite", "rank1.sqlite", "rank2.sqlite"])
        named = [shutil.copy(f, self.folder / n) for f, n in zip(files, ("a.sqlite", "bb.sqlite", "ccc.sqlite"))]
        run = self.imported(*named)
        self.assertEqual([r["source"] for r in run["ranks"]], ["order"] * 3)
        self.assertIn("ranks-by-order", json.dumps(run["import_stats"]["notes"]))

    def test_sub_groups_and_one_pid_in_all_containers(self):
        run = self.imported(*self.make("--ranks", "4", "--steps", "30", "--groups", "tp2,dp", "--gpus-per-node", "2", "--same-pid",
                                       "--shift-ms", "0,3,90,-40"))
        self.assertEqual([r["clock"] for r in run["ranks"]], ["reference"] + ["collectives"] * 3)
        self.check_clocks(run, self.truth())
        pids = [pid for r in run["ranks"] for pid in r["pids"]]
        self.assertEqual(len(pids), len(set(pids)))
        self.assertEqual(sorted(d for r in run["ranks"] for d in r["devices"]), [0, 1, 2, 3])
        self.assertEqual([r["host"] for r in run["ranks"]], ["node0", "node0", "node1", "node1"])

    def test_traces_of_torch_profiler(self):
        self.make("--ranks", "2", "--steps", "20", "--shift-ms", "0,25", "--kineto")
        run = self.imported(*sorted((self.folder / "made").glob("rank*.json*")))
        self.assertEqual([r["clock"] for r in run["ranks"]], ["reference", "collectives"])

    def test_the_bandwidth_of_collectives(self):
        self.make("--ranks", "4", "--steps", "30", "--kineto")
        run, truth = self.imported(*sorted((self.folder / "made").glob("rank*.json*"))), self.truth()
        sizes = {"AllReduce": 4096 * 16 * 2, "AllGather": 32000 * 4 * 2}
        factors = {"AllReduce": 1.5, "AllGather": 0.75}
        names = {"all_reduce": "AllReduce", "all_gather": "AllGather"}
        self.assertEqual(len(run["collective_rates"]), 2)
        for rate in run["collective_rates"]:
            kind = names[rate["kind"]]
            made = [each for each in truth["collectives"] if each["kind"] == kind and each["group"] == rate["ranks"]]
            transfer_ns = sum(min(end - start for start, end in zip(each["starts_ns"], each["ends_ns"])) for each in made)
            self.assertEqual((rate["calls"], rate["bytes"]), (len(made), len(made) * sizes[kind]))
            self.assertLess(abs(rate["transfer_ns"] / transfer_ns - 1), 0.001, "clocks drift by 20 ppm, and a time is whole nanoseconds")
            self.assertAlmostEqual(rate["algorithm_bytes_per_s"], rate["bytes"] / rate["transfer_ns"] * 1e9, delta=1)
            self.assertAlmostEqual(rate["bus_bytes_per_s"], rate["algorithm_bytes_per_s"] * factors[kind], delta=1)
        self.assertIn("Bus bandwidth", (self.folder / "out/report.md").read_text())

    def test_exports_of_nsys_say_no_sizes(self):
        run = self.imported(*self.make("--ranks", "2", "--steps", "12"))
        self.assertEqual(run["collective_rates"], [])
        self.assertNotIn("Bus bandwidth", (self.folder / "out/report.md").read_text())

    def test_the_stages_of_a_pipeline_wait_for_each_other(self):
        run = self.imported(*self.make("--ranks", "4", "--steps", "40", "--groups", "pp", "--micro-batches", "2", "--layers", "6"))
        truth = self.truth()
        self.assertEqual([rank["clock"] for rank in run["ranks"]], ["reference"] + ["collectives"] * 3)
        waited = {}
        for each in truth["collectives"]:
            if each["kind"] == "SendRecv":
                waits = [max(each["starts_ns"]) - start for start in each["starts_ns"]]
                sums = waited.setdefault(tuple(each["group"]), [0, 0, 0])
                for place, value in enumerate([*waits, 1]):
                    sums[place] += value
        pairs = {(pair["first"], pair["second"]): pair for pair in run["rank_pairs"]}
        self.assertEqual(sorted(pairs), [(0, 1), (0, 3), (1, 2), (2, 3)])
        for ranks, (first_ns, second_ns, calls) in waited.items():
            self.assertEqual(pairs[ranks]["calls"], calls)
            for said, made in ((pairs[ranks]["first_waited_ns"], first_ns), (pairs[ranks]["second_waited_ns"], second_ns)):
                self.assertLess(abs(said - made), 0.02 * (first_ns + second_ns), ranks)
        shares = [rank["budget"]["receive_wait_ns"] / rank["budget"]["wall_ns"] for rank in run["ranks"]]
        made = {rank: 0 for rank in range(4)}
        for each in truth["collectives"]:
            if each["step"] >= 0:
                for rank, start in zip(each["group"], each["starts_ns"]):
                    made[rank] += max(each["starts_ns"]) - start
        for rank in run["ranks"]:
            self.assertLess(abs(rank["budget"]["receive_wait_ns"] / made[rank["rank"]] - 1), 0.05, rank)
            self.assertEqual(rank["budget"]["wait_ns"], 0)
        self.assertGreater(min(shares), 0.2)
        bubble = [each for each in run["findings"] if each["rule"] == "pipeline_bubble"]
        self.assertEqual([each["subject"] for each in bubble], ["decode_step"])
        self.assertIn("for what other ranks send them", bubble[0]["message"])
        rules = [each["rule"] for each in run["findings"] if each["subject"] == "decode_step"]
        self.assertNotIn("straggler_rank", rules, "that stages wait for each other is how a pipeline works")
        self.assertNotIn("ranks_out_of_step", rules)
        self.assertIn("Sends and receives", (self.folder / "out/report.md").read_text())

    def test_a_folder_of_them(self):
        files = self.make("--ranks", "2", "--steps", "12")
        (self.folder / "made/truth.json").unlink()
        self.assertEqual(len(self.imported(files[0].parent)["ranks"]), 2)

    def test_missing_ranks(self):
        files = self.make("--ranks", "4", "--steps", "12")
        status, error = self.refused(files[0], files[3])
        self.assertEqual(status, 3)
        self.assertIn("2 of the 4 ranks of the run are not given: 1, 2", error)
        self.assertIn("--partial-ranks", error)
        run = self.imported(files[0], files[3], "--partial-ranks")
        self.assertEqual([r["rank"] for r in run["ranks"]], [0, 3])
        self.assertIn("ranks-missing", json.dumps(run))

    def test_faults(self):
        one, other = self.make("--ranks", "2", "--steps", "12"), self.make("--ranks", "2", "--steps", "12", "--seed", "9", to="other")
        status, error = self.refused(one[0], other[0])
        self.assertEqual(status, 3)
        self.assertIn("two captures are of rank 0", error)
        three = self.make("--ranks", "3", "--steps", "12", to="three")
        self.assertIn("the captures are not of one run: one has 2 ranks, the other 3", self.refused(one[0], three[1])[1])
        cut = self.folder / "rank1.sqlite"
        cut.write_bytes(one[1].read_bytes()[:40_000])
        status, error = self.refused(one[0], cut)
        self.assertEqual(status, 3)
        self.assertIn(str(cut), error)

    def test_a_rank_that_began_later(self):
        run = self.imported(*self.make("--ranks", "2", "--steps", "30", "--missing", "1:7", "--shift-ms", "0,5"))
        self.assertEqual(run["ranks"][1]["clock"], "collectives")
        self.check_clocks(run, self.truth())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)

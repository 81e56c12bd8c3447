#!/usr/bin/env python3
"""Imports made captures of several ranks, whose clocks and late ranks are known.

    ranks_test.py NL_STAGE SOURCE_ROOT
"""
import contextlib
import csv
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

NL_STAGE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
MAKE = ROOT / "tests/fixtures/ranks/make_ranks.py"
os.environ["NL_STAGE_LEDGER"] = "off"


def add_rows(export, other, offset_ns):
    """The work of another export into this one, as of one session: names are numbered anew, times are moved."""
    with contextlib.closing(sqlite3.connect(export)) as db:
        db.execute("ATTACH ? AS other", (str(other),))
        first = db.execute("SELECT max(id) + 1 FROM StringIds").fetchone()[0]
        db.execute("INSERT INTO StringIds SELECT id + ?, value FROM other.StringIds", (first,))
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY", "NVTX_EVENTS", "ThreadNames", "PROCESSES"):
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            named = {"demangledName", "shortName", "mangledName", "nameId", "textId"}
            taken = [f'"{c}" + {first}' if c in named else f'"{c}" + {offset_ns}' if c in ("start", "end") else f'"{c}"' for c in columns]
            db.execute(f"INSERT INTO {table} SELECT {', '.join(taken)} FROM other.{table}")
        db.commit()


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

    def rules_of_steps(self, run):
        return {each["rule"] for each in run["findings"] if each["subject"] == "decode_step"}

    def test_experts_with_more_tokens(self):
        run = self.imported(*self.make("--ranks", "4", "--steps", "30", "--groups", "ep", "--expert-load", "1,1,1.8,1"))
        (load,) = run["expert_loads"]
        self.assertEqual((load["ranks"], load["busiest"], load["kernel"], load["rounds"]), ([0, 1, 2, 3], 2, "fused_moe_kernel", 60))
        made_ns = 60 * 120_000  # of experts with as many tokens as most have
        self.assertLess(abs(load["mean_ns"] / made_ns - 1.2), 0.03)
        self.assertLess(abs((load["most_ns"] - load["mean_ns"]) / made_ns - 0.6), 0.03)
        rules = self.rules_of_steps(run)
        self.assertIn("expert_imbalance", rules)
        self.assertFalse(rules & {"uneven_compute", "straggler_rank", "ranks_out_of_step"}, rules)
        finding = next(each for each in run["findings"] if each["rule"] == "expert_imbalance")
        self.assertIn("rank 2", json.dumps(finding))
        self.assertIn("fused_moe_kernel", json.dumps(finding))
        share = (load["most_ns"] - load["mean_ns"]) * 4 / sum(rank["budget"]["wall_ns"] for rank in run["ranks"])
        self.assertIn(f"wait {100 * share:.0f} % of the time", finding["message"])
        self.assertIn("What experts compute in the steps", (self.folder / "out/report.md").read_text())

    def test_a_slow_gpu_is_no_busy_expert(self):
        run = self.imported(*self.make("--ranks", "4", "--steps", "30", "--groups", "ep", "--slow-gpu", "2:1.6"))
        (load,) = run["expert_loads"]
        # The longest of four that scatter by 8 % is 8 % above their mean.
        self.assertLess((load["most_ns"] - load["mean_ns"]) / load["mean_ns"], 0.12)
        rules = self.rules_of_steps(run)
        self.assertNotIn("expert_imbalance", rules)
        self.assertIn("straggler_rank", rules)

    def test_experts_with_as_many_tokens_each(self):
        run = self.imported(*self.make("--ranks", "4", "--steps", "30", "--groups", "ep"))
        self.assertEqual(len(run["expert_loads"]), 1)
        self.assertFalse(self.rules_of_steps(run) & {"expert_imbalance", "uneven_compute", "straggler_rank"})

    def test_a_trace_of_torch_profiler_of_another_rank_gives_no_operators(self):
        self.make("--ranks", "2", "--steps", "12", "--kineto")
        made = self.folder / "made"
        status, error = self.refused(made / "rank0.sqlite", made / "rank1.json")
        self.assertEqual(status, 3)
        self.assertIn("of rank 0 and of rank 1, and by tools whose captures are not joined", error)
        self.assertEqual(self.run_import(made / "rank0.sqlite", made / "rank0.json")[0].returncode, 0)

    def test_the_processes_of_one_capture_have_the_ranks_that_nl_stage_noted(self):
        """A bundle of run, whose nsys captured two processes: the second is of the rank that was told it."""
        one, other = self.make("--ranks", "2", "--steps", "20", "--drift-ppm", "0,0", "--shift-ms", "0,0")
        bundle = self.folder / "bundle"
        (bundle / "nsys").mkdir(parents=True)
        (bundle / "facts").mkdir()
        (bundle / "run.json").write_text("{}")
        both = bundle / "nsys/run.sqlite"
        shutil.copy(one, both)
        add_rows(both, other, offset_ns=self.truth()["ranks"][1]["session_ns"] - self.truth()["ranks"][0]["session_ns"])
        run = self.imported(bundle)
        self.assertEqual([(rank["rank"], rank["source"]) for rank in run["ranks"]], [(0, "order"), (1, "order")])
        pids = [made["pid"] for made in self.truth()["ranks"]]
        noted = [{"pid": pid, "rank": rank, "world_size": 8} for pid, rank in zip(pids, (5, 2))]
        (bundle / "facts/ranks.json").write_text(json.dumps({"processes": noted}))
        run = self.imported(bundle)
        self.assertEqual([(rank["rank"], rank["source"], rank["pids"]) for rank in run["ranks"]],
                         [(2, "environment", [pids[1]]), (5, "environment", [pids[0]])])

    def test_which_rank_the_others_wait_for_when_a_hung_run_is_ended(self):
        run = self.imported(*self.make("--ranks", "4", "--steps", "20", "--hang", "2:9000"))
        hang = run["rank_hang"]
        self.assertEqual((hang["waiting"], hang["kind"]), ([0, 1, 3], "all_reduce"))
        self.assertEqual([(each["rank"], each["range"], each["in_range"]) for each in hang["absent"]], [(2, "save_checkpoint", True)])
        self.assertLess(abs(hang["waited_ns"] / 9e9 - 1), 0.001)
        (finding,) = [each for each in run["findings"] if each["rule"] == "rank_never_came"]
        self.assertIn("rank 0, rank 1 and rank 3 wait in a collective (all_reduce) for rank 2", finding["message"])
        self.assertIn("save_checkpoint", json.dumps(finding["evidence"]))
        self.assertIn("for rank 2", (self.folder / "out/report.md").read_text())

    def test_no_rank_is_told_to_hang_where_captures_do_not_tell(self):
        for options in (("--hang", "2:300"), ("--hang", "2:9000", "--ends-early", "2:5000"), ()):
            run = self.imported(*self.make("--ranks", "4", "--steps", "20", *options))
            self.assertIsNone(run["rank_hang"], options)
            self.assertNotIn("rank_never_came", {each["rule"] for each in run["findings"]})

    def test_ranks_as_tables(self):
        self.make("--ranks", "4", "--steps", "20", "--late", "2:1:compute", "--kineto")
        run = self.imported(*sorted((self.folder / "made").glob("rank*.json*")))
        subprocess.run([NL_STAGE, "facts", self.folder / "out", "-f", "csv", "-o", self.folder / "facts"], check=True, capture_output=True)
        rows = list(csv.DictReader((self.folder / "facts/ranks.csv").read_text().splitlines()))
        self.assertEqual([int(row["rank"]) for row in rows], [0, 1, 2, 3])
        for row, rank in zip(rows, run["ranks"]):
            self.assertEqual((row["run_id"], row["host"], int(row["pid"])), (run["run_id"], rank["host"] or "", rank["pids"][0]))
            self.assertEqual(row["offset_ns"], "" if rank["residual_ns"] is None else str(rank["offset_ns"]))
            for key in ("drift_error_ppm", "residual_ns", "residual_max_ns"):
                self.assertEqual(float(row[key]) if row[key] else None, rank[key])
            for key in ("late_ns", "last", "computing_ns"):
                self.assertEqual((int(row[key]), int(row["step_" + key])), (rank["lateness"][key], rank["step_lateness"][key]))
            parts = ("compute", "exchange", "wait", "receive_wait", "copy", "idle")
            self.assertEqual(sum(int(row[f"budget_{part}_ns"]) for part in parts), int(row["budget_wall_ns"]))
        rates = list(csv.DictReader((self.folder / "facts/collective_rates.csv").read_text().splitlines()))
        self.assertEqual([(row["kind"], row["ranks"], int(row["sum_bytes"])) for row in rates],
                         [(rate["kind"], "0,1,2,3", rate["bytes"]) for rate in run["collective_rates"]])

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

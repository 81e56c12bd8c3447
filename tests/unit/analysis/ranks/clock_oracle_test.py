#!/usr/bin/env python3
"""The oracle of clocks against made captures whose clocks and late ranks are known, and the expected.json beside fixtures against the oracle."""
import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import clock_oracle

FIXTURES = pathlib.Path(__file__).resolve().parents[3] / "fixtures" / "ranks"
MAKE = FIXTURES / "make_ranks.py"
# A folder with rank0.sqlite.gz … and expected.json of captures that are not in the tree: see tests/manual/README.md.
ELSEWHERE = os.environ.get("NL_STAGE_TEST_RANKS")


def made(folder, *options):
    subprocess.run([sys.executable, MAKE, folder, *options], check=True)
    truth = json.loads((pathlib.Path(folder) / "truth.json").read_text())
    return [str(pathlib.Path(folder) / rank["file"]) for rank in truth["ranks"]], truth


def true_offset(truth, number, reference_ns):
    """What rank `number`'s clock says more than rank 0's when that says reference_ns."""
    first, other = truth["ranks"][0], truth["ranks"][number]
    true_ns = first["session_ns"] + reference_ns / (1 + first["drift_ppm"] * 1e-6)
    return (true_ns - other["session_ns"]) * (1 + other["drift_ppm"] * 1e-6) - reference_ns


def unpacked(folder, into):
    files = []
    for packed in sorted(pathlib.Path(folder).glob("rank*.sqlite.gz")):
        files.append(os.path.join(into, packed.stem))
        pathlib.Path(files[-1]).write_bytes(gzip.decompress(packed.read_bytes()))
    return files


class MadeClocks(unittest.TestCase):
    def judged(self, *options, groups=()):
        with tempfile.TemporaryDirectory() as folder:
            files, truth = made(folder, *options)
            return clock_oracle.judge(files, groups), truth

    def check_clocks(self, answer, truth):
        for number, rank in enumerate(answer["ranks"][1:], 1):
            clock = rank["clock"]
            # The median of n ends is off by about sigma / sqrt(n). Five times that, and a nanosecond for rounding.
            allowed = 1 + 5 * clock["sigma_ns"] / clock["pairs"] ** 0.5
            self.assertLess(abs(clock["offset_ns"] - true_offset(truth, number, clock["reference_ns"])), allowed)
            drift = truth["ranks"][number]["drift_ppm"] - truth["ranks"][0]["drift_ppm"]
            self.assertLess(abs(clock["drift_ppm"] - drift), 5 * clock["drift_error_ppm"] + 1e-4)
            self.assertLess(abs(clock["drift_theil_sen_ppm"] - drift), 5 * clock["drift_error_ppm"] + 1e-4)

    def check_late(self, answer, truth, least_ns):
        """Where the last rank leads by more than the error of the clocks, it is the true one; by how much it leads agrees as well."""
        told = {}
        for row in truth["collectives"]:
            told.setdefault((row["kind"], tuple(row["group"])), []).append(row)
        clear = 0
        for row in answer["collectives"]:
            true = told[row["kind"], tuple(row["group"])][row["index"]]
            if true["after_second_last_ns"] > least_ns:
                clear += 1
                self.assertEqual(row["last"], true["last"])
                self.assertLess(abs(row["after_second_last_ns"] - true["after_second_last_ns"]), least_ns)
        self.assertGreater(clear, 5)

    def test_offsets_and_drifts_of_a_long_run(self):
        answer, truth = self.judged("--requests", "12", "--pause-ms", "900", "--steps", "8", "--late", "2:1.5:compute")
        self.check_clocks(answer, truth)
        self.check_late(answer, truth, 12000)
        self.assertTrue(all(rank["clock"]["drift_error_ppm"] < 0.2 for rank in answer["ranks"][1:]))

    def test_wall_clocks_are_apart_by_their_shifts(self):
        answer, _ = self.judged("--ranks", "2", "--shift-ms", "0,137", "--drift-ppm", "0,0")
        self.assertLess(abs(answer["ranks"][1]["clock"]["wall_offset_ns"] - 137e6), 4000)

    def test_exact_where_all_leave_at_once(self):
        answer, truth = self.judged("--ranks", "3", "--jitter-us", "0", "--drift-ppm", "0,40,-17", "--requests", "4", "--pause-ms", "500")
        for number in (1, 2):
            clock = answer["ranks"][number]["clock"]
            self.assertLess(clock["max_ns"], 2)  # times are whole nanoseconds
            self.assertLess(abs(clock["offset_ns"] - true_offset(truth, number, clock["reference_ns"])), 1)
            self.assertLess(abs(clock["drift_ppm"] - truth["ranks"][number]["drift_ppm"]), 0.002)

    def test_a_capture_that_begins_late(self):
        answer, truth = self.judged("--missing", "1:3", "--missing", "3:7", "--requests", "6", "--pause-ms", "400")
        self.check_clocks(answer, truth)
        self.assertEqual(answer["ranks"][3]["clock"]["pairs"], 6 * 17 * 5 - 5 * 8)

    def test_groups(self):
        groups = ["AllGather=all", "AllReduce=0,1", "AllReduce=2,3", "ReduceScatter=0,2", "ReduceScatter=1,3"]
        answer, truth = self.judged("--groups", "tp2,dp,world", "--late", "1:0.9:host:2", "--requests", "6", "--pause-ms", "400", groups=groups)
        self.check_clocks(answer, truth)
        self.check_late(answer, truth, 25000)

    def test_ranks_without_a_common_collective(self):
        answer, _ = self.judged("--groups", "tp2", groups=["AllReduce=0,1", "AllReduce=2,3"])
        self.assertEqual([rank["clock"] if rank["clock"] in (None, "unjoined") else "joined" for rank in answer["ranks"]],
                         [None, "joined", "unjoined", "unjoined"])

    def test_one_rank_in_each_of_its_steps(self):
        for cause in ("compute", "host"):
            answer, _ = self.judged("--steps", "20", "--late", f"3:2:{cause}")
            sums = answer["sums"]
            self.assertEqual(max(sums, key=lambda rank: rank["after_second_last_ns"])["rank"], 3)
            self.assertAlmostEqual(sums[3]["after_second_last_ns"] / 20, 2e6, delta=1e5)


class MadeKineto(unittest.TestCase):
    def test_says_the_same_as_the_export(self):
        with tempfile.TemporaryDirectory() as folder:
            files, truth = made(folder, "--kineto", "--groups", "tp2,dp,world", "--missing", "2:3", "--steps", "6")
            for path, rank in zip(files, truth["ranks"]):
                db = sqlite3.connect(path)
                exported = [(rank["utc_epoch_ns"] + start, rank["utc_epoch_ns"] + end, name) for start, end, name in db.execute(
                    "SELECT start, end, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON StringIds.id = demangledName ORDER BY start, end")]
                db.close()
                trace = json.loads(pathlib.Path(path).with_suffix(".json").read_text())
                kernels = [event for event in trace["traceEvents"] if event["cat"] == "kernel"]
                begins = [trace["baseTimeNanoseconds"] + round(event["ts"] * 1000) for event in kernels]
                traced = sorted((begin, begin + round(event["dur"] * 1000), event["name"]) for begin, event in zip(begins, kernels))
                self.assertEqual(exported, traced)
                self.assertEqual(trace["distributedInfo"]["rank"], rank["rank"])
                groups = {group["pg_name"]: group["ranks"] for group in trace["distributedInfo"]["pg_config"]}
                for event in kernels:
                    if "Collective name" in event["args"]:
                        self.assertEqual(json.dumps(groups[event["args"]["Process Group Name"]]), event["args"]["Process Group Ranks"])


class Expected(unittest.TestCase):
    def check(self, folder):
        with tempfile.TemporaryDirectory() as into:
            files = unpacked(folder, into)
            self.assertTrue(files, f"{folder} has no rank*.sqlite.gz")
            self.assertEqual(clock_oracle.as_text(clock_oracle.judge(files)), (pathlib.Path(folder) / "expected.json").read_text())

    def test_made_captures(self):
        self.check(FIXTURES / "made")

    def test_made_captures_are_what_their_command_makes(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as into:
            command = (FIXTURES / "made" / "options").read_text().split()
            made(folder, *command)
            for kept in unpacked(FIXTURES / "made", into):
                new = os.path.join(folder, os.path.basename(kept))
                self.assertEqual(contents(kept), contents(new))

    @unittest.skipUnless(ELSEWHERE, "NL_STAGE_TEST_RANKS names no folder of captures")
    def test_captures_elsewhere(self):
        self.check(ELSEWHERE)


def contents(path):
    db = sqlite3.connect(path)
    rows = list(db.iterdump())
    db.close()
    return rows


if __name__ == "__main__":
    unittest.main()

"""The sampler of Python stacks: real Pythons, real threads, a stand-in for torch."""

import collections
import linecache
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

from auto_case import AUTO, AutoCase, run_tests

sys.path.insert(0, str(AUTO))
from nl_stage_auto import stack_file, stack_walk  # NL_STAGE_MARK is not set: it does nothing by itself

Frame = collections.namedtuple("Frame", "line function file module first source")


def unescaped(text):
    return text.replace("\\\\", "\0").replace("\\t", "\t").replace("\\n", "\n").replace("\0", "\\")


class Stacks:
    """A file of samples, read strictly: an id that nothing explains is an error."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n"), text[-100:]
        header, period, *lines = [line.split("\t") for line in text.split("\n")[:-1]]
        assert header == ["nl-stage stacks", "1"] and period[0] == "period", (header, period)
        self.period_ns, self.pid, self.size = int(period[1]), int(path.stem[len("stacks-"):]), len(text.encode())
        self.frames, self.stacks, self.samples, self.collections, self.counts = [], [], [], [], []
        for kind, *fields in lines:
            getattr(self, "_read_" + kind)(*fields)

    def _read_f(self, number, line, function, file, module, first, source):
        assert int(number) == len(self.frames)
        self.frames.append(Frame(int(line), unescaped(function), unescaped(file), unescaped(module), int(first), unescaped(source)))

    def _read_k(self, number, frames):
        assert int(number) == len(self.stacks)
        self.stacks.append([self.frames[int(frame)] for frame in frames.split(",")])

    def _read_s(self, time_ns, thread, stack):
        self.samples.append((int(time_ns), int(thread), self.stacks[int(stack)]))

    def _read_g(self, *fields):
        self.collections.append(tuple(map(int, fields)))

    def _read_c(self, *fields):
        self.counts.append(tuple(map(int, fields)))

    def functions(self, thread=None):
        """How many samples have a function innermost."""
        return collections.Counter(stack[-1].function for _, tid, stack in self.samples if thread in (None, tid))


# For workloads that run until they were sampled: the machine may have better things to do. Samples may cost what they cost, blocks and
# clock marks come ten times a second.
SAMPLED = '''
import nl_stage_auto
from nl_stage_auto import sampler
sampler._SAMPLING_SHARE = sampler._WRITING_SHARE = 1
sampler._WRITE_NS = sampler._CLOCK_NS = 10**8


def fewer(samples):
    file = nl_stage_auto.process._sampler._file
    return file is None or file.written + file._new_samples < samples
'''


class StacksCase(AutoCase):
    def setUp(self):
        super().setUp()
        self.file("fakes/sampled.py", SAMPLED)

    def sampled(self, text, hertz="97", **more):
        result = self.good(text, NL_STAGE_HOST_SAMPLES_HZ=hertz, **more)
        self.assertEqual({str(fact["errors"]) for fact in result.facts.values()}, {"{}"})
        result.stacks = {stacks.pid: stacks for stacks in map(Stacks, self.files())}
        return result

    def files(self):
        return sorted((self.folder / f"facts{self.logs}").glob("stacks-*.txt"))

    def one(self, text, **more):
        (stacks,) = self.sampled(text, **more).stacks.values()
        return stacks


class SamplesTest(StacksCase):
    def test_shares_of_two_functions(self):
        stacks = self.one("""
            import random, torch
            from sampled import fewer
            def often(loops):
                while loops: loops -= 1
            def seldom(loops):
                while loops: loops -= 1
            dice = random.Random(5)
            while fewer(150):
                often(int(70_000 * dice.random()))
                seldom(int(30_000 * dice.random()))
            """, hertz="397")
        counts = stacks.functions()
        inside = counts["often"] + counts["seldom"]
        print(f"sampler: {counts['often'] / inside:.2f} of {inside} samples for 0.70 of the work")
        self.assertGreater(inside, 0.8 * len(stacks.samples))
        # Four standard deviations of so many draws. Loops, not seconds, since the machine is shared: it stops either function alike.
        self.assertAlmostEqual(counts["often"] / inside, 0.7, delta=4 * (0.7 * 0.3 / inside) ** 0.5)

    def test_python_before_a_call_that_releases_the_gil_is_not_taken_for_the_call(self):
        stacks = self.one("""
            import hashlib, time, torch
            from sampled import fewer
            data = bytes(1 << 16)
            def python(loops):
                while loops: loops -= 1
            def native(loops):
                while loops: hashlib.sha256(data); loops -= 1
            spent = [0, 0]
            while fewer(100):
                begin = time.monotonic(); python(30_000)
                middle = time.monotonic(); native(20)
                spent[0] += middle - begin; spent[1] += time.monotonic() - middle
            open("share", "w").write(str(spent[0] / sum(spent)))
            """, hertz="397")
        counts, share = stacks.functions(), float((self.folder / "share").read_text())
        seen = counts["python"] / (counts["python"] + counts["native"])
        print(f"sampler: {seen:.2f} of the samples in Python that takes {share:.2f} of the time")
        # With Python's own switch interval of 5 ms none of these samples shows it: a sample waits for the next call that releases the GIL.
        self.assertGreater(seen, share / 3)

    def test_a_sample_in_full(self):
        result = self.sampled("""
            import threading, time, torch; from sampled import fewer
            class Model:
                def forward(self): time.sleep(0.03)  # "tab\there", \\\\
            while fewer(5): Model().forward()
            print(threading.get_native_id(), len(threading.enumerate()))
            """)
        ((pid, stacks),) = result.stacks.items()
        tid, known_threads = map(int, result.out.split())
        self.assertEqual((stacks.period_ns, tid, known_threads), (10309278, pid, 1))
        time_ns, thread, stack = next(sample for sample in stacks.samples if sample[2][-1].line == 4)
        self.assertEqual(thread, tid)
        qualified = "Model.forward" if sys.version_info >= (3, 11) else "forward"
        file = str(self.folder / "script.py")
        self.assertEqual(stack, [Frame(5, "<module>", file, "__main__", 1, "while fewer(5): Model().forward()"),
                                 Frame(4, qualified, file, "__main__", 4, 'def forward(self): time.sleep(0.03)  # "tab\there", \\\\')])
        self.assertLess(abs(time_ns - time.monotonic_ns()), 60e9)

    def test_clock_marks_carry_their_time(self):
        result = self.sampled("import time, torch\nfrom sampled import fewer\nwhile fewer(25): time.sleep(0.01)")
        marks = [call for call in result.calls if call[0] == "mark"]
        self.assertEqual({call[1] for call in marks}, {"LLM.clock"})
        times = [int(call[2][len("monotonic_ns="):]) for call in marks]
        self.assertEqual(times, sorted(times))
        self.assertGreater(len(times), 1)
        self.assertGreater(min(after - before for before, after in zip(times, times[1:])), 0.09e9)
        ((_, stacks),) = result.stacks.items()
        self.assertTrue(times[0] < stacks.samples[0][0] < times[1])

    def test_which_threads(self):
        result = self.sampled("""
            import concurrent.futures, queue, selectors, threading, time, torch, transformers
            from sampled import fewer
            done, waits = threading.Event(), threading.Event()
            def busy():
                while not done.is_set(): sum(range(1000))
            def names(function, *args): threading.Thread(target=function, args=args, daemon=True).start()
            pool = concurrent.futures.ThreadPoolExecutor(2)
            pool.submit(int).result()
            names(done.wait); names(queue.Queue().get); names(selectors.DefaultSelector().select, 5)
            def generate():
                transformers.TinyForCausalLM().generate(torch.Tensor(1, 2))
                waits.set()
                done.wait()
                print(threading.get_native_id())
            threads = [threading.Thread(target=work) for work in (busy, generate)]
            for thread in threads: thread.start()
            waits.wait()
            until = time.monotonic() + 0.3  # a few samples of the thread that waits now
            while fewer(60) or time.monotonic() < until: time.sleep(0.01)
            done.set()
            for thread in threads: thread.join()
            """)
        ((pid, stacks),) = result.stacks.items()
        waiting = {thread for _, thread, stack in stacks.samples if stack[-1].module in ("threading", "queue", "selectors", "concurrent.futures.thread")}
        self.assertLessEqual(waiting, {pid, int(result.out)})  # the main thread, and one that opened ranges
        self.assertIn(int(result.out), waiting)
        self.assertGreater(stacks.functions(pid)["<module>"], 1)
        self.assertGreater(stacks.functions()["busy"], 1)
        self.assertEqual({stack[-1].module for _, _, stack in stacks.samples if stack[-1].module.startswith("nl_stage")}, set())

    def test_at_most_eight_threads_and_64_frames(self):
        stacks = self.one("""
            import threading, time, torch
            from sampled import fewer
            def deep(left):
                while fewer(60) if left == 0 else deep(left - 1): time.sleep(0.01)
            threads = [threading.Thread(target=deep, args=(200,)) for _ in range(11)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            """)
        times = collections.Counter(time_ns for time_ns, _, _ in stacks.samples)
        self.assertEqual((max(times.values()), max(len(stack) for _, _, stack in stacks.samples)), (8, 64))
        self.assertEqual({stack[0].function for _, _, stack in stacks.samples if len(stack) == 64}, {"deep"})
        self.assertGreater(stacks.counts[-1][3], len(times))  # four more at each time

    def test_garbage_collections(self):
        stacks = self.one("""
            import gc, torch
            gc.disable()
            kept = [[[]] for _ in range(50_000)]
            gc.collect(0)
            gc.collect()
            print(len(gc.callbacks))
            """)
        self.assertIn(2, [generation for _, _, _, generation in stacks.collections])
        for begin, end, _, _ in stacks.collections:
            self.assertGreaterEqual(end - begin, 50_000)
        self.assertIn(stacks.pid, {thread for _, _, thread, _ in stacks.collections})

    def test_a_sampled_stack_keeps_nothing_alive(self):
        stacks = self.one("""
            import time, torch, weakref
            from sampled import fewer
            class Tensor: pass
            def work(samples):
                tensor = Tensor()
                while fewer(samples): time.sleep(0.01)
                return weakref.ref(tensor)
            assert all(work(samples)() is None for samples in (2, 4, 6))
            """)
        self.assertGreater(stacks.functions()["work"], 1)


class LifeTest(StacksCase):
    BLOCKS = "import os, signal, time, torch, nl_stage_auto\nimport sampled\nwhile nl_stage_auto.process._sampler._file.written < 3: time.sleep(0.01)\n"

    def test_nothing_starts_unless_it_is_asked_for(self):
        text = "import sys, time, torch\ntime.sleep(0.02)\nprint([name for name in sys.modules if 'sampler' in name or 'stack_' in name])"
        for more in ({}, {"NL_STAGE_HOST_SAMPLES_HZ": ""}, {"NL_STAGE_HOST_SAMPLES_HZ": "0"}, {"NL_STAGE_HOST_SAMPLES_HZ": "97", "NL_STAGE_FACTS_DIR": ""}):
            with self.subTest(more):
                result = self.good(text, **more)
                self.assertEqual((self.files(), result.marks), ([], []))
                if not more:
                    self.assertEqual(result.out, "[]\n")

    def test_jax_and_cupy_are_sampled_as_well(self):
        for package in ("jax", "cupy"):
            with self.subTest(package):
                self.file(f"fakes/{package}.py", "__version__ = '1.0'\n")
                text = f"import {package}, time\nfrom sampled import fewer\nwhile fewer(5): time.sleep(0.01)"
                self.assertEqual([stacks.pid > 0 for stacks in self.sampled(text).stacks.values()], [True])

    def test_nothing_starts_before_torch_is_there(self):
        result = self.good("import time\ntime.sleep(0.02)", NL_STAGE_HOST_SAMPLES_HZ="97")
        self.assertEqual((self.files(), result.marks), ([], []))

    def test_a_rate_that_is_no_number(self):
        result = self.good("import torch", NL_STAGE_HOST_SAMPLES_HZ="often")
        self.assertEqual((self.files(), result.fact["errors"]), ([], {"NL_STAGE_HOST_SAMPLES_HZ (ValueError)": 1}))

    def test_everything_is_as_before_at_the_end(self):
        result = self.sampled("""
            import gc, sys, time, torch
            import nl_stage_auto
            from sampled import fewer
            while fewer(3): time.sleep(0.01)
            print(sys.getswitchinterval() < 0.005, len(gc.callbacks), len(sys._current_frames()))
            begin = time.monotonic()
            nl_stage_auto.process.remove()
            print(time.monotonic() - begin < 0.5, sys.getswitchinterval(), len(gc.callbacks), len(sys._current_frames()))
            """)
        self.assertEqual(result.out, "True 1 2\nTrue 0.005 0 1\n")

    def test_a_switch_interval_of_the_workloads_own_stays(self):
        result = self.sampled("""
            import sys, time, torch
            from sampled import fewer
            for own, samples in (0.001, 5), (0.02, 10):
                while fewer(samples - 3): time.sleep(0.01)
                sys.setswitchinterval(own)
                while fewer(samples): time.sleep(0.01)
                print(sys.getswitchinterval())
            """)
        self.assertEqual(result.out, "0.001\n0.02\n")

    def test_threads_that_compete_have_the_usual_switch_interval(self):
        result = self.sampled("""
            import sys, threading, torch
            from sampled import fewer
            seen = []
            def spin():
                while fewer(40): seen.append(sys.getswitchinterval())
            threads = [threading.Thread(target=spin) for _ in range(2)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(sorted(seen)[len(seen) * 2 // 3])
            """)
        self.assertEqual(result.out, "0.005\n")

    def test_os_exit_leaves_whole_lines(self):
        self.good(self.BLOCKS + "os._exit(0)", NL_STAGE_HOST_SAMPLES_HZ="97")
        (path,) = self.files()
        self.assertGreater(len(Stacks(path).samples), 0)

    def test_a_killed_process_leaves_lines_that_can_be_read(self):
        result = self.python(self.BLOCKS + "os.kill(os.getpid(), signal.SIGKILL)", NL_STAGE_HOST_SAMPLES_HZ="97")
        self.assertEqual(result.code, -signal.SIGKILL)
        (path,) = self.files()
        self.assertGreater(len(Stacks(path).samples), 0)

    def test_a_child_of_fork_has_a_file_of_its_own_once_it_opens_a_range(self):
        result = self.sampled("""
            import os, sys, threading, time, torch, transformers, warnings
            from sampled import fewer
            warnings.simplefilter("error")  # Python 3.12 warns of fork where there are threads
            def work():
                while fewer(5): time.sleep(0.01)
            children = []
            for marks in (False, True):
                child = os.fork()
                if child == 0:
                    if marks:
                        transformers.TinyForCausalLM().generate(torch.Tensor(1, 2))
                        work()
                    sys.exit(0)
                children.append(child)
            work()
            for child in children: os.waitpid(child, 0)
            print(children[1])
            """)
        child = int(result.out)
        self.assertEqual(len(result.stacks), 2)
        for pid, stacks in result.stacks.items():
            self.assertEqual({thread for _, thread, _ in stacks.samples}, {pid})
            self.assertGreater(stacks.functions()["work"], 1)
        self.assertIn(child, result.stacks)

    def test_children_of_multiprocessing(self):
        result = self.sampled("""
            import multiprocessing, time, torch, transformers
            from sampled import fewer
            def work():
                transformers.TinyForCausalLM().generate(torch.Tensor(1, 2))
                while fewer(5): time.sleep(0.01)
            if __name__ == "__main__":
                children = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
                for child in children: child.start()
                for child in children: child.join()
            """)
        self.assertEqual(len([stacks for stacks in result.stacks.values() if stacks.functions()["work"]]), 2)

    def test_an_error_ends_the_sampler_and_nothing_else(self):
        result = self.good("""
            import time, torch, nvtx, sampled, nl_stage_auto
            while sampled.fewer(1): time.sleep(0.01)
            def raises(*args, **kwargs): raise OSError("user's data")
            nvtx.mark = raises
            while not nl_stage_auto.process.faults.total: time.sleep(0.01)
            """, NL_STAGE_HOST_SAMPLES_HZ="97")
        self.assertEqual(result.fact["errors"], {"sampler (OSError)": 1})
        self.assertFalse(result.fact["removed"])

    def test_a_folder_that_cannot_be_written(self):
        result = self.good("import time, torch\ntime.sleep(0.1)\nprint('fine')", NL_STAGE_HOST_SAMPLES_HZ="97",
                           NL_STAGE_FACTS_DIR=str(self.file("a_file", "") / "facts"))
        self.assertEqual(result.out, "fine\n")

    def test_cost_is_bounded_and_told(self):
        for _ in range(5):  # a busy machine may take the sampler's processor away while it looks at a stack, and the thread goes on
            stacks = self.spinning_60_frames_deep()
            time_ns, cost_ns, written, lost = stacks.counts[-1]
            if lost == 0:
                break
        share = cost_ns / (time_ns - stacks.counts[0][0])
        print(f"sampler: {share:.2%} of the time, {cost_ns / written / 1e3:.0f} us a sample of 60 frames, "
              f"{written / (time_ns - stacks.counts[0][0]) * 1e9:.0f} a second")
        self.assertEqual((written, lost), (len(stacks.samples), 0))
        self.assertLess(share, 0.03)  # 1.6 % is the aim; in so short a time the first samples and the first block count much

    def spinning_60_frames_deep(self):
        return self.one("""
            import time, torch
            def deep(left): return spin() if left == 0 else deep(left - 1)
            def spin():
                end = time.monotonic() + 0.5
                while time.monotonic() < end: pass
            deep(60)
            """, hertz="1000")


class FileCase(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.file = stack_file.StackFile(str(self.folder), 1000)
        self.path = self.folder / f"stacks-{os.getpid()}.txt"


class FileTest(FileCase):
    @staticmethod
    def code(file, function="f"):
        return compile("\n\ndef f(): pass", file, "exec").co_consts[0].replace(co_name=function)

    def source(self, name, line):
        return stack_file.source_lines(str(self.folder / name), {line}).get(line)

    def test_names_with_tabs_newlines_backslashes_and_no_encoding(self):
        code = self.code("/a\tb\\n\n\udce9.py")
        self.file.add_sample(1, 2, self.file.add_stack([self.file.add_frame(code, 3, "m\\")]))
        self.file.write(5, 6)
        stacks = Stacks(self.path)
        ((_, _, (frame,)),) = stacks.samples
        self.assertEqual((frame.file, frame.module, frame.first, frame.source), ("/a\tb\\n\n?.py", "m\\", 3, ""))
        self.assertEqual(stacks.counts, [(5, 6, 1, 0)])

    def test_source_of_files_only(self):
        (self.folder / "a.py").write_bytes(b"one\n  two \xe9\nthree")
        self.assertEqual([self.source("a.py", line) for line in (1, 2, 3, 4)], ["one\n", "  two \ufffd\n", "three", None])
        os.mkfifo(self.folder / "pipe.py")
        for name in ("pipe.py", "none.py", "<string>", "a\0b"):
            self.assertIsNone(self.source(name, 1))

    def test_source_that_linecache_has_and_none_for_which_a_loader_must_run(self):
        def loads(*_): raise AssertionError("a loader was run")
        linecache.cache["<cell>"] = (4, None, ["x = 1\n"], "<cell>")
        linecache.cache["<lazy>"] = (loads,)
        self.addCleanup(linecache.cache.clear)
        self.assertEqual(stack_file.source_lines("<cell>", {1, 9}), {1: "x = 1\n"})
        self.assertEqual(stack_file.source_lines("<lazy>", {1}), {})

    def test_the_file_stays_below_its_limit(self):
        limit, stack_file.MOST_BYTES = stack_file.MOST_BYTES, 500_000
        self.addCleanup(setattr, stack_file, "MOST_BYTES", limit)
        stack = self.file.add_stack([self.file.add_frame(self.code("a.py"), 1, "m")])
        for block in range(100):
            for sample in range(1000):
                self.file.add_sample(10**15 + sample, 4711, stack)
            self.file.write(block, 0)
        stacks_size = self.path.stat().st_size
        self.assertTrue(self.file.full)
        self.assertLess(stacks_size, stack_file.MOST_BYTES)
        self.assertGreater(stacks_size, 0.9 * stack_file.MOST_BYTES)
        self.assertEqual(self.file.written + self.file.lost, 100 * 1000)
        with open(self.path) as file:
            self.assertEqual(sum(line.startswith("s\t") for line in file), self.file.written)


class WalkTest(FileCase):
    """In this process, whose main thread is both who looks and who is looked at."""

    class Ranges:
        threads = set()

    def setUp(self):
        super().setUp()
        self.walk = stack_walk.StackWalk(self.file, self.Ranges())

    def look(self):
        """own: no thread has this number."""
        return self.walk.sample(own=0)

    def test_a_stack_is_written_once(self):
        for _ in range(5):
            self.look()
        self.file.write(0, 0)
        stacks = Stacks(self.path)
        self.assertEqual((len(stacks.samples), len(stacks.stacks)), (5, 1))
        self.assertEqual([frame.function.rpartition(".")[2] for frame in stacks.stacks[0]][-2:], ["test_a_stack_is_written_once", "look"])

    def test_code_without_end_is_forgotten(self):
        most, stack_walk._MOST_KNOWN = stack_walk._MOST_KNOWN, 100
        self.addCleanup(setattr, stack_walk, "_MOST_KNOWN", most)
        for number in range(500):
            exec(compile(f"def made_{number}(look): look()", "<made>", "exec"), made := {})
            made[f"made_{number}"](self.look)
            self.assertLess(len(self.walk._places), 100 + 64)
        self.file.write(0, 0)
        stacks = Stacks(self.path)
        self.assertEqual([stack[-2].function for _, _, stack in stacks.samples], [f"made_{number}" for number in range(500)])

    def test_a_full_file_counts_what_it_would_have_got(self):
        self.look()
        self.file._size = stack_file.MOST_BYTES + 1
        self.assertEqual([self.look(), self.look(), self.file.lost], [1, 1, 2])


if __name__ == "__main__":
    run_tests()

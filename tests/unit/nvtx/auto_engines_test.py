"""mark.engine: the requests of inference engines, on stand-ins with the names and shapes of their public sources (tests/fixtures/engines)."""

import re
import sys
import unittest

from auto_case import AUTO, ROOT, AutoCase

sys.path.insert(0, str(AUTO))
from nl_stage_auto.request_marks import id_of, step_texts  # noqa: E402

ENGINES = ROOT / "tests" / "fixtures" / "engines"


class EngineCase(AutoCase):
    def serve(self, name, engine=None, **more):
        return self.start([sys.executable, str(ENGINES / f"serve_{name}.py")], path=[ENGINES], NL_STAGE_ENGINE=engine or name, **more)

    def served(self, name, engine=None, **more):
        result = self.serve(name, engine, **more)
        self.assertEqual((result.code, result.err), (0, ""), result.err)
        self.assertEqual([fact["errors"] for fact in result.facts.values()], [{}] * len(result.facts))
        return result


def told(result, names):
    """The marks with the engine's own ids in the place of ours, and ranges."""
    ids = {str(id_of(name)): name for name in names}
    lines = [call[2] for call in result.calls if call[0] in ("mark", "push")]
    return [re.sub(r"\d{8,}", lambda number: ids.get(number.group(), number.group()), line) for line in lines]


class VllmTest(EngineCase):
    NAMES = ("cmpl-a-0", "cmpl-b-0", "cmpl-c-0")

    def test_requests_and_the_members_of_each_step(self):
        lines = told(self.served("vllm"), self.NAMES)
        self.assertEqual(lines[:9], [
            "request arrived id=cmpl-a-0 prompt=10 most=4 name=cmpl-a", "request queued id=cmpl-a-0",
            "request arrived id=cmpl-b-0 prompt=3 most=9 name=cmpl-b", "request queued id=cmpl-b-0",
            "request arrived id=cmpl-c-0 prompt=4 most=100 name=cmpl-c", "request queued id=cmpl-c-0",
            "request scheduled id=cmpl-a-0 again=0", "step index=0 requests=cmpl-a-0:prefill:8", "execute_context_1(8)_generation_0(0)"])
        self.assertEqual(lines[9:16], [
            "request scheduled id=cmpl-b-0 again=0", "request scheduled id=cmpl-c-0 again=0",
            "step index=1 requests=cmpl-a-0:prefill:2,cmpl-b-0:prefill:3,cmpl-c-0:prefill:3", "execute_context_3(8)_generation_0(0)",
            "request first_token id=cmpl-a-0", "request first_token id=cmpl-b-0",
            "step index=2 requests=cmpl-a-0:decode:1,cmpl-b-0:decode:1,cmpl-c-0:prefill:1"])

    def test_a_preempted_request_is_read_again(self):
        lines = told(self.served("vllm"), self.NAMES)
        at = lines.index("request preempted id=cmpl-b-0 tokens=7")  # 3 of the prompt, 4 written
        self.assertEqual(lines[at + 1], "request scheduled id=cmpl-b-0 again=1")
        self.assertIn("cmpl-b-0:prefill:7", lines[at + 2])
        self.assertEqual(sum("first_token id=cmpl-b-0" in line for line in lines), 1)

    def test_ends_have_tokens_and_reasons(self):
        ends = [line for line in told(self.served("vllm"), self.NAMES) if "finished" in line]
        self.assertEqual(ends, ["request finished id=cmpl-a-0 tokens=4 reason=length", "request finished id=cmpl-c-0 tokens=6 reason=cancelled",
                                "request finished id=cmpl-b-0 tokens=9 reason=length"])

    def test_each_step_has_one_mark_before_its_range(self):
        result = self.served("vllm")
        lines = [call[2] for call in result.calls if call[0] in ("mark", "push")]
        steps = [place for place, line in enumerate(lines) if line.startswith("step ")]
        self.assertEqual(len(steps), int(result.out))
        self.assertTrue(all(lines[place + 1].startswith("execute_context_") for place in steps))
        self.assertEqual([lines[place].split()[1] for place in steps], [f"index={number}" for number in range(len(steps))])

    def test_without_the_key_there_are_ranges_and_no_marks(self):
        result = self.start([sys.executable, str(ENGINES / "serve_vllm.py")], path=[ENGINES])
        self.assertEqual((result.code, result.err, result.marks), (0, "", []))
        self.assertIn("execute_context_", result.text)

    def test_of_parallel_workers_the_first_marks(self):
        script = """
            import sys, types
            group = types.SimpleNamespace(rank_in_group=RANK)
            sys.modules["vllm.distributed.parallel_state"] = types.SimpleNamespace(get_tp_group=lambda: group, get_pp_group=lambda: group)
            from vllm.v1.core.sched.scheduler import Scheduler
            from vllm.v1.request import Request
            from vllm.v1.worker.gpu_model_runner import GPUModelRunner
            scheduler = Scheduler(8)
            scheduler.add_request(Request("a", 4, 1))
            GPUModelRunner().execute_model(scheduler.schedule())
            """
        for rank, steps in ((0, 1), (1, 0)):
            script_of_rank = self.file("ranks.py", script.replace("RANK", str(rank)))
            result = self.start([sys.executable, str(script_of_rank)], path=[ENGINES], NL_STAGE_ENGINE="vllm")
            self.assertEqual((result.err, sum(mark.startswith("step ") for mark in result.marks)), ("", steps))

    def test_the_newer_runner_is_marked_and_its_warm_up_is_not(self):
        script = self.file("newer.py", """
            from vllm.v1.core.sched.scheduler import Scheduler
            from vllm.v1.request import Request
            from vllm.v1.worker.gpu.model_runner import GPUModelRunner
            scheduler = Scheduler(8)
            scheduler.add_request(Request("a", 4, 1))
            planned = scheduler.schedule()
            GPUModelRunner().execute_model(planned, dummy_run=True)
            GPUModelRunner().execute_model(planned)
            """)
        result = self.start([sys.executable, str(script)], path=[ENGINES], NL_STAGE_ENGINE="vllm")
        self.assertEqual((result.err, result.text), ("", "execute_context_1(4)_generation_0(0)()"))


class SglangTest(EngineCase):
    def test_requests_and_batches(self):
        lines = told(self.served("sglang"), "abc")
        self.assertEqual([line for line in lines if "request" not in line.split()[0]], [
            "step index=0 requests=a:prefill:10", "step[EXTEND bs=1 toks=10]", "step index=1 requests=b:prefill:3,a:decode:1", "step[MIXED bs=2]",
            "step index=2 requests=a:decode:1,b:decode:1", "step[DECODE bs=2]", "step index=3 requests=a:decode:1", "step[DECODE bs=1]",
            "step index=4 requests=b:prefill:5", "step[EXTEND bs=1 toks=5]"])

    def test_events_of_requests(self):
        lines = [line for line in told(self.served("sglang"), "abc") if line.startswith("request ")]
        self.assertEqual(lines, [
            "request arrived id=a prompt=10 most=4 name=a", "request queued id=a", "request arrived id=b prompt=3 most=3 name=b",
            "request queued id=b", "request arrived id=c prompt=4 most=9 name=c", "request queued id=c",
            "request finished id=c tokens=0 reason=cancelled", "request scheduled id=a again=0", "request first_token id=a",
            "request scheduled id=b again=0", "request first_token id=b", "request preempted id=b tokens=5",
            "request finished id=a tokens=4 reason=length", "request scheduled id=b again=1", "request finished id=b tokens=3 reason=length"])


class TrtllmTest(EngineCase):
    def test_the_first_rank_marks_the_members_of_its_steps(self):
        self.assertEqual(self.served("trtllm").marks, ["step index=0 requests=1:prefill:300", "step index=1 requests=2:prefill:200,1:decode:1",
                                                       "step index=2 requests=1:decode:3,2:decode:1"])

    def test_dynamo_and_auto_follow_whichever_engine_runs(self):
        for engine in ("dynamo", "auto"):
            self.assertEqual(len(self.served("trtllm", engine).marks), 3)
            self.assertEqual(len(self.served("vllm", engine).marks), len(self.served("vllm").marks))


class MisfitTest(EngineCase):
    """Engines change: what does not fit is said once, and the engine runs as it would."""

    def run_with(self, text, engine="vllm"):
        return self.start([sys.executable, str(self.file("misfit.py", text))], path=[self.folder / "changed", ENGINES], NL_STAGE_ENGINE=engine)

    def test_a_method_that_is_not_there(self):
        self.file("changed/tensorrt_llm/__init__.py", "")
        self.file("changed/tensorrt_llm/_torch/__init__.py", "")
        self.file("changed/tensorrt_llm/_torch/pyexecutor/__init__.py", "")
        self.file("changed/tensorrt_llm/_torch/pyexecutor/py_executor.py", "class PyExecutor:\n    def forward(self, batch): return batch\n")
        result = self.run_with("from tensorrt_llm._torch.pyexecutor.py_executor import PyExecutor\nprint(PyExecutor().forward(7))", "trtllm")
        self.assertEqual((result.code, result.out), (0, "7\n"))
        self.assertEqual(result.err.count("\n"), 1)
        self.assertIn("mark.engine: PyExecutor._forward_step of this trtllm does not fit (AttributeError)", result.err)

    def test_arguments_of_another_shape(self):
        result = self.run_with("""
            class Batch:
                forward_mode = property(lambda self: 1 / 0)
            from sglang.srt.managers.scheduler import Scheduler as Other
            class Runner:
                def forward(self, batch): return "ran"
            scheduler = Other(Runner())
            print([scheduler.run_batch(Batch()) for _ in range(40)].count("ran"))
            """, "auto")
        self.assertEqual((result.code, result.out), (0, "40\n"))
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("Scheduler.run_batch of this sglang does not fit (ZeroDivisionError)", result.err)

    def test_other_hooks_stay(self):
        result = self.run_with("""
            import types
            from sglang.srt.managers.scheduler import Scheduler
            scheduler = Scheduler(None)
            for number in range(5):
                try: scheduler.process_batch_result(None, None)
                except AttributeError: pass
                try: scheduler.run_batch(None)
                except AttributeError: pass
                scheduler._add_request_to_queue(types.SimpleNamespace(rid=f"request-{number}"))
            """, "sglang")
        self.assertEqual((result.code, len(result.marks)), (0, 5))
        self.assertEqual([line.split()[2] for line in result.err.splitlines()], ["Scheduler.run_batch"])  # the other one never returned

    def test_an_exception_of_the_engine_is_its_own(self):
        result = self.run_with("""
            from vllm.v1.core.sched.scheduler import Scheduler
            try:
                Scheduler(8).finish_requests("nobody", None)
            except KeyError as error:
                print(error)
            """)
        self.assertEqual((result.code, result.err, result.out), (0, "", "'nobody'\n"))


class SwitchesTest(EngineCase):
    SHOW = "import os; print([name for name in ('VLLM_NVTX_SCOPES_FOR_PROFILING', 'DYN_NVTX', 'OTHER') if name in os.environ])"

    def shown(self, **env):
        return self.start([sys.executable, "-c", self.SHOW], NL_STAGE_ENGINE="dynamo", OTHER="1", VLLM_NVTX_SCOPES_FOR_PROFILING="1", DYN_NVTX="1", **env)

    def test_they_stay_where_nvtx_is_installed(self):
        result = self.shown(NL_STAGE_ENGINE_SWITCHES="VLLM_NVTX_SCOPES_FOR_PROFILING,DYN_NVTX")
        self.assertEqual((result.out, result.err), ("['VLLM_NVTX_SCOPES_FOR_PROFILING', 'DYN_NVTX', 'OTHER']\n", ""))

    def test_ours_are_taken_back_where_it_is_not(self):
        (self.fakes / "nvtx.py").unlink()
        result = self.shown(NL_STAGE_ENGINE_SWITCHES="DYN_NVTX")
        self.assertEqual(result.out, "['VLLM_NVTX_SCOPES_FOR_PROFILING', 'OTHER']\n")  # the user's own stays
        self.assertEqual(result.err.count("\n"), 1)
        self.assertIn("DYN_NVTX is taken back", result.err)


class CostTest(EngineCase):
    SCRIPT = """
        import sys, time
        from vllm.v1.core.sched.scheduler import Scheduler
        from vllm.v1.request import Request
        from vllm.v1.worker.gpu.model_runner import GPUModelRunner
        def step_us(requests, turns=300):
            scheduler, runner = Scheduler(10 * requests), GPUModelRunner()
            for number in range(requests):
                scheduler.add_request(Request(f"cmpl-{number}-0", 4, 10**6))
            begin = time.thread_time_ns()
            for turn in range(turns):
                planned = scheduler.schedule()
                scheduler.update_from_output(planned, runner.execute_model(planned))
            return (time.thread_time_ns() - begin) / turns / 1000
        print(*(min(step_us(requests) for _ in range(5)) for requests in (1, 8, 64)))
        """

    def test_what_a_step_takes(self):
        (self.fakes / "nvtx.py").write_text("def push_range(*_, **__): pass\npop_range = mark = start_range = end_range = push_range\n")
        script = self.file("cost.py", self.SCRIPT)
        figures = {}
        for engine in ("vllm", None):
            more = {"NL_STAGE_ENGINE": engine} if engine else {}
            figures[engine] = [float(word) for word in self.start([sys.executable, str(script)], path=[ENGINES], **more).out.split()]
        marks = [with_marks - without for with_marks, without in zip(figures["vllm"], figures[None])]
        print("mark.engine, with an NVTX that does nothing: {:.0f}, {:.0f} and {:.0f} us a step of 1, 8 and 64 requests".format(*marks))
        self.assertLess(marks[2], 2000)  # far above what it takes: a machine may be busy


class TextsTest(unittest.TestCase):
    def test_ids_are_the_same_in_every_process(self):
        self.assertEqual(id_of("cmpl-a-0"), id_of("cmpl-" + "a-0"))
        self.assertNotEqual(id_of("cmpl-a-0"), id_of("cmpl-a-1"))
        self.assertLess(id_of("cmpl-a-0"), 2 ** 48)
        self.assertEqual(id_of(7), 7)

    def test_a_long_step_has_parts(self):
        entries = [(f"request-{number}", "decode", 1) for number in range(500)]
        texts = step_texts(3, entries)
        self.assertGreater(len(texts), 1)
        self.assertTrue(all(len(text) <= 4000 for text in texts))
        self.assertEqual([text.split()[2] for text in texts], [f"part={number}/{len(texts)}" for number in range(1, len(texts) + 1)])
        listed = ",".join(text.split("requests=")[1] for text in texts).split(",")
        self.assertEqual(listed, [f"{id_of(key)}:decode:1" for key, _, _ in entries])


if __name__ == "__main__":
    unittest.main()

"""The operator pass: operators, layers and lines in a few windows, and the types of operators."""

import json
import textwrap
import unittest

from auto_case import REAL, AutoCase, RealCase, as_text, run_tests
from auto_torch_fakes import write_torch_fakes

START = "import torch, transformers\nfrom transformers.models import LayeredForCausalLM\n" \
        "model, prompt = LayeredForCausalLM(), torch.Tensor(2, 16)\n"
# The root, in it a block with a matrix product, and a sum of its own.
FORWARD = "(model)|LayeredForCausalLM(block|Block(block.mlp|Linear(aten::mm()))aten::add())"


class OperatorCase(AutoCase):
    def setUp(self):
        super().setUp()
        write_torch_fakes(self.fakes)
        self.operators = self.folder / "operators"

    def run_pass(self, text, **more):
        return self.good(START + textwrap.dedent(text), NL_STAGE_OPERATORS_DIR=str(self.operators), NL_STAGE_FACTS_DIR="", **more)

    def dtypes(self):
        (path,) = self.operators.glob("dtypes-*.json")
        return json.loads(path.read_text())

    def errors(self):
        return self.dtypes()["errors"] if self.operators.exists() else {}


class WindowTest(OperatorCase):
    def steps(self, count, marked=(2, 3, 4)):
        return "".join(f"s{i}({FORWARD if i in marked else ''}x())" for i in range(count))

    def test_prefill_and_steps_two_to_four_of_a_request(self):
        result = self.run_pass("model.generate(prompt, max_new_tokens=9)")
        self.assertEqual(result.text, f"R(P({FORWARD}x())D({self.steps(8)}))")
        self.assertEqual({call[1] for call in result.calls if call[2:3] == ["block|Block"]}, {"LLM.layers"})

    def test_later_requests_have_none(self):
        result = self.run_pass("for _ in range(6): model.generate(prompt, max_new_tokens=4)")
        marked = [f"R(P({FORWARD if i in (0, 1, 3) else ''}x())D({self.steps(3) if i < 3 else self.steps(3, ())}))" for i in range(6)]
        self.assertEqual(result.text, "".join(marked))

    def test_types_of_a_prefill_and_of_a_step(self):
        self.run_pass("for _ in range(4): model.generate(prompt, max_new_tokens=9)")
        self.assertEqual(self.dtypes(), {"errors": {}, "operators": [
            {"name": "aten::mm", "shapes": "[[2, 8], [8, 8]]", "dtypes": "[bfloat16, bfloat16]"},
            {"name": "aten::add", "shapes": "[[2, 8]]", "dtypes": "[bfloat16]"}]})

    def test_without_the_folder_nothing_is_switched_on(self):
        result = self.good(START + "model.generate(prompt, max_new_tokens=9)\nprint(model._hooks('before'))")
        self.assertEqual(result.text, f"R(P(x())D({self.steps(8, ())}))")
        self.assertEqual(result.out, "[]\n")

    def test_everything_is_off_after_an_exception_and_after_a_closed_generator(self):
        result = self.run_pass("""
            class Stop:
                def put(self, ids):
                    if ids.shape[1] == self.at: raise KeyError
            stop = Stop()
            for stop.at in (17, 20):  # in the prefill, in step 2
                try: model.generate(prompt, streamer=stop, max_new_tokens=9)
                except KeyError: print(torch.autograd.state.on, model._hooks("before"), torch.autograd.profiler._is_profiler_enabled)
            def stream(model, ids, **kwargs):
                for step in range(9):
                    model(**model.prepare_inputs_for_generation(ids, past_key_values=step > 0))
                    model._update_model_kwargs_for_generation(None, {})
                    yield step
            tokens = model.generate(prompt, custom_generate=stream)
            for _ in range(4): next(tokens)
            tokens.close()
            print(torch.autograd.state.on, model._hooks("before"))
            torch.call("aten::outside")
            """)
        self.assertEqual(result.out, "None [] False\n" * 2 + "None []\n")
        self.assertNotIn("aten::outside", result.text)
        self.assertEqual(result.text.count("("), result.text.count(")"))

    def test_a_forward_that_raises_closes_its_layers(self):
        result = self.run_pass("""
            def fails(self): raise ValueError("mine")
            type(model.block.mlp).forward = fails
            try: model.generate(prompt)
            except ValueError as error: print(error)
            """)
        self.assertEqual(result.text, "R(P((model)|LayeredForCausalLM(block|Block(block.mlp|Linear()))))")
        self.assertEqual(result.out, "mine\n")

    def test_each_thread_has_its_own(self):
        result = self.run_pass("""
            import threading
            gate = threading.Barrier(2)
            class Meets:
                def put(self, ids): gate.wait()
            def work(): model.generate(prompt, streamer=Meets(), max_new_tokens=5)
            threads = [threading.Thread(target=work) for _ in range(2)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(torch.autograd.profiler._is_profiler_enabled, model._hooks("before"))
            """)
        for calls in result.threads.values():
            self.assertEqual(as_text(calls), f"R(P({FORWARD}x())D({self.steps(4)}))")
        self.assertEqual((len(result.threads), result.out), (2, "False []\n"))

    def test_steps_of_an_engine_by_their_kind(self):
        result = self.run_pass("""
            import types
            from sglang.srt.model_executor.model_runner import ModelRunner
            ModelRunner.forward.__wrapped__.__code__ = (lambda self, forward_batch, skip_attn_backend_init=False: self.model()).__code__
            def batch(mode): return types.SimpleNamespace(forward_mode=types.SimpleNamespace(name=mode), batch_size=3, extend_num_tokens=40)
            for mode in ("EXTEND", "DECODE", "DECODE", "DECODE", "MIXED"): ModelRunner(model).forward(batch(mode))
            """)
        decode = "step[DECODE bs=3]("
        self.assertEqual(result.text, f"step[EXTEND bs=3 toks=40]({FORWARD})" + f"{decode})" * 2 + f"{decode}{FORWARD})step[MIXED bs=3]({FORWARD})")

    def test_a_child_of_fork_begins_anew(self):
        result = self.run_pass("""
            import os
            class Forks:
                def put(self, ids):
                    child = os.fork() if ids.shape[1] == 17 else None
                    if child == 0:
                        torch.call("aten::in_child")
                        model.block()
                        os._exit(torch.autograd.state.on is not None)
                    if child: print(os.waitpid(child, 0)[1])
            model.generate(prompt, streamer=Forks(), max_new_tokens=2)
            """)
        self.assertEqual((result.out, len(result.threads)), ("0\n", 1))
        self.assertEqual(result.text, f"R(P({FORWARD}x())D(s0(x())))")


class WorkloadProfilesTest(OperatorCase):
    def test_a_profiler_of_the_workload_is_never_disturbed(self):
        result = self.run_pass("""
            with torch.autograd.profiler.profile():
                model.generate(prompt, max_new_tokens=9)
            model.generate(prompt)
            """)
        self.assertNotIn("aten::", result.text)
        self.assertEqual(self.errors(), {})

    def test_one_that_begins_inside_a_window_finds_none(self):
        result = self.run_pass("""
            class Profiles:
                def put(self, ids):
                    with torch.autograd.profiler.profile(): torch.call("aten::mine")
                    torch.call("aten::after")
            model.generate(prompt, streamer=Profiles(), max_new_tokens=9)
            """)
        self.assertEqual(result.text.count("aten::mm"), 1)  # of the prefill, before it
        self.assertNotIn("aten::after", result.text)
        self.assertEqual(self.errors(), {})


class CompiledTest(OperatorCase):
    def test_what_is_compiled_gets_no_hooks(self):
        for compiled in ("model.forward = compiled(model.forward)", "model.compile()",
                         "model.block.compile()"):
            with self.subTest(compiled):
                result = self.run_pass(f"""
                    def compiled(forward):
                        def run(**inputs): return forward(**inputs)
                        run._torchdynamo_orig_callable = forward
                        return run
                    {compiled}
                    model.generate(prompt, max_new_tokens=4)
                    """)
                self.assertNotIn("block", result.text)
                self.assertEqual(result.text.count("aten::mm"), 2)

    def test_a_compiled_module_is_one_layer(self):
        result = self.run_pass("""
            class OptimizedModule(torch.Module):
                def __init__(self, inside): self._orig_mod = inside
                def forward(self): self._orig_mod.forward()
            model.block = OptimizedModule(model.block)
            model.generate(prompt, max_new_tokens=1)
            """)
        self.assertEqual(result.text, "R(P((model)|LayeredForCausalLM(block|Block(aten::mm())aten::add())x()))")

    def test_hooks_are_off_while_something_is_compiled(self):
        result = self.run_pass("""
            import sys, types
            class Handler:
                start_callbacks = []
                def register_start_callback(self, callback): self.start_callbacks.append(callback)
                def remove_start_callback(self, callback): self.start_callbacks.remove(callback)
            handler = Handler()
            sys.modules["torch._dynamo.callback"] = types.SimpleNamespace(callback_handler=handler)
            def forward(self):
                for callback in handler.start_callbacks: callback()
                print(len(model._hooks("before")), len(model.block._hooks("before")), model.block.mlp._hooks("before"))
                self.mlp()
            type(model.block).forward = forward
            model.generate(prompt, max_new_tokens=1)
            print(handler.start_callbacks)
            """)
        self.assertEqual(result.out, "1 1 []\n[]\n")  # those that run now still have theirs
        self.assertEqual(result.text, "R(P((model)|LayeredForCausalLM(block|Block(aten::mm())aten::add())x()))")


class GraphTest(OperatorCase):
    LINE = "script.py:6 work(aten::mm())"
    WORK = "def work():\n    torch.call('aten::mm')\ngraph = torch.cuda.graphs.CUDAGraph()\n"

    def test_operators_and_lines_while_a_graph_is_captured(self):
        result = self.run_pass(self.WORK.replace("def", "import os\ndef") + textwrap.dedent("""
            graph.capture_begin(); work(); graph.capture_end()
            work(); graph.replay()
            """))
        self.assertEqual(result.text, f"capture({self.LINE})replay()")
        self.assertEqual([call[1] for call in result.calls if call[2:3] == ["script.py:6 work"]], ["LLM.lines"])

    def test_no_lines_for_graphs_of_the_compiler_and_beside_compiled_code(self):
        for setup in ("from torch._inductor.cudagraph_trees import record\nrecord(graph, work)",
                      "import torch._dynamo.utils\ntorch._dynamo.utils.counters['frames'] = {'ok': 1}\n"
                      "graph.capture_begin(); work(); graph.capture_end()"):
            with self.subTest(setup):
                self.assertEqual(self.run_pass(self.WORK + setup).text, "capture(aten::mm())")

    def test_a_capture_that_cannot_begin(self):
        result = self.run_pass(self.WORK + textwrap.dedent("""
            try: graph.capture_begin(pool="bad")
            except RuntimeError as error: print(error, torch.overrides._stack, torch.autograd.state.on)
            work()
            """))
        self.assertEqual((result.text, result.out), ("", "no capture [] None\n"))

    def test_a_mode_that_stays_above_ours_leaves_it_silent(self):
        result = self.run_pass(self.WORK + textwrap.dedent("""
            class Mine(torch.overrides.TorchFunctionMode):
                def __torch_function__(self, function, types, args=(), kwargs=None): return torch.overrides.handle(function, *args)
            graph.capture_begin()
            with Mine():
                graph.capture_end()
                work()
            """))
        self.assertEqual(result.text, "capture()")
        self.assertEqual(self.errors(), {})

    def test_a_capture_inside_a_window_leaves_the_window_on(self):
        result = self.run_pass("""
            graph = torch.cuda.graphs.CUDAGraph()
            def forward(self):
                graph.capture_begin(); graph.capture_end()
                torch.call("aten::after")
            type(model.block.mlp).forward = forward
            model.generate(prompt, max_new_tokens=1)
            """)
        self.assertEqual(result.text.count("aten::after"), 1)

    def test_a_capture_ends_a_record_of_types(self):
        result = self.run_pass("""
            graph = torch.cuda.graphs.CUDAGraph()
            class Captures:
                def put(self, ids):
                    if ids.shape[1] == 24:  # step 6
                        graph.capture_begin(); torch.call("aten::captured"); graph.capture_end()
            model.generate(prompt, streamer=Captures(), max_new_tokens=9)
            """)
        self.assertIn("put(aten::captured())", result.text)
        self.assertFalse(self.operators.exists())


class FaultTest(OperatorCase):
    def test_torch_without_cuda_has_layers_only(self):
        result = self.run_pass("torch.version.cuda = None\nmodel.generate(prompt, max_new_tokens=1)")
        self.assertEqual(result.text, "R(P((model)|LayeredForCausalLM(block|Block(block.mlp|Linear()))x()))")
        self.assertEqual(self.errors(), {})

    def test_a_profiler_that_is_not_what_we_know_is_counted_once(self):
        result = self.run_pass("""
            def odd(*args): raise TypeError("user's data")
            torch.autograd.profiler.ProfilerConfig = odd
            for _ in range(3): model.generate(prompt, max_new_tokens=9)
            """)
        self.assertEqual(self.errors(), {"operators: ranges on (TypeError)": 1, "operators: types on (TypeError)": 1})
        self.assertEqual(result.text.count("R("), 3)

    def test_without_a_record_of_types_there_are_operators_still(self):
        result = self.run_pass("""
            del torch.autograd.profiler.ProfilerState.KINETO
            for _ in range(4): model.generate(prompt, max_new_tokens=9)
            """)
        self.assertEqual(result.text.count("aten::mm"), 3 + 3 * 3)
        self.assertEqual(self.dtypes(), {"operators": [], "errors": {"operators: types on (AttributeError)": 1}})

    def test_types_are_bounded_and_written_whole(self):
        self.run_pass("""
            class Many:
                def put(self, ids):
                    if ids.shape[1] == 24:
                        for i in range(6000): torch.call("aten::op", [[i]])
            model.generate(prompt, streamer=Many(), max_new_tokens=9)
            """)
        self.assertEqual(len(self.dtypes()["operators"]), 5000)
        self.assertEqual([path.suffix for path in self.operators.iterdir()], [".json"])

    def test_names_of_types(self):
        result = self.run_pass("""
            from nl_stage_auto.dtypes import described
            class Event:
                def __init__(self, *types): self.types = types
                def name(self): return "aten::op"
                def shapes(self): return [[1, 2]] + [[]] * (len(self.types) - 1)
                def dtypes(self): return self.types
            for types in (("c10::Float8_e4m3fn", "Scalar", "long int", ""), ("float", "TensorList"), ("Scalar",), ()):
                print(described(Event(*types)))
            """)
        self.assertEqual(result.out, "('aten::op', '[[1, 2], [], [], []]', '[float8_e4m3fn, -, int64]')\nNone\nNone\nNone\n")


@unittest.skipUnless(REAL, "needs torch and transformers")
class RealOperatorsTest(RealCase):
    GENERATES = "for _ in range(4): tokens = generate(model, prompt, tokens=9)\nprint(tokens.tolist())"

    def test_layers_types_and_the_same_tokens(self):
        bare = self.real("torch.manual_seed(1)\nmodel = make()\n" + self.GENERATES)
        marked = self.real("torch.manual_seed(1)\nmodel = make()\n" + self.GENERATES + "\nprint(sum(len(m._forward_hooks) for m in model.modules()))",
                           NL_STAGE_OPERATORS_DIR=str(self.folder / "operators"))
        self.assertEqual(marked.out, bare.out + "0\n")
        self.assertIn("P((model)|LlamaForCausalLM(model|LlamaModel(model.embed_tokens|Embedding()", marked.text)
        self.assertEqual(marked.text.count("model.layers.1.mlp|LlamaMLP("), 3 + 3 * 3)
        self.assertEqual(marked.text.count("("), marked.text.count(")"))
        (path,) = (self.folder / "operators").glob("dtypes-*.json")
        found = json.loads(path.read_text())
        self.assertEqual(found["errors"], {})
        products = [one for one in found["operators"] if one["name"] == "aten::mm"]
        self.assertTrue(products)
        self.assertEqual({one["dtypes"] for one in products}, {"[float32, float32]"})
        self.assertRegex(products[0]["shapes"], r"^\[\[\d+, \d+\], \[\d+, \d+\]\]$")

    def test_compiled_code_is_compiled_as_without_the_pass(self):
        text = """
            import torch._dynamo.utils
            model.forward = torch.compile(model.forward, backend="eager", fullgraph=True)
            for _ in range(4): tokens = generate(model, prompt, tokens=9)
            print(dict(torch._dynamo.utils.counters["frames"]))
            """
        bare, marked = self.real(text), self.real(text, NL_STAGE_OPERATORS_DIR=str(self.folder / "operators"))
        self.assertEqual(marked.out, bare.out)


if __name__ == "__main__":
    run_tests()

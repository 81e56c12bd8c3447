"""Marks by the kind of program: encoders, training, diffusion, JAX. auto_loops_test.py has the programs that are known to generate."""

import json
import textwrap
import unittest

from auto_case import REAL, AutoCase, RealScripts, as_text, run_tests
from auto_jax_fakes import write_jax_fakes
from auto_torch_fakes import write_torch_fakes

START = """
import torch
class Model(torch.Module):
    def __init__(self): self.part = torch.Linear()
    def forward(self, ids, past=None): return self.part()
def ids(batch, tokens): return torch.Tensor(batch, tokens)
def floats(*shape): return torch.Tensor(*shape, dtype=torch.bfloat16)
model = Model().eval()
"""


class KindCase(AutoCase):
    def setUp(self):
        super().setUp()
        write_torch_fakes(self.fakes)
        write_jax_fakes(self.fakes)

    def run_with(self, text, **more):
        result = self.good(START + textwrap.dedent(text), **more)
        self.assertEqual(result.fact["errors"], {})
        return result

    def kind(self, result, index=0):
        return result.fact["models"][index]["kind"]


class CallTest(KindCase):
    def test_a_call_ends_with_the_call_and_has_no_sampling(self):
        result = self.run_with("import nvtx\nfor _ in range(3):\n    model(ids(32, 128))\n    nvtx.mark('after')")
        self.assertEqual(result.text, "m()" * 3)
        self.assertEqual(result.marks[:2], ["tokens prompt=128 batch=32", "after"])
        self.assertEqual(result.fact["steps"], [{"kind": "call", "batch": 32, "tokens": 4096, "count": 3}])
        self.assertEqual((result.fact["requests"]["count"], result.fact["models"][0]["new_tokens"]), (0, 0))

    def test_calls_that_show_generation_are_steps(self):
        result = self.run_with("for _ in range(2):\n    model(ids(2, 16))\n    for _ in range(3): model(ids(2, 1), past=True)")
        self.assertEqual(result.text, "m()s0(x())s1(x())s2(x())P(x())s0(x())s1(x())s2(x())")  # by then it is known to generate
        self.assertEqual((result.fact["requests"]["count"], result.fact["models"][0]["new_tokens"]), (2, 16))
        self.assertEqual(self.kind(result), {"generates": True, "denoises": False, "trains": False, "architecture": ["Model"],
                                             "training_calls": 0, "eval_calls": 8})

    def test_without_a_cache(self):
        self.assertEqual(self.run_with("for length in (5, 6, 7, 5, 6): model(ids(1, length))").text, "m()s0(x())s1(x())m()s0(x())")

    def test_prompts_that_a_server_reads_between_its_steps(self):
        result = self.run_with("""
            for prompts in (1, 2):
                for _ in range(prompts): model(ids(1, 9))
                for _ in range(2): model(ids(3, 1))
            """)
        self.assertEqual(result.text, "m()s0(x())s1(x())P(x())P(x())s0(x())s1(x())")

    def test_batches_of_many_lengths_are_no_steps(self):
        result = self.run_with("for length in (5, 9, 5, 4, 8, 7, 9, 2, 3, 4, 5): model(ids(4, length))")
        self.assertEqual(result.text, "m()" * 11)

    def test_an_encoder_never_decodes(self):
        result = self.run_with("""
            class TinyModel(Model):
                def can_generate(self): return False
            encoder = TinyModel().eval()
            for length in (5, 6, 7, 1, 1): encoder(ids(2, length))
            """)
        self.assertEqual(result.text, "m()" * 5)
        self.assertEqual((self.kind(result)["generates"], self.kind(result)["eval_calls"]), (False, 5))

    def test_a_model_with_an_eval_of_its_own(self):
        result = self.run_with("""
            class TinyModel(Model):
                def can_generate(self): return False
                def train(self, mode=True): return super().train(mode)
                def eval(self): return self.train(False)  # as in transformers 5
            encoder = TinyModel().eval()
            for _ in range(2): encoder(ids(2, 5))
            """)
        self.assertEqual(result.text, "m()" * 2)

    def test_parts_that_are_evaluated_with_their_model_are_no_models(self):
        result = self.run_with("""
            class Block(torch.Module):
                def forward(self, ids): pass
            class Whole(torch.Module):
                def __init__(self): self.block = Block()
                def forward(self, ids): self.block(ids)
            whole = Whole().train(False)
            whole(ids(2, 5)); whole.block(ids(2, 5))
            """)
        self.assertEqual(result.text, "m()")

    def test_a_decoder_without_a_head_that_gets_a_cache(self):
        result = self.run_with("""
            class TinyModel(Model):
                def can_generate(self): return False
                def forward(self, ids, past_key_values=None): pass
            decoder = TinyModel().eval()
            decoder(ids(2, 9))
            for _ in range(2): decoder(ids(2, 1), past_key_values=True)
            """)
        self.assertEqual(result.text, "m()s0(x())s1(x())")

    def test_one_token_without_a_prompt_before(self):
        self.assertEqual(self.run_with("for _ in range(3): model(ids(8, 1))").text, "m()" * 3)

    def test_a_language_model_that_computes_a_loss_reads_no_prompt(self):
        result = self.run_with("""
            class TinyForCausalLM(Model):
                def can_generate(self): return True
                def forward(self, input_ids, labels=None): pass
            model = TinyForCausalLM().eval()
            model(input_ids=ids(2, 8), labels=ids(2, 8))
            model(input_ids=ids(2, 8))
            """)
        self.assertEqual(result.text, "m()P(x())")
        self.assertTrue(self.kind(result)["generates"])

    def test_images_features_and_dictionaries(self):
        result = self.run_with("""
            model(floats(4, 3, 8, 8)); model(floats(6, 10)); model({"image": [floats(5, 3, 8, 8)]}); model("text"); model(3); model(torch.Tensor())
            """)
        self.assertEqual(result.text, "m()" * 3)
        self.assertEqual(result.marks, ["tokens batch=4", "tokens batch=6", "tokens batch=5"])

    def test_layers_that_a_loop_calls_one_by_one_are_parts(self):
        result = self.run_with("""
            class Layer(Model): pass
            layers = [Layer().eval() for _ in range(4)]
            for _ in range(3):
                for layer in layers: layer(floats(8, 1, 64))
            """)
        self.assertEqual(result.text, "")

    def test_embeddings_of_one_token_are_no_steps_of_an_unknown_module(self):
        self.assertEqual(self.run_with("for length in (9, 1, 1): model(floats(2, length, 64))").text, "m()" * 3)

    def test_a_second_module_is_part_of_the_step(self):
        result = self.run_with("""
            class Head(Model): pass
            head = Head().eval()
            model(ids(2, 9)); head(ids(2, 9))
            for _ in range(2): model(ids(2, 1)); head(ids(2, 1))
            """)
        self.assertEqual(result.text, "m()m()s0(x())s1(x())")

    def test_a_batch_that_changes_is_said(self):
        result = self.run_with("""
            model(ids(1, 9))
            for batch in (1, 1, 3, 3, 2): model(ids(batch, 1))
            """)
        self.assertEqual(result.text, "m()" + "".join(f"s{i}(x())" for i in range(5)))
        self.assertEqual(result.marks, ["tokens prompt=9 batch=1", "tokens batch=3", "tokens batch=2"])
        # Inside the step that has the new batch: what comes before it had another.
        at = [index for index, call in enumerate(result.calls) if call[0] == "mark" and call[2] in ("tokens batch=3", "tokens batch=2")]
        self.assertEqual([result.calls[index - 1][2:4] for index in at], [["decode_step", "2"], ["decode_step", "4"]])
        self.assertEqual([tuple(entry.values()) for entry in result.fact["steps"]],
                         [("prefill", 1, 9, 1), ("decode", 1, 1, 2), ("decode", 3, 3, 2), ("decode", 2, 2, 1)])

    def test_a_sequential_that_is_the_whole_model(self):
        result = self.run_with("""
            inner = torch.Sequential(torch.Linear())
            whole = torch.Sequential(inner, torch.Linear()).to("cuda")
            whole(floats(4, 8)); inner(floats(4, 8))
            """)
        self.assertEqual(result.text, "m()")

    def test_models_inside_an_engine_have_no_marks_of_their_own(self):
        result = self.good(START + textwrap.dedent("""
            import types
            from sglang.srt.model_executor.model_runner import ModelRunner
            ModelRunner.forward.__wrapped__.__code__ = (lambda self, forward_batch, skip_attn_backend_init=False: self.model()).__code__
            runner = ModelRunner(lambda: model(ids(2, 8)))
            runner.forward(types.SimpleNamespace(forward_mode=types.SimpleNamespace(name="DECODE"), batch_size=1))
            model(ids(2, 8))
            """))
        self.assertEqual(result.text, "step[DECODE bs=1]()m()")


class TrainingTest(KindCase):
    STEP = """
        from torch.utils.data.dataloader import DataLoader
        from torch.amp.grad_scaler import GradScaler
        vars(model)["training"] = True
        optimizer, scaler = torch.optim.SGD([7]), GradScaler()
        """

    def trained(self, text, **more):
        return self.run_with(textwrap.dedent(self.STEP) + textwrap.dedent(text), **more)

    def test_the_parts_of_a_step(self):
        result = self.trained("""
            for batch in DataLoader([ids(2, 8)] * 2):
                model(batch)
                torch.autograd.backward()
                assert optimizer.step() == "stepped"
            """)
        self.assertEqual(result.text, "l()f()b()o()" * 2 + "l()")
        kind = self.kind(result)
        self.assertEqual((kind["trains"], kind["training_calls"], kind["eval_calls"]), (True, 2, 0))
        self.assertEqual(result.fact["steps"], [{"kind": "train", "batch": 2, "tokens": 16, "count": 2}])

    def test_gradients_that_add_up_and_a_scaler(self):
        result = self.trained("""
            for _ in range(2): model(ids(2, 8)); torch.autograd.backward()
            assert scaler.step(optimizer) == "stepped"
            """)
        self.assertEqual(result.text, "f()b()f()b()o()")

    def test_a_step_with_a_closure_begins_behind_it(self):
        for call in ("optimizer.step(closure)", "optimizer.step(closure=closure)"):
            with self.subTest(call):
                result = self.trained(f"""
                    def closure(): model(ids(2, 8)); torch.autograd.backward()
                    {call}
                    optimizer.step()
                    """)
                self.assertEqual(result.text, "f()b()o()o()")

    def test_evaluation_between_training(self):
        result = self.trained("""
            model(ids(2, 8)); torch.autograd.backward(); optimizer.step()
            with torch.no_grad(): model(ids(2, 8))
            model.eval(); model(ids(2, 8)); model(ids(2, 1))
            """)
        self.assertEqual(result.text, "f()b()o()m()m()s0(x())")
        self.assertEqual((self.kind(result)["training_calls"], self.kind(result)["eval_calls"]), (1, 3))

    def test_training_on_what_generate_returned(self):
        result = self.trained("""
            import transformers
            transformers.TinyForCausalLM().generate(ids(2, 16), max_new_tokens=2)
            model(ids(2, 8)); torch.autograd.backward(); optimizer.step()
            """)
        self.assertEqual(result.text, "R(P(x())D(s0(x())))f()b()o()")

    def test_a_forward_that_is_computed_again_in_backward_is_part_of_it(self):
        result = self.trained("""
            import threading
            def again():
                thread = threading.Thread(target=lambda: model(ids(2, 8)))
                thread.start(); thread.join(); model(ids(2, 8))
            torch.autograd.backward.__wrapped__.__code__ = (lambda *tensors: tensors[0]()).__code__
            model(ids(2, 8)); torch.autograd.backward(again)
            """)
        self.assertEqual(result.text, "f()b()")

    def test_facts_are_there_without_an_exit(self):
        result = self.trained("import os\nfor _ in range(2): model(ids(2, 8))\nos._exit(0)")
        self.assertTrue(self.kind(result)["trains"])

    def test_exceptions_close_what_is_open(self):
        result = self.trained("""
            def fails(*_): raise KeyError("mine")
            torch.autograd.backward.__wrapped__.__code__ = (lambda *tensors: tensors[0]()).__code__
            for work in (lambda: torch.autograd.backward(fails), lambda: optimizer.step(fails), lambda: model("text", 1, 2)):
                try: work()
                except (KeyError, TypeError): pass
            model(ids(2, 8))
            """)
        self.assertEqual(result.text, "b()o()f()f()")

    def test_a_model_that_was_never_moved_is_found_beside_its_optimizer(self):
        result = self.run_with("""
            class Trainer:
                def __init__(self):
                    class Fresh(Model): pass
                    self.net = Fresh()
                    self.optimizer = torch.optim.SGD([7])
            trainer = Trainer()
            trainer.net(floats(4, 8)); torch.autograd.backward(); trainer.optimizer.step()
            """)
        self.assertEqual(result.text, "f()b()o()")

    def test_compiled_steps_are_left_alone(self):
        result = self.trained("""
            torch.compiler.active = True
            optimizer.step(); scaler.step(optimizer); torch.autograd.backward(); list(DataLoader([1]))
            """)
        self.assertEqual(result.text, "")

    def test_removed_marks_leave_torch_as_it_was(self):
        result = self.trained("""
            import nl_stage_auto, torch.utils.data.dataloader as loader
            nl_stage_auto.process.remove()
            print(*[hasattr(function, "__wrapped__") for function in (torch.autograd.backward, torch.optim.SGD.step, GradScaler.step,
                                                                    loader._BaseDataLoaderIter.__next__, torch.optim.Optimizer.__init__)])
            """)
        self.assertEqual(result.out, "False " * 4 + "False\n")


class DiffusionTest(KindCase):
    NET = """
        class Net(Model):
            def forward(self, x, t, y=None): return x
        net = Net().eval()
        def time(batch=2): return torch.Tensor(batch)
        """

    def denoised(self, text):
        return self.run_with(textwrap.dedent(self.NET) + textwrap.dedent(text))

    def test_a_time_step_and_a_latent(self):
        result = self.denoised("""
            for _ in range(3): net(floats(2, 4, 8, 8), time())
            net(floats(2, 4, 8, 8), t=torch.Tensor(), y=ids(2, 1))
            net(floats(2, 16, 8, 8), 7)
            """)
        self.assertEqual(result.text, "n()" * 5)
        kind = self.kind(result)
        self.assertEqual((kind["denoises"], kind["eval_calls"], kind["generates"]), (True, 5, None))

    def test_names_of_time_steps(self):
        for name in ("timestep", "timesteps", "time", "sigma", "sigmas", "noise_level", "noise_labels", "time_step", "log_snr"):
            with self.subTest(name):
                result = self.run_with(f"""
                    class Net(Model):
                        def forward(self, hidden_states, context=None, {name}=None): return hidden_states
                    net = Net().eval()
                    net(hidden_states=floats(1, 256, 64), context=floats(1, 77, 64), {name}=torch.Tensor(1, dtype=torch.bfloat16))
                    net(hidden_states=floats(1, 256, 64))
                    """)
                self.assertEqual(result.text, "n()m()")

    def test_what_is_not_a_step_of_a_diffusion(self):
        result = self.denoised("""
            net(ids(2, 16), time())             # tokens
            net(floats(2, 8), time())           # features
            net(floats(2, 16, 8), 3)            # the position of a token, perhaps
            net(floats(2, 4, 8, 8), floats(2, 4, 8, 8))
            net(floats(2, 4, 8, 8), None)
            """)
        self.assertEqual(result.text, "m()" * 5)

    def test_guidance_is_not_another_step(self):
        result = self.denoised("""
            torch.Tensor._version = 0
            for _ in range(2):
                x, t = floats(2, 4, 8, 8), time()
                net(x, t, ids(2, 1)); net(x, t)
            net(x, time()); net(floats(2, 4, 8, 8), t)
            x = floats(2, 4, 8, 8)
            net(x, 5); net(x, 5); net(x, 4)
            """)
        self.assertEqual(result.text, "n()g()" * 2 + "n()n()" + "n()g()n()")

    def test_time_steps_that_start_anew_begin_an_image(self):
        def marked(times):
            result = self.denoised(f"for t in {times}: net(floats(2, 4, 8, 8), t)")
            steps = "".join("n" if call[0] == "push" else "i" for call in result.calls if call[:1] != ["pop"] and call[2] in ("denoise_step", "image"))
            return steps

        self.assertEqual(marked([9, 6, 3, 9, 6, 3, 9, 6]), "nnninnninn")
        self.assertEqual(marked([0.1, 0.5, 0.9, 0.1, 0.5]), "nnninn")
        self.assertEqual(marked([9, 7, 7, 5, 5, 3, 12, 7]), "nnnnnninn")  # two calls a step, and an image with more steps
        self.assertEqual(marked([9, 6, 7, 6, 3]), "nnnnn")  # some steps are repeated
        self.assertEqual(marked([9, 9, 9]), "nnn")  # one step an image, or nothing of the kind

    def test_a_latent_that_is_changed_in_place_is_another_step(self):
        result = self.denoised("""
            torch.Tensor._version = 0
            x, t = floats(2, 4, 8, 8), time()
            net(x, t); x._version = 1; net(x, t); t._version = 1; net(x, t)
            """)
        self.assertEqual(result.text, "n()n()n()")

    def test_guidance_where_writes_are_not_counted(self):
        result = self.denoised("""
            x, t, c, n = floats(2, 4, 8, 8), time(), ids(2, 1), ids(2, 1)
            for _ in range(2): net(x, t, c)              # buffers that are filled again
            net(x, t, n)
            class Other(Model):
                def forward(self, x_t, t): return x_t
            Other().eval()(x, t)
            """)
        self.assertEqual(result.text, "n()n()g()n()")

    def test_training_a_diffusion_is_training(self):
        result = self.denoised("vars(net)['training'] = True\ntorch.optim.SGD([7])\nnet(floats(2, 4, 8, 8), time())")
        self.assertEqual(result.text, "f()")

    def test_replays_of_a_captured_step(self):
        result = self.denoised("""
            graph = torch.cuda.graphs.CUDAGraph()
            graph.capture_begin(); net(floats(2, 4, 8, 8), time()); graph.capture_end()
            for _ in range(2): graph.replay()
            """)
        self.assertEqual(result.text, "capture()n(replay())n(replay())")

    def test_pipelines_and_schedulers_of_diffusers(self):
        result = self.denoised("""
            from diffusers.pipelines.pipeline_utils import DiffusionPipeline
            from diffusers.schedulers.scheduling_utils import SchedulerMixin
            class Base(SchedulerMixin):
                def step(self, *_): return "s"
            class Scheduler(Base):
                def step(self, *_): return super().step()
            class Pipeline(DiffusionPipeline):
                def __call__(self, prompt=None, num_images_per_prompt=1, batch_size=1):
                    for _ in range(2): net(floats(2, 4, 8, 8), time()); assert Scheduler().step() == "s"
                    return "image"
            class Outer(Pipeline):
                def __call__(self, *args, **kwargs): return super().__call__(*args, **kwargs)
            print(Outer()("a cat", num_images_per_prompt=3), Pipeline()(["a", "b"]), Pipeline()(batch_size=4), Pipeline()())
            """)
        self.assertEqual(result.text, "i(n()c()n()c())" * 4)
        self.assertEqual(result.out, "image image image image\n")
        self.assertEqual(result.marks, ["images count=3", "images count=2", "images count=4"])


class JaxTest(KindCase):
    def jax(self, text, **more):
        result = self.good("import functools, jax\n" + textwrap.dedent(text), **more)
        self.assertEqual(result.fact["errors"], {})
        return result

    def test_calls_are_named_after_the_function(self):
        result = self.jax("""
            @jax.jit
            def train_step(x): return x + 1
            @functools.partial(jax.jit, static_argnums=(1,))
            def decode_step(x, n): return x * n
            @jax.jit(donate_argnums=0)
            def other(x): return x
            double = jax.pmap(lambda x: 2 * x)
            bound = jax.jit(functools.partial(functools.partial(decode_step.__wrapped__, n=3)))
            for i in range(2): assert (train_step(i), decode_step(i, 3), other(i), double(i), bound(i)) == (i + 1, 3 * i, i, 2 * i, 3 * i)
            """)
        once = ["train_step", "s", "other", "lambda", "s"]  # as_text() writes decode_step as s
        self.assertEqual(result.text, "".join(f"{name}(compile())" for name in once) + "".join(f"{name}()" for name in once))
        self.assertEqual(result.fact["backend"], "jax")
        facts = result.fact["jax"]
        self.assertEqual((facts["platform"], facts["devices"], facts["compiles"], facts["compile_s"]), ("gpu", [{"kind": "NVIDIA H200", "count": 2}], 5, 1.25))
        self.assertEqual(facts["functions"][1], {"name": "decode_step", "calls": 4, "compiled": 2, "trains": False})
        self.assertEqual((result.fact["versions"]["jax"], result.fact["versions"]["jaxlib"]), ("0.11.1", "0.11.0"))

    def test_what_jax_traces_has_no_ranges(self):
        result = self.jax("""
            @jax.jit
            def inner(x): return x
            @jax.jit
            def outer(x): return inner(inner(x))
            outer(1); jax.vmap(inner)(1)
            """)
        self.assertEqual(result.text, "outer(compile())")

    def test_libraries_compile_for_themselves(self):
        result = self.jax("""
            import flax, jax.numpy
            jax.numpy.dot(2, 3); flax.apply(1)
            def mine(x): return x
            flax.nnx_jit(mine)(1); jax.jit(flax._apply)(1)
            print(type(flax.apply).__name__)
            """)
        self.assertEqual((result.text, result.out), ("mine(compile())_apply(compile())".replace("_apply", "apply"), "PjitFunction\n"))

    def test_it_is_as_what_jax_returned(self):
        result = self.jax("""
            import copy, inspect, pickle, weakref
            class Net:
                @functools.partial(jax.jit, static_argnums=0)
                def call(self, x, y=3): return x + y
            def named(x):
                "Text."
                return x
            function = jax.jit(named)
            net = Net()
            print(net.call(1), Net.call.__name__, list(inspect.signature(net.call).parameters), net.call.__func__ is Net.call)
            print(function.__wrapped__ is named, function.__doc__, function.__module__, function._cache_size())
            print(callable(function.lower), copy.deepcopy(function) is function, jax.eval_shape(function, 1), jax.eval_shape(named, 1))
            function(1); function.clear_cache(); function.mine = 7
            print(function._cache_size(), function.mine, weakref.ref(function)() is function, hash(function) == hash(function), hasattr(function, "nothing"))
            print(type(pickle.loads(pickle.dumps(function))).__name__, jax.jit.__name__, isinstance(jax.jit(function), type(function)))
            """)
        self.assertEqual(result.out.splitlines(), ["4 call ['x', 'y'] True", "True Text. __main__ 0", "True True True False", "0 7 True True False",
                                                   "Jitted jit True"])

    def test_gradients_of_parameters_show_training(self):
        result = self.jax("""
            def loss(weights, x): return 1
            @jax.jit
            def fit(weights, x): return jax.value_and_grad(loss)(weights, x)
            descend = jax.jit(jax.grad(loss, argnums=(0,)))
            weights = {"layers": [1, 2], "head": 3}
            for _ in range(3): assert fit(weights, 7) == (1, weights)
            descend(weights, 7)
            jax.jit(lambda x: x)(1)
            """)
        self.assertEqual(result.marks, ["kind training function=fit", "kind training function=loss"])
        self.assertEqual([(each["name"], each["trains"]) for each in result.fact["jax"]["functions"]], [("fit", True), ("loss", True), ("lambda", False)])

    def test_the_gradient_of_one_array_may_be_a_force(self):
        text = """
            @jax.jit
            def move(places): return jax.grad(lambda at: at)(places)
            move(3)
            jax.grad(lambda weights: weights)([1, 2])  # not compiled
            """
        self.assertEqual(self.jax(text).marks, [])
        self.assertEqual(self.jax("import optax\n" + textwrap.dedent(text)).marks, ["kind training function=move"])

    def test_what_is_compiled_ahead_of_time(self):
        result = self.jax("""
            @jax.jit
            def decode(x): return x
            step = decode.lower(1).compile()
            for _ in range(2): step(1)
            """)
        self.assertEqual(result.text, "decode()decode()")

    def test_facts_are_there_without_an_exit(self):
        result = self.jax("import os\njax.jit(lambda x: x)(1)\nos._exit(0)")
        self.assertEqual(result.fact["jax"]["platform"], "gpu")

    def test_an_exception_closes_its_range(self):
        result = self.jax("""
            @jax.jit
            def fails(x): raise KeyError("mine")
            try: fails(1)
            except KeyError as error: print(error)
            """)
        self.assertEqual((result.text, result.out), ("fails()", "'mine'\n"))

    def test_threads(self):
        result = self.jax("""
            import threading
            jax._src.core.tracing = 0
            @jax.jit
            def step(x): return x
            step(1)
            thread = threading.Thread(target=lambda: step(1))
            thread.start(); thread.join()
            """)
        self.assertEqual([as_text(calls) for calls in result.threads.values()], ["step(compile())", "step()"])

    def test_flags_of_xla_have_no_paths(self):
        flags = "--xla_gpu_autotune_level=2 --xla_dump_to=/home/me/secret --xla_gpu_enable_triton_gemm=false --other=hunter2 junk xla_x=1"
        result = self.jax("jax.jit(lambda x: x)(1)", XLA_FLAGS=flags)
        self.assertEqual(result.fact["jax"]["xla_flags"], ["--xla_dump_to", "--xla_gpu_autotune_level=2", "--xla_gpu_enable_triton_gemm=false"])
        self.assertNotIn("secret", json.dumps(result.fact))
        self.assertNotIn("hunter2", json.dumps(result.fact))

    def test_a_jax_without_what_we_look_for(self):
        for name, text in (("jax/_src/core.py", "tracing = 0\n"), ("jax/_src/compiler.py", "def compile_or_get_cached(fun): pass\n"),
                           ("jax/_src/xla_bridge.py", "")):
            with self.subTest(name):
                write_jax_fakes(self.fakes)
                (self.fakes / name).write_text(text)
                if "core" in name:
                    jax = self.fakes / "jax" / "__init__.py"
                    jax.write_text(jax.read_text().replace("core.trace_state_clean()", "True"))
                result = self.jax("jax.jit(lambda x: x)(1)")
                self.assertEqual(result.text, "lambda(compile())")

    def test_ours_are_silent_where_the_marks_were_removed(self):
        result = self.jax("""
            import nl_stage_auto
            step = jax.jit(lambda x: x)
            step(1)
            nl_stage_auto.process.remove()
            step(1); print(type(jax.jit(lambda x: x)).__name__)
            """)
        self.assertEqual((result.text, result.out), ("lambda(compile())", "PjitFunction\n"))


@unittest.skipUnless(REAL, "needs torch and transformers")
class RealKindsTest(RealScripts):
    SCRIPTS = {
        "encoder": """
            shape = dict(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
            encoder = transformers.BertModel(transformers.BertConfig(**shape)).eval()
            with torch.no_grad():
                for _ in range(3): encoder(prompt, attention_mask=torch.ones_like(prompt))
            """,
        "training": """
            net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).to("cpu")
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
            data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 8)), batch_size=2)
            for (batch,) in data:
                optimizer.zero_grad()
                net(batch).sum().backward()
                optimizer.step()
            """,
        "beams": "generate(model, prompt, num_beams=3)",
        "diffusion": """
            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.part = torch.nn.Conv2d(4, 4, 3, padding=1)
                def forward(self, x, t): return self.part(x) * t.view(-1, 1, 1, 1)
            net, x = Net().eval(), torch.ones(2, 4, 8, 8)
            with torch.no_grad():
                for t in (3, 2, 1):
                    time = torch.full((2,), float(t))
                    x = x - net(x, time) - net(x, time)
            """,
    }

    def test_an_encoder(self):
        result = self.real("encoder")
        self.assertEqual((result.text, result.marks), ("m()" * 3, ["tokens prompt=16 batch=2"] * 3))
        self.assertIs(result.fact["models"][0]["kind"]["generates"], False)

    def test_training(self):
        self.assertEqual(self.real("training").text, "l()f()b()o()" * 2 + "l()")

    def test_beams(self):
        self.assertEqual(self.real("beams").marks, ["tokens prompt=16 batch=2 beams=3"])

    def test_a_diffusion_written_by_hand(self):
        self.assertEqual(self.real("diffusion").text, "n()g()" * 3)


if __name__ == "__main__":
    run_tests()

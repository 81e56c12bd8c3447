"""The marks of generate() and of engines, their facts and their overhead."""

import json
import sys
import textwrap
import time
import unittest

from auto_case import FOUR_TOKENS, REAL, ROOT, AutoCase, RealCase, as_text, run_tests
from auto_fakes import write_fakes


class GenerateTest(AutoCase):
    def test_ranges_of_a_request_in_transformers_4_and_5(self):
        for version in (4, 5):
            with self.subTest(version):
                write_fakes(self.fakes, version)
                result = self.generate("model.generate(prompt)\nmodel.generate(input_ids=prompt)")
                self.assertEqual(result.text, FOUR_TOKENS * 2)
                self.assertEqual(result.marks, ["tokens prompt=16 batch=2"] * 2)
                self.assertEqual({call[1] for call in result.calls}, {"LLM"})
                self.assertEqual(result.calls[1][0], "mark")  # before the prefill
                self.assertEqual(result.fact["versions"]["transformers"], f"{version}.17.0")

    def test_a_model_that_overrides_the_methods_is_marked_once(self):
        result = self.generate("""
            for model in (transformers.OverridingForCausalLM(), model, transformers.OverridingForCausalLM()):
                model.generate(prompt)
            """)
        self.assertEqual(result.text, FOUR_TOKENS * 3)

    def test_a_wrapper_of_the_workload_around_ours(self):
        result = self.generate("""
            import functools, nl_stage_auto
            mixin = transformers.GenerationMixin
            ours = mixin.generate
            @functools.wraps(ours)
            def mine(*args, **kwargs): return ours(*args, **kwargs)
            mixin.generate = mine
            model.generate(prompt)
            nl_stage_auto.process.remove()
            model.generate(prompt)
            print(mixin.generate is mine, hasattr(mixin.prepare_inputs_for_generation, "__wrapped__"))
            """)
        self.assertEqual((result.text, result.out), (FOUR_TOKENS, "True False\n"))

    def test_signature_and_name_stay(self):
        result = self.generate("""
            import inspect, pickle
            print(list(inspect.signature(model.generate).parameters)[:2], model.generate.__qualname__)
            print(transformers.generation.utils.__loader__.__class__.__name__, pickle.loads(pickle.dumps(type(model).generate)).__name__)
            """)
        self.assertEqual(result.out, "['inputs', 'generation_config'] GenerationMixin.generate\nSourceFileLoader generate\n")

    def test_chunks_of_a_prompt_are_one_prefill(self):
        for version, length, chunk in ((4, 16, 5), (4, 17, 8), (5, 16, 5), (5, 17, 8)):
            with self.subTest(f"{version} {length} {chunk}"):
                write_fakes(self.fakes, version)
                result = self.generate(f"model.generate(torch.Tensor(1, {length}), prefill_chunk_size={chunk})")
                self.assertEqual(result.text, FOUR_TOKENS)
                self.assertEqual(result.marks, [f"tokens prompt={length} batch=1"])

    def test_a_loop_that_never_updates_has_steps_too(self):
        result = self.generate("""
            def loop(model, ids, **kwargs):
                for step in range(3):
                    model.prepare_inputs_for_generation(ids, past_key_values=step > 0)
                return ids
            model.generate(prompt, custom_generate=loop)
            """)
        self.assertEqual(result.text, "R(P()D(s0()s1()))")

    def test_without_a_cache_every_forward_after_the_first_is_a_step(self):
        self.assertEqual(self.generate("model.generate(prompt, use_cache=False)").text, FOUR_TOKENS)

    def test_beams_embeddings_and_named_results(self):
        result = self.generate("""
            model.generate(prompt, num_beams=3, return_dict_in_generate=True)
            model.generate(inputs_embeds=torch.Tensor(2, 7, 8, dtype=torch.bfloat16))
            """)
        self.assertEqual(result.marks, ["tokens prompt=16 batch=2 beams=3", "tokens prompt=7 batch=2"])
        self.assertEqual([(r["batch"], r["prompt_tokens"], r["new_tokens"]) for r in result.fact["requests"]["listed"]], [(2, 16, 4), (2, 7, 4)])
        self.assertEqual([(r.get("beams"), r.get("search")) for r in result.fact["requests"]["listed"]], [(3, "beams"), (None, None)])

    def test_beams_and_sequences_of_arguments_and_configurations(self):
        result = self.generate("""
            import types
            def config(**values): return types.SimpleNamespace(**values)
            model.generate(prompt, num_beams=4, num_return_sequences=2)
            model.generate(prompt, num_return_sequences=3, do_sample=True)
            model.generate(prompt, generation_config=config(num_beams=2, num_beam_groups=2, num_return_sequences=None))
            type(model).generation_config = config(num_beams=5, penalty_alpha=None)
            model.generate(prompt, None)
            model.generate(prompt, num_beams=1, penalty_alpha=0.6)
            model.generate(prompt, num_beams=4, num_return_sequences=3)     # beams that do not divide are not said
            """)
        marks = ["batch=4 beams=2", "batch=6", "batch=2 beams=2", "batch=2 beams=5", "batch=2", "batch=6"]
        self.assertEqual(result.marks, [f"tokens prompt=16 {mark}" for mark in marks])
        self.assertEqual([r.get("search") for r in result.fact["requests"]["listed"]],
                         ["beams", "sampling", "group beams", "beams", "contrastive", "beams"])

    def test_the_batch_of_an_encoder_of_sound_or_images(self):
        for name in ("input_features", "input_values", "inputs"):
            with self.subTest(name):
                result = self.generate(f"""
                    class Sound(transformers.TinyForSeq2SeqLM):
                        def generate(self, **kwargs):
                            return super().generate(**kwargs)
                    sound = torch.Tensor(2, 80, 3000, dtype=torch.bfloat16)
                    Sound().generate({name}=sound, num_beams=3, **({{}} if "{name}" == "inputs" else {{"input_ids": sound}}))
                    """)
                self.assertEqual(result.marks, ["tokens batch=2 beams=3"])
                self.assertEqual(result.fact["requests"]["listed"][0]["batch"], 2)

    def test_the_encoder_is_part_of_the_prefill(self):
        result = self.generate("""
            import nvtx
            model = transformers.TinyForSeq2SeqLM()
            model.__class__.encoder_ran = property(lambda m: None, lambda m, v: nvtx.mark("encoder"))
            model.generate(prompt)
            """)
        self.assertEqual(result.text, FOUR_TOKENS)
        self.assertEqual(result.marks, ["tokens prompt=16 batch=2", "encoder"])
        self.assertEqual([call[0] for call in result.calls[:4]], ["push", "mark", "push", "mark"])
        self.assertEqual(result.fact["requests"]["listed"][0]["new_tokens"], 4)

    def test_the_vision_tower_is_a_stage(self):
        result = self.generate("""
            model = transformers.TinyForConditionalGeneration()
            model.generate(prompt, pixel_values=torch.Tensor(1, 3))
            model.model.vision_tower(torch.Tensor(1, 3))
            """)
        self.assertEqual(result.text, FOUR_TOKENS.replace("P(", "P(v()"))

    def test_a_tower_whose_forward_was_replaced(self):
        result = self.generate("""
            import gc, weakref
            model = transformers.TinyForConditionalGeneration()
            tower = model.model.vision_tower
            tower.forward = (lambda old: lambda pixels: old(pixels))(tower.forward)
            for _ in range(2): model.generate(prompt, pixel_values=torch.Tensor(1, 3))
            seen = [weakref.ref(model), weakref.ref(tower)]
            del model, tower
            gc.collect()
            print(*[reference() for reference in seen])
            """)
        self.assertEqual(result.text, FOUR_TOKENS.replace("P(", "P(v()") * 2)
        self.assertEqual(result.out, "None None\n")  # we keep no model alive

    def test_assisted_decoding_marks_the_outer_request_only(self):
        for version in (4, 5):
            write_fakes(self.fakes, version)
            result = self.generate("model.generate(prompt, assistant_model=transformers.OverridingForCausalLM(), max_new_tokens=9)")
            self.assertEqual(result.text, "R(P(x())D(s0(x())s1(x())))")
            self.assertEqual([r["new_tokens"] for r in result.fact["requests"]["listed"]], [9])

    def test_an_exception_closes_every_range_and_reaches_the_user(self):
        result = self.generate("""
            class Stop:
                def put(self, ids):
                    if ids.shape[1] == 18: raise KeyboardInterrupt("mine")
            try: model.generate(prompt, streamer=Stop())
            except KeyboardInterrupt as error: print(error)
            model.generate(prompt)
            """)
        self.assertEqual(result.out, "mine\n")
        self.assertEqual(result.text, "R(P(x())D(s0(x())))" + FOUR_TOKENS)
        self.assertEqual(result.fact["requests"]["failed"], 1)

    def test_a_generator_closed_early_closes_every_range(self):
        result = self.generate("""
            def stream(model, ids, **kwargs):
                for step in range(9):
                    model.prepare_inputs_for_generation(ids, past_key_values=step > 0)
                    model._update_model_kwargs_for_generation(None, {})
                    yield step
            never = model.generate(prompt, custom_generate=stream)
            tokens = model.generate(prompt, custom_generate=stream)
            print(next(tokens), next(tokens), type(tokens).__name__)
            tokens.close()
            del never
            print(len(list(model.generate(prompt, custom_generate=stream))))
            """)
        self.assertEqual(result.out, "0 1 generator\n9\n")
        steps = "".join(f"s{i}(x())" for i in range(8))
        self.assertEqual(result.text, f"R(P(x())D(s0(x())))R(P(x())D({steps}))")

    def test_a_generator_that_another_thread_closes_pops_nothing_there(self):
        result = self.generate("""
            import threading
            def stream(model, ids, **kwargs):
                model.prepare_inputs_for_generation(ids)
                yield 1
            tokens = model.generate(prompt, custom_generate=stream)
            next(tokens)
            other = threading.Thread(target=tokens.close)
            other.start(); other.join()
            model.generate(prompt)
            """)
        self.assertEqual(len(result.threads), 1)
        self.assertEqual(result.text, "R(P())" + FOUR_TOKENS)

    def test_a_generator_that_is_read_inside_another_request(self):
        result = self.generate("""
            def stream(model, ids, **kwargs):
                for step in range(3):
                    model.prepare_inputs_for_generation(ids, past_key_values=step > 0)
                    yield step
            class Reads:
                def put(self, ids): list(model.generate(prompt, custom_generate=stream))
            model.generate(prompt, streamer=Reads())
            tokens = model.generate(prompt, custom_generate=stream)
            class ReadsOther:
                def put(self, ids): print(list(tokens))
            model.generate(prompt, streamer=ReadsOther(), max_new_tokens=1)
            """)
        # Its steps count as the outer request's, which is wrong but rare; nothing stays open.
        self.assertEqual((result.text.count("R("), result.text.count("(")), (2, result.text.count(")")))
        self.assertEqual(result.out, "[0, 1, 2]\n")

    def test_threads_that_generate_at_once(self):
        result = self.generate("""
            import threading
            gate = threading.Barrier(8)
            model = transformers.OverridingForCausalLM()
            def work():
                gate.wait()
                for _ in range(50): model.generate(prompt)
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            """)
        self.assertEqual(len(result.threads), 8)
        for calls in result.threads.values():
            self.assertEqual(as_text(calls), FOUR_TOKENS * 50)
        self.assertEqual((result.fact["requests"]["count"], result.fact["ranges"]), (400, 400 * FOUR_TOKENS.count("(")))

    def test_through_torch_where_there_is_no_nvtx_package(self):
        (self.fakes / "nvtx.py").write_text("raise ImportError")
        result = self.generate("""
            import types
            model.generate(prompt, max_new_tokens=1)
            from sglang.srt.model_executor.model_runner import ModelRunner
            ModelRunner(None).forward(types.SimpleNamespace(forward_mode=types.SimpleNamespace(name="DECODE"), batch_size=3))
            """)
        names = ["LLM@request", "LLM@tokens prompt=16 batch=2", "LLM@prefill", "LLM@sampling", None, None, None, "step[DECODE bs=3]", None]
        self.assertEqual(result.out, "".join(f"nvtx {name}\n" for name in names))
        self.assertEqual(result.fact["ranges_through"], "torch")

    def test_torch_without_cuda(self):
        (self.fakes / "nvtx.py").write_text("raise ImportError")
        torch = self.fakes / "torch" / "__init__.py"
        torch.write_text(torch.read_text().replace("_C._nvtx = True", "version.cuda = None"))
        result = self.generate("print(model.generate(prompt).shape)")
        self.assertEqual((result.out, result.fact["ranges_through"], result.fact["errors"]), ("(2, 20)\n", "none", {}))
        self.assertNotIn("cuda_runtime", result.fact["versions"])

    def test_compiled_code_runs_as_if_we_were_not_there(self):
        self.assertEqual(self.generate("torch.compiler.active = True\nmodel.generate(prompt)").calls, [])


class WorkloadMarksTest(AutoCase):
    USER = f"import sys\nsys.path.append({str(ROOT / 'nvtx' / 'python')!r})\nimport nl_stage_nvtx as stage\n"

    def test_ours_are_silent_once_the_workload_marks_itself(self):
        for own in ("with stage.prefill(): pass", "stage.decode_step(3)(print)()", "with stage.stage('request'): model.generate(prompt)"):
            with self.subTest(own):
                result = self.generate(self.USER + own + "\nmodel.generate(prompt)")
                self.assertEqual(len([call for call in result.calls if call[0] == "push"]), 1)
                self.assertTrue(result.fact["marked_by_workload"])
                self.assertGreater(result.fact["requests"]["count"], 0)

    def test_a_mark_in_the_middle_of_a_request_closes_what_is_open(self):
        result = self.generate(self.USER + textwrap.dedent("""
            class Marks:
                def put(self, ids):
                    with stage.decode_step(): pass
            model.generate(prompt, streamer=Marks())
            """))
        self.assertEqual(result.text, "R(P(x(s()))s()s()s())")

    def test_operators_and_layers_of_the_workload_silence_nothing(self):
        result = self.generate(self.USER + "with stage.op('mine'), stage.layer('l'), stage.stage('loading'): pass\nmodel.generate(prompt)")
        self.assertTrue(result.text.endswith(FOUR_TOKENS))


class EngineTest(AutoCase):
    def test_steps_of_vllm_have_its_names(self):
        result = self.good("""
            import types
            from vllm.v1.worker.gpu_model_runner import GPUModelRunner
            cached = types.SimpleNamespace(is_context_phase=lambda request: request == "b")
            output = types.SimpleNamespace(scheduled_new_reqs=[types.SimpleNamespace(req_id="a")], scheduled_cached_reqs=cached,
                                           num_scheduled_tokens={"a": 500, "b": 12, "c": 1, "d": 1})
            runner = GPUModelRunner(None)
            print(runner.execute_model(output), runner.execute_model(scheduler_output=output), runner.execute_model(None))
            """)
        self.assertEqual(result.out, "ran ran ran\n")
        self.assertEqual(result.text, "execute_context_2(512)_generation_2(2)()" * 2)
        self.assertEqual((result.fact["backend"], result.fact["engine_steps"]), ("vllm", 2))

    def test_steps_of_sglang_have_its_names(self):
        result = self.good("""
            import types
            from sglang.srt.model_executor.model_runner import ModelRunner
            def batch(mode): return types.SimpleNamespace(forward_mode=types.SimpleNamespace(name=mode), batch_size=3, extend_num_tokens=40)
            for mode in ("EXTEND", "DECODE", "MIXED", "IDLE"): ModelRunner(None).forward(batch(mode))
            """)
        self.assertEqual(result.text, "step[EXTEND bs=3 toks=40]()step[DECODE bs=3]()step[MIXED bs=3]()")


class FactsTest(AutoCase):
    def test_facts_of_a_process(self):
        result = self.generate("model.generate(prompt)\nmodel.generate(prompt, max_new_tokens=2)", SECRET_OF_MINE="hunter2")
        fact = result.fact
        self.assertEqual(fact["versions"], {"python": sys.version.split()[0], "torch": "2.11.0+fake", "transformers": "5.17.0", "cuda_runtime": "13.0"})
        self.assertEqual((fact["backend"], fact["ranges"], fact["ranges_through"], fact["errors"]), ("transformers", 16, "nvtx", {}))
        (model,) = fact["models"]
        self.assertEqual(model["config"], {"model_type": "tiny", "hidden_size": 8, "dtype": "bfloat16", "odd": "inf", "7": ["a", ["b"]]})
        self.assertEqual((model["class"], model["dtype"], model["attention"], model["precision"]),
                         ("TinyForCausalLM", "bfloat16", "sdpa", "bfloat16"))
        self.assertEqual(model["parameters"], {"count": 1664, "bytes": 1728, "buffer_bytes": 0, "bytes_by_dtype": {"bfloat16": 1728}})
        self.assertEqual((model["requests"], model["new_tokens"]), (2, 12))
        self.assertEqual(fact["requests"], {"count": 2, "failed": 0, "prompt_tokens": 64, "new_tokens": 12, "listed": [
            {"model": 0, "batch": 2, "prompt_tokens": 16, "new_tokens": 4, "steps": 3},
            {"model": 0, "batch": 2, "prompt_tokens": 16, "new_tokens": 2, "steps": 1}]})
        self.assertNotIn("hunter2", json.dumps(fact))

    def test_steps_by_batch_and_tokens(self):
        result = self.generate("""
            for tokens in (4, 4, 2): model.generate(prompt, max_new_tokens=tokens)
            model.generate(torch.Tensor(1, 8), max_new_tokens=1)
            """)
        self.assertEqual([tuple(entry.values()) for entry in result.fact["steps"]],
                         [("prefill", 2, 32, 3), ("decode", 2, 2, 7), ("prefill", 1, 8, 1)])

    def test_the_histogram_of_steps_is_bounded(self):
        result = self.generate("""
            from nl_stage_auto.step_counts import StepCounts
            counts = StepCounts()
            for _ in range(2): counts.add_growing(1, 10, 5000, 3010)
            print(len(counts.listed()), counts.left_out + sum(entry["count"] for entry in counts.listed()))
            """)
        self.assertEqual(result.out, "1000 10002\n")

    def test_precision_is_one_word(self):
        result = self.generate("""
            from nl_stage_auto.model_facts import precision
            def word(loaded, method=None, bits=None, kind=None):
                quantised = {"method": method, "bits": bits, "type": kind} if method else None
                return precision({"parameters": {"bytes_by_dtype": {loaded: 9, "float32": 1}}, "quantization": quantised})
            for case in (("bfloat16",), ("float8_e4m3fn",), ("int32", "gptq", 4), ("uint8", "bitsandbytes", 4, "nf4"), ("int8", "bitsandbytes", 8),
                         ("float8_e4m3fn", "fbgemm_fp8"), ("uint8", "mxfp4"), ("float8_e4m3fn", "compressed-tensors")): print(word(*case))
            print(precision({"dtype": "float16"}), precision({}))
            """)
        self.assertEqual(result.out.splitlines(), ["bfloat16", "fp8", "int4 (gptq)", "nf4 (bitsandbytes)", "int8 (bitsandbytes)", "fp8", "mxfp4",
                                                   "fp8 (compressed-tensors)", "float16 None"])

    def test_quantisation_as_the_configuration_says_it(self):
        result = self.generate("""
            type(model.config).quantization_config = {"quant_method": "bitsandbytes", "_load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
            model.generate(prompt)
            """)
        (found,) = result.fact["models"]
        self.assertEqual((found["quantization"], found["precision"]),
                         ({"method": "bitsandbytes", "bits": 4, "type": "nf4"}, "nf4 (bitsandbytes)"))

    def test_a_model_that_a_loop_of_the_workloads_own_calls(self):
        result = self.generate("""
            from transformers.modeling_utils import PreTrainedModel
            PreTrainedModel(model.config)
            part = type(model.config)()
            model.config.text_config = part
            PreTrainedModel(part)
            type(model.config).to_dict = lambda self: {"model_type": "tiny"}
            def loop():
                dropped = transformers.TinyForSeq2SeqLM()
                for _ in range(3): dropped(input_ids=prompt)
            loop()
            """)
        self.assertEqual(result.calls, [])
        self.assertEqual([model["class"] for model in result.fact["models"]], ["TinyForCausalLM", "TinyForSeq2SeqLM"])
        self.assertEqual(["parameters" in model for model in result.fact["models"]], [True, False])
        self.assertEqual(result.fact["models"][1]["config"], {"model_type": "tiny"})

    def test_facts_are_there_after_the_first_request_and_without_an_exit(self):
        result = self.generate("import os\nmodel.generate(prompt)\nos._exit(0)")
        self.assertEqual(result.fact["requests"]["count"], 1)

    def test_without_a_folder_there_are_ranges_and_no_facts(self):
        result = self.generate("model.generate(prompt)", NL_STAGE_FACTS_DIR="")
        self.assertEqual((result.text, result.facts), (FOUR_TOKENS, {}))

    def test_a_folder_that_cannot_be_written_is_no_trouble(self):
        result = self.generate("model.generate(prompt)", NL_STAGE_FACTS_DIR=str(self.file("a_file", "") / "facts"))
        self.assertEqual((result.text, result.facts), (FOUR_TOKENS, {}))

    def test_a_configuration_that_raises_is_counted_and_costs_nothing_else(self):
        result = self.generate("""
            type(model.config).to_dict = lambda self: 1 / 0
            model.generate(prompt)
            """)
        self.assertEqual(result.text, FOUR_TOKENS)
        self.assertEqual(result.fact["errors"], {"facts of the model: config (ZeroDivisionError)": 1})
        self.assertEqual(result.fact["models"][0]["parameters"]["count"], 1664)

    def test_after_twenty_errors_the_hooks_are_gone(self):
        result = self.generate("""
            class Odd(dict):
                def get(self, *_): raise ValueError("user's data")
            original = transformers.GenerationMixin.prepare_inputs_for_generation.__wrapped__
            class Broken(transformers.TinyForCausalLM):
                def prepare_inputs_for_generation(self, input_ids, **kwargs): return Odd(original(self, input_ids, **kwargs))
            for _ in range(30): Broken().generate(prompt)
            print(hasattr(transformers.GenerationMixin.generate, "__wrapped__"), hasattr(Broken.prepare_inputs_for_generation, "__wrapped__"))
            """)
        self.assertEqual(result.out, "False False\n")
        self.assertEqual(result.fact["errors"], {"prefill (ValueError)": 20})
        self.assertTrue(result.fact["removed"])
        self.assertEqual(result.text.count("R("), 20)
        self.assertEqual(result.text.count("("), result.text.count(")"))

    def test_an_nvtx_that_raises_does_not_reach_the_workload(self):
        for method in ("push_range", "pop_range", "mark"):
            with self.subTest(method):
                result = self.generate(f"""
                    import nvtx
                    def raises(*args, **kwargs): raise OSError("user's data")
                    nvtx.{method} = raises
                    for _ in range(30): assert model.generate(prompt).shape == (2, 20)
                    """)
                self.assertTrue(result.fact["removed"])
                self.assertEqual(sum(result.fact["errors"].values()), 20)
                self.assertNotIn("data", json.dumps(result.fact["errors"]))

    def test_a_hundred_thousand_steps_are_bounded(self):
        result = self.generate("""
            import resource
            for _ in range(500): model.generate(prompt, max_new_tokens=20)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(4500): model.generate(prompt, max_new_tokens=20)
            model.generate(prompt, max_new_tokens=5000)
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
            """, log=False)
        fact = result.fact
        self.assertEqual((fact["requests"]["count"], len(fact["requests"]["listed"])), (5001, 1000))
        self.assertEqual(fact["models"][0]["new_tokens"], 2 * (5000 * 20 + 5000))
        self.assertLess(len(json.dumps(fact)), 200_000)
        self.assertLess(int(result.out), 4096)  # kB; 90,000 more steps would show what each of them keeps


@unittest.skipUnless(REAL, "needs torch and transformers")
class RealTest(RealCase):
    def test_generate(self):
        result = self.real("generate(model, prompt)\nprint(sum(p.numel() for p in model.parameters()))")
        self.assertEqual(result.text, FOUR_TOKENS)
        self.assertEqual(result.marks, ["tokens prompt=16 batch=2"])
        (model,) = result.fact["models"]
        self.assertEqual((model["class"], model["config"]["hidden_size"], model["new_tokens"]), ("LlamaForCausalLM", 32, 8))
        self.assertEqual(model["parameters"]["count"], int(result.out))
        self.assertEqual(model["parameters"]["bytes"], 4 * int(result.out))

    def test_a_forward_compiled_as_one_graph(self):
        result = self.real("""
            model.forward = torch.compile(model.forward, backend="eager", fullgraph=True)
            generate(model, prompt)
            generate(model, prompt)
            """)
        self.assertEqual(result.text, FOUR_TOKENS * 2)

    def test_encoder_decoder(self):
        result = self.real("""
            config = transformers.T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, decoder_start_token_id=0)
            generate(transformers.T5ForConditionalGeneration(config).eval(), prompt)
            """)
        self.assertEqual(result.text, FOUR_TOKENS)

    def test_assisted_decoding(self):
        text = self.real("generate(model, prompt[:1], tokens=12, assistant_model=make())").text
        self.assertEqual((text.count("R("), text.count("P("), text.count("D(")), (1, 1, 1))
        self.assertEqual(text.count("("), text.count(")"))


class CostTest(AutoCase):
    STEPS = 20_000
    TIMED = """
        import sys, time
        import nl_stage_auto
        def fastest(work):
            times = []
            for _ in range(9):
                begin = time.perf_counter(); work(); times.append(time.perf_counter() - begin)
            return min(times) / {steps} * 1e6
        def steps(): model.generate(prompt, max_new_tokens={steps})
        def calls():
            backend = sys.modules["_nl_stage_nvtx_of_marks"]._backend()
            for index in range({steps}):
                backend.push("LLM", "decode_step", index); backend.push("LLM", "sampling", None); backend.pop("LLM"); backend.pop("LLM")
        marked, nvtx = fastest(steps), fastest(calls)
        nl_stage_auto.process.remove()
        print(marked, nvtx, fastest(steps))
        """

    def test_cost_of_a_step(self):
        result = self.generate(textwrap.dedent(self.TIMED).format(steps=self.STEPS), log=False)
        marked, nvtx, bare = map(float, result.out.split())
        ours = marked - bare - nvtx
        print(f"marks: {ours:.2f} us a step besides {nvtx:.2f} us in nl_stage_nvtx and a do-nothing nvtx package; the loop itself {bare:.2f} us")
        # 2 us are the aim; the machines that run the tests are shared and slow.
        self.assertLess(ours, 20)

    def test_cost_of_a_start(self):
        def fastest(mark):
            times = []
            for _ in range(5):
                begin = time.perf_counter()
                self.good("pass", mark=mark)
                times.append(time.perf_counter() - begin)
            return min(times) * 1e3

        bare, marked = fastest("0"), fastest("1")
        print(f"marks: {marked - bare:.1f} ms at the start and exit of a Python that takes {bare:.1f} ms")
        self.assertLess(marked - bare, 500)  # generous: see above


if __name__ == "__main__":
    run_tests()

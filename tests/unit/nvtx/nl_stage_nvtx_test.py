"""The Python helper with every backend it can meet, none of which needs to be installed."""

import importlib
import os
import pathlib
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "nvtx" / "python"))
# The repository's own folder is called nvtx and would import as an empty package.
sys.path[:] = [p for p in sys.path if p and pathlib.Path(p).resolve() != ROOT]


class FakeNvtx(types.ModuleType):
    def __init__(self, takes_payload=True):
        super().__init__("nvtx")
        self.calls = []
        self.takes_payload = takes_payload

    def push_range(self, message, domain=None, **more):
        if more and not self.takes_payload:
            raise TypeError("unexpected keyword")
        self.calls.append(("push", domain, message, more.get("payload")))

    def pop_range(self, domain=None):
        self.calls.append(("pop", domain))

    def mark(self, message, domain=None):
        self.calls.append(("mark", domain, message))

    def start_range(self, message, domain=None):
        self.calls.append(("start", domain, message))
        return 17

    def end_range(self, handle):
        self.calls.append(("end", handle))


def fake_torch(calls):
    torch, core = types.ModuleType("torch"), types.ModuleType("torch._C")
    core._nvtx = object()
    nvtx = types.SimpleNamespace(
        range_push=lambda text: calls.append(("push", text)), range_pop=lambda: calls.append(("pop",)),
        mark=lambda text: calls.append(("mark", text)))
    torch.cuda = types.SimpleNamespace(nvtx=nvtx)
    torch._C = core
    return {"torch": torch, "torch._C": core}


class HelperCase(unittest.TestCase):
    def setUp(self):
        self.saved = {name: sys.modules.pop(name, None) for name in ("nvtx", "torch", "torch._C", "nl_stage_nvtx")}
        self.injection = os.environ.pop("NVTX_INJECTION64_PATH", None)
        sys.modules["nvtx"] = None  # as if it were not installed

    def tearDown(self):
        for name, module in self.saved.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module
        if self.injection is not None:
            os.environ["NVTX_INJECTION64_PATH"] = self.injection

    def helper(self, **modules):
        sys.modules.update(modules)
        return importlib.import_module("nl_stage_nvtx")


class HelperTest(HelperCase):
    def test_nvtx_package_gets_a_real_domain_and_payload(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        with stage.prefill():
            with stage.op("attention", 3):
                pass
        with stage.decode_step(5):
            stage.mark("here")
        self.assertEqual(stage.backend(), "nvtx")
        self.assertEqual(fake.calls, [
            ("push", "LLM", "prefill", None), ("push", "LLM.ops", "attention", 3), ("pop", "LLM.ops"), ("pop", "LLM"),
            ("push", "LLM", "decode_step", 5), ("mark", "LLM", "here"), ("pop", "LLM")])

    def test_an_old_nvtx_package_without_payload_still_gets_the_range(self):
        fake = FakeNvtx(takes_payload=False)
        stage = self.helper(nvtx=fake)
        with stage.decode_step(5):
            pass
        self.assertEqual(fake.calls, [("push", "LLM", "decode_step", None), ("pop", "LLM")])

    def test_start_and_end(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        stage.end(stage.start("request"))
        self.assertEqual(fake.calls, [("start", "LLM", "request"), ("end", 17)])

    def test_torch_gets_the_literal_name(self):
        calls = []
        stage = self.helper(**fake_torch(calls))
        with stage.decode_all(), stage.decode_step(0):
            stage.mark("m")
        self.assertEqual(stage.backend(), "torch")
        self.assertEqual(calls, [("push", "LLM@decode_all"), ("push", "LLM@decode_step"), ("mark", "LLM@m"), ("pop",), ("pop",)])

    def test_a_torch_without_cuda_is_passed_over(self):
        modules = fake_torch([])
        del modules["torch._C"]._nvtx
        self.assertEqual(self.helper(**modules).backend(), "none")

    def test_a_folder_named_nvtx_is_no_package(self):
        self.assertEqual(self.helper(nvtx=types.ModuleType("nvtx")).backend(), "none")

    def test_without_anything_ranges_cost_nothing_and_work(self):
        stage = self.helper()

        @stage.op("double")
        def double(x):
            return 2 * x

        with stage.prefill(), stage.stage("sampling"):
            self.assertEqual(double(21), 42)
        stage.end(stage.start("x"))
        self.assertEqual(stage.backend(), "none")

    def test_a_missing_injection_library_is_passed_over(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["NVTX_INJECTION64_PATH"] = os.path.join(folder, "absent.so")
            try:
                self.assertEqual(self.helper().backend(), "none")
            finally:
                del os.environ["NVTX_INJECTION64_PATH"]

    def test_ranges_close_when_the_body_raises(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        with self.assertRaises(ValueError):
            with stage.prefill():
                raise ValueError
        self.assertEqual(fake.calls[-1], ("pop", "LLM"))

    def test_decorators_may_recurse(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)

        @stage.op("factorial")
        def factorial(n):
            return 1 if n <= 1 else n * factorial(n - 1)

        self.assertEqual(factorial(3), 6)
        self.assertEqual([call[0] for call in fake.calls], ["push"] * 3 + ["pop"] * 3)

    def test_tokens_are_a_mark(self):
        fake = FakeNvtx()
        self.helper(nvtx=fake).tokens(prompt=256, batch=2)
        self.assertEqual(fake.calls, [("mark", "LLM", "tokens prompt=256 batch=2")])

    def test_tokens_through_torch(self):
        calls = []
        self.helper(**fake_torch(calls)).tokens(7)
        self.assertEqual(calls, [("mark", "LLM@tokens prompt=7 batch=1")])


class FakeModule:
    """What watch_modules() needs of torch.nn.Module: named_modules, hooks, and calling them around forward."""

    always_call = True  # torch 2.1 and later

    def __init__(self, children=(), fail=False):
        self.children, self.fail = dict(children), fail
        self.before, self.after = {}, {}

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in self.children.items():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    class Handle:
        def __init__(self, hooks):
            self.hooks = hooks

        def remove(self):
            self.hooks.pop(id(self), None)

    def register_forward_pre_hook(self, hook):
        handle = self.Handle(self.before)
        self.before[id(handle)] = hook
        return handle

    def register_forward_hook(self, hook, **more):
        if more and not self.always_call:
            raise TypeError("register_forward_hook() got an unexpected keyword argument 'always_call'")
        handle = self.Handle(self.after)
        self.after[id(handle)] = hook
        return handle

    def __call__(self, x):
        for hook in list(self.before.values()):
            hook(self, (x,))
        try:
            result = self.forward(x)
        except Exception:
            if self.always_call:
                for hook in list(self.after.values()):
                    hook(self, (x,), None)
            raise
        for hook in list(self.after.values()):
            hook(self, (x,), result)
        return result

    def forward(self, x):
        for child in self.children.values():
            x = child(x)
        if self.fail:
            raise ValueError("out of memory")
        return x + 1


class Layer(FakeModule):
    pass


class WatchTest(HelperCase):
    def balance(self, calls):
        depth = 0
        for call in calls:
            depth += {"push": 1, "pop": -1}[call[0]]
            self.assertGreaterEqual(depth, 0)
        return depth

    def model(self, fail=False):
        mlp = FakeModule({"up": FakeModule(fail=fail)})
        return FakeModule({"layers": FakeModule({"0": Layer({"mlp": mlp}), "1": Layer()})}), mlp

    def test_modules_are_ranges_named_by_path_and_class(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        model, _ = self.model()
        watch = stage.watch_modules(model, depth=2)
        self.assertEqual(model(0), 6)
        self.assertEqual([c[2] for c in fake.calls if c[0] == "push"],
                         ["(model)|FakeModule", "layers|FakeModule", "layers.0|Layer", "layers.1|Layer"])
        self.assertEqual({c[1] for c in fake.calls}, {"LLM.layers"})
        self.assertEqual(self.balance(fake.calls), 0)
        self.assertEqual(len(watch), 4)

    def test_depth_none_watches_all_and_remove_takes_the_hooks_off(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        model, mlp = self.model()
        with stage.watch_modules(model, depth=None):
            model(0)
        self.assertIn(("push", "LLM.layers", "layers.0.mlp.up|FakeModule", None), fake.calls)
        count = len(fake.calls)
        model(0)
        self.assertEqual(len(fake.calls), count)
        self.assertEqual((model.before, model.after, mlp.before, mlp.after), ({}, {}, {}, {}))

    def test_a_forward_that_raises_leaves_no_range_open(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        model, _ = self.model(fail=True)
        stage.watch_modules(model, depth=None)
        with self.assertRaises(ValueError):
            model(0)
        self.assertEqual(self.balance(fake.calls), 0)

    def test_before_torch_2_1_a_range_left_open_ends_with_the_layer_around_it(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        model, mlp = self.model()
        caught = mlp.children["up"]
        caught.fail = True
        mlp.forward = lambda x: self.swallow(caught, x)
        FakeModule.always_call = False
        try:
            stage.watch_modules(model, depth=None)
            model(0)
            self.assertEqual(self.balance(fake.calls), 0)
            model.fail = True
            for _ in range(3):  # nothing around the model could end it, so its next forward does
                self.assertRaises(ValueError, model, 0)
            self.assertEqual(self.balance(fake.calls), 1)
        finally:
            FakeModule.always_call = True

    @staticmethod
    def swallow(module, x):
        try:
            return module(x)
        except ValueError:
            return x

    def test_a_module_that_is_used_twice_has_one_name_and_recursion_nests(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        shared = Layer()
        model = FakeModule({"a": shared, "b": shared})
        stage.watch_modules(model)
        model(0)
        self.assertEqual([c[2] for c in fake.calls if c[0] == "push"], ["(model)|FakeModule", "a|Layer", "a|Layer"])
        self.assertEqual(self.balance(fake.calls), 0)

    def test_hooks_come_off_when_watching_fails_halfway(self):
        stage = self.helper(nvtx=FakeNvtx())
        model, mlp = self.model()
        mlp.register_forward_pre_hook = None
        with self.assertRaises(TypeError):
            stage.watch_modules(model, depth=None)
        self.assertEqual((model.before, model.after), ({}, {}))


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"nl-tests: {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)

"""The Python helper with every backend it can meet, none of which needs to be installed."""

import ctypes
import importlib
import os
import pathlib
import struct
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
        mark=lambda text: calls.append(("mark", text)),
        range_start=lambda text: calls.append(("start", text)) or 23, range_end=lambda handle: calls.append(("end", handle)))
    torch.cuda = types.SimpleNamespace(nvtx=nvtx)
    torch._C = core
    return {"torch": torch, "torch._C": core}


class FakeTool:
    """What a profiler's injection library does with the tables of NVTX's header, nvtxDetail/nvtxTypes.h."""

    restype = None
    CORE2 = 5
    IDS = {"mark": 1, "start": 2, "end": 3, "push": 4, "pop": 5, "create": 12}

    def __init__(self, accepts=1, without=()):
        self.calls, self.domains, self.accepts, self.without = [], [], accepts, without

    def __call__(self, export_table):
        callbacks = export_table(1)
        size, address = struct.unpack("NP", ctypes.string_at(callbacks, 16))
        assert size == 16 and export_table(2) is None
        size, version = struct.unpack_from("NI", ctypes.string_at(export_table(3), 24))
        assert (size, version) == (24, 3)
        module_table = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(address)
        self.sizes = {module: self.slots(module_table, module)[1] for module in range(1, 7)}
        assert module_table(7, None, None) == 0
        self.fill(*self.slots(module_table, self.CORE2))
        return self.accepts

    @staticmethod
    def slots(module_table, module):
        table, size = ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))(), ctypes.c_uint()
        assert module_table(module, ctypes.addressof(table), ctypes.addressof(size)) == 1
        return table, size.value

    def fill(self, table, size):
        pointer, number, text = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p
        types_of = {"mark": (None, pointer, pointer), "start": (number, pointer, pointer), "end": (None, pointer, number),
                    "push": (ctypes.c_int, pointer, pointer), "pop": (ctypes.c_int, pointer), "create": (pointer, text)}
        self.kept = {name: ctypes.CFUNCTYPE(*types_of[name])(getattr(self, name)) for name in self.IDS if name not in self.without}
        for name, function in self.kept.items():
            table[self.IDS[name]][0] = ctypes.cast(function, pointer).value

    def event(self, address):
        version, size, _, _, _, kind, _, payload, message_kind, message = struct.unpack("=HHIiIiiqi4xQ", ctypes.string_at(address, 48))
        assert (version, size, message_kind) == (3, 48, 1)  # ASCII
        return ctypes.string_at(message).decode(), payload if kind == 2 else None  # signed, 64 bits

    def create(self, name):
        self.domains.append(name.decode())
        return len(self.domains)

    def mark(self, domain, event):
        self.calls.append(("mark", self.domains[domain - 1], *self.event(event)))

    def start(self, domain, event):
        self.calls.append(("start", self.domains[domain - 1], *self.event(event)))
        return 1 << 40

    def end(self, domain, handle):
        self.calls.append(("end", self.domains[domain - 1], handle))

    def push(self, domain, event):
        self.calls.append(("push", self.domains[domain - 1], *self.event(event)))
        return 0

    def pop(self, domain):
        self.calls.append(("pop", self.domains[domain - 1]))
        return 0


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
        fake.takes_payload = True  # it is asked once
        with stage.decode_step(6):
            pass
        self.assertEqual(fake.calls[2], ("push", "LLM", "decode_step", None))

    def test_functions_for_a_range_that_is_opened_often(self):
        for takes_payload, steps in ((True, [7, 8]), (False, [None, None])):
            sys.modules.pop("nl_stage_nvtx", None)
            fake = FakeNvtx(takes_payload)
            backend = self.helper(nvtx=fake)._backend()
            step, sampling, close = backend.counter("LLM", "decode_step"), backend.opener("LLM", "sampling"), backend.closer("LLM")
            step(7), sampling(), close(), close(), step(8)
            self.assertEqual(fake.calls, [("push", "LLM", "decode_step", steps[0]), ("push", "LLM", "sampling", None), ("pop", "LLM"), ("pop", "LLM"),
                                          ("push", "LLM", "decode_step", steps[1])])

    def test_torch_s_own_functions_are_called_where_it_has_them(self):
        calls, modules = [], fake_torch([])
        modules["torch._C"]._nvtx = types.SimpleNamespace(rangePushA=lambda text: calls.append(text), rangePop=lambda: calls.append("pop"))
        stage = self.helper(**modules)
        with stage.prefill():
            backend = stage._backend()
            backend.counter("LLM", "decode_step")(3), backend.opener("LLM", "sampling")(), backend.closer("LLM")()
        self.assertEqual(calls, ["LLM@prefill", "LLM@decode_step", "LLM@sampling", "pop", "pop"])

    def test_every_name_that_workloads_use_is_exported(self):
        self.helper(nvtx=FakeNvtx())
        names = {}
        exec("from nl_stage_nvtx import *", names)
        self.assertLessEqual({"prefill", "decode_all", "decode_step", "stage", "op", "layer", "mark", "tokens", "start", "end", "watch_modules", "backend"},
                             set(names))

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

    def injected(self, tool):
        library, load = types.SimpleNamespace(InitializeInjectionNvtx2=tool), ctypes.CDLL
        os.environ["NVTX_INJECTION64_PATH"] = "tool.so"
        ctypes.CDLL = {"tool.so": library}.__getitem__
        try:
            stage = self.helper()
            stage.backend()
            return stage
        finally:
            ctypes.CDLL = load
            del os.environ["NVTX_INJECTION64_PATH"]

    def test_an_injection_library_gets_every_call_with_its_domain(self):
        tool = FakeTool()
        stage = self.injected(tool)
        self.assertEqual(stage.backend(), "injection")
        self.assertEqual(tool.sizes, {1: 16, 2: 9, 3: 15, 4: 7, 5: 16, 6: 7})
        with stage.decode_step(-7), stage.op("µ\ud800"):
            stage.mark("here")
        stage.end(stage.start("request"))
        self.assertEqual(tool.calls, [
            ("push", "LLM", "decode_step", -7), ("push", "LLM.ops", "µ?", None), ("mark", "LLM", "here", None), ("pop", "LLM.ops"), ("pop", "LLM"),
            ("start", "LLM", "request", None), ("end", "LLM", 1 << 40)])
        self.assertEqual(tool.domains, ["LLM", "LLM.ops"])

    def test_an_injection_library_that_declines_or_lacks_a_function_does_no_harm(self):
        self.assertEqual(self.injected(FakeTool(accepts=0)).backend(), "none")
        sys.modules.pop("nl_stage_nvtx")
        tool = FakeTool(without=("mark", "push"))
        stage = self.injected(tool)
        with stage.prefill():
            stage.mark("here")
        self.assertEqual(tool.calls, [("pop", "LLM")])

    def test_torch_starts_and_ends_ranges_by_their_handle(self):
        calls = []
        stage = self.helper(**fake_torch(calls))
        stage.end(stage.start("request"))
        self.assertEqual(calls, [("start", "LLM@request"), ("end", 23)])

    def test_a_layer_by_hand_has_its_kind_where_it_is_given(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        with stage.layer("model.head", "Linear"), stage.layer("tail"):
            pass
        self.assertEqual([c[1:3] for c in fake.calls if c[0] == "push"], [("LLM.layers", "model.head|Linear"), ("LLM.layers", "tail")])

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
        self.before, self.after, self.always = {}, {}, set()

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
        if more.get("always_call"):
            self.always.add(hook)
        return handle

    def __call__(self, x):
        for hook in list(self.before.values()):
            hook(self, (x,))
        try:
            result = self.forward(x)
        except Exception:
            for hook in list(self.after.values()):
                if hook in self.always:
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
        with stage.watch_modules(model, depth=None) as watch:
            model(0)
            self.assertEqual(len(watch), 6)
        self.assertIn(("push", "LLM.layers", "layers.0.mlp.up|FakeModule", None), fake.calls)
        count = len(fake.calls)
        model(0)
        self.assertEqual(len(fake.calls), count)
        self.assertEqual((model.before, model.after, mlp.before, mlp.after), ({}, {}, {}, {}))
        with self.assertRaises(KeyError), stage.watch_modules(model):
            raise KeyError("of the workload")

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

    def test_modules_of_at_most_four_parts_are_watched_unless_told_otherwise(self):
        fake = FakeNvtx()
        stage = self.helper(nvtx=fake)
        model = FakeModule({"a": FakeModule({"b": FakeModule({"c": FakeModule({"d": FakeModule({"e": FakeModule()})})})})})
        self.assertEqual(len(stage.watch_modules(model, name="net")), 5)
        model(0)
        self.assertEqual([c[2] for c in fake.calls if c[0] == "push"][0::4], ["net|FakeModule", "a.b.c.d|FakeModule"])

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

"""Starts Pythons with the marks and with stand-ins for torch, transformers and nvtx, and reads what they left."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from auto_fakes import NVTX, write_fakes

ROOT = pathlib.Path(__file__).resolve().parents[3]
AUTO = ROOT / "nvtx" / "python" / "auto"
NAMES = {"request": "R", "prefill": "P", "decode_all": "D", "decode_step": "s", "sampling": "x", "vision": "v", "model_call": "m",
         "forward": "f", "backward": "b", "optimizer": "o", "load_data": "l", "denoise_step": "n", "guidance": "g", "image": "i", "scheduler": "c"}
# request(prefill(sampling) decode_all(step(sampling) step(sampling) step(sampling)))
FOUR_TOKENS = "R(P(x())D(s0(x())s1(x())s2(x())))"
REAL = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
MODEL = "import torch, transformers\nmodel = transformers.TinyForCausalLM()\nprompt = torch.Tensor(2, 16)\n"


def as_text(calls):
    """The ranges of one thread, as a bracket expression."""
    text = ""
    for call in calls:
        if call[0] == "push":
            text += NAMES.get(call[2], call[2]) + ("" if call[3] == "None" else call[3]) + "("
        elif call[0] == "pop":
            text += ")"
    return text


# Runs each script in a child of its own, in which what was imported before is there already.
FORKED = """
import os, runpy, sys
for name in SCRIPTS:
    sys.stdout.flush(); sys.stderr.flush()
    child = os.fork()
    if child == 0:
        for number in (1, 2):
            os.dup2(os.open(f"{name}.{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        runpy.run_path(f"{name}.py", run_name="__main__")  # from a file: TorchScript reads the source
        sys.exit(0)
    print(name, child, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class Result:
    def __init__(self, done, log, facts, pid=None):
        """pid: only what this process left."""
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        lines = log.read_text().splitlines() if log.exists() else []
        self.threads = {}
        for process, thread, *call in (line.split("\t") for line in lines):
            if pid in (None, int(process)):
                self.threads.setdefault((int(process), thread), []).append(call)
        self.calls = [call for calls in self.threads.values() for call in calls]
        found = {int(path.stem[len("facts-"):]): path for path in facts.glob("facts-*.json")}
        self.facts = {process: json.loads(path.read_text()) for process, path in found.items() if pid in (None, process)}

    @property
    def text(self):
        return as_text(self.calls)

    @property
    def marks(self):
        return [call[2] for call in self.calls if call[0] == "mark"]

    @property
    def fact(self):
        (fact,) = self.facts.values()
        return fact


class AutoCase(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name).resolve()
        self.fakes = self.folder / "fakes"
        self.logs = 0
        write_fakes(self.fakes)

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def start(self, command, path=(), mark="1", log=True, **more):
        """Runs a command with PYTHONPATH: our folder, then path, then the stand-ins."""
        done, logged, facts = self.run_marked(command, path, mark, log, more)
        return Result(done, logged, facts)

    def run_marked(self, command, path, mark, log, more):
        self.logs += 1
        logged, facts = self.folder / f"nvtx{self.logs}.log", self.folder / f"facts{self.logs}"
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NVTX", "NL_STAGE"))}
        env.update({"PYTHONPATH": os.pathsep.join(map(str, [AUTO, *path, self.fakes])), "NL_STAGE_FACTS_DIR": str(facts),
                    "PYTHONDONTWRITEBYTECODE": "1", **more})
        if mark is not None:
            env["NL_STAGE_MARK"] = mark
        if log:
            env["FAKE_NVTX_LOG"] = str(logged)
        # Not below the repository, whose folder nvtx would import as an empty package.
        return subprocess.run(command, env=env, cwd=self.folder, capture_output=True, text=True, timeout=240), logged, facts

    def forked(self, before, scripts, mark="1"):
        """The result of each script, by its name. before: what all of them need, as imports that take long."""
        for name, text in scripts.items():
            self.file(f"{name}.py", text)
        script = self.file("forked.py", textwrap.dedent(before) + f"SCRIPTS = {list(scripts)}\n" + FORKED)
        done, logged, facts = self.run_marked([sys.executable, str(script)], (), mark, True, {})
        self.assertEqual(done.returncode, 0, done.stderr)
        results = {}
        for name, pid, code in (line.split() for line in done.stdout.splitlines()):
            out, err = ((self.folder / f"{name}.{number}").read_text() for number in (1, 2))
            results[name] = Result(subprocess.CompletedProcess(name, int(code), out, err), logged, facts, int(pid))
        self.assertEqual(list(results), list(scripts))
        return results

    def python(self, text, *flags, **more):
        script = self.file("script.py", text)
        return self.start([sys.executable, *flags, str(script)], **more)

    def good(self, text, **more):
        result = self.python(text, **more)
        self.assertEqual((result.code, result.err), (0, ""), result.err)
        return result

    def generate(self, text, **more):
        return self.good(MODEL + textwrap.dedent(text), **more)


class RealCase(AutoCase):
    """With the torch and transformers that are installed, and a stand-in for nvtx."""

    MODEL = """
        import torch, transformers
        shape = dict(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
        def make(): return transformers.LlamaForCausalLM(transformers.LlamaConfig(**shape)).eval()
        model, prompt = make(), torch.ones((2, 16), dtype=torch.long)
        def generate(model, prompt, tokens=4, **more):
            return model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False,
                                  pad_token_id=0, **more)
        """

    def setUp(self):
        super().setUp()
        self.fakes = self.folder / "nvtx_only"
        self.fakes.mkdir()
        (self.fakes / "nvtx.py").write_text(NVTX)

    def real(self, text, **more):
        result = self.python(textwrap.dedent(self.MODEL) + textwrap.dedent(text), **more)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual({str(fact["errors"]) for fact in result.facts.values()}, {"{}"})
        return result


class RealScripts(RealCase):
    """The scripts of a class of tests, run before the first of them: the import of torch takes longer than all scripts together."""

    SCRIPTS = {}
    BARE = ()  # names of those that run without marks, too

    @classmethod
    def setUpClass(cls):
        case = cls("run_scripts")
        case.setUp()
        try:
            case.run_scripts()
        finally:
            case.doCleanups()

    def run_scripts(self):
        cls, start = type(self), textwrap.dedent(self.MODEL)
        texts = {name: start + textwrap.dedent(text) for name, text in self.SCRIPTS.items()}
        imports = "import torch, transformers, torch._dynamo.utils\nfrom transformers import BertModel, LlamaForCausalLM\n"
        cls.marked = self.forked(imports, texts)
        cls.bare = self.forked(imports, {name: texts[name] for name in self.BARE}, mark="0") if self.BARE else {}

    def real(self, name):
        result = self.marked[name]
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual({str(fact["errors"]) for fact in result.facts.values()}, {"{}"})
        return result


def run_tests():
    result = unittest.main(exit=False, verbosity=0).result
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"nl-tests: {result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)

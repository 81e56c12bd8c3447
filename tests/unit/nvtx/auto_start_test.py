"""How the marks come into a Python, and into those that it starts."""

import importlib.util
import os
import subprocess
import sys
import unittest
import zipapp

from auto_case import AUTO, FOUR_TOKENS, MODEL, AutoCase, as_text, run_tests
from auto_torch_fakes import write_torch_fakes


class StartTest(AutoCase):
    WRITES = "import sys\nprint('own', __name__, sys.modules['sitecustomize'].__dict__ is globals())\nmine = 7\n"

    def marked(self, result, out=""):
        self.assertEqual((result.code, result.err, result.out), (0, "", out))
        self.assertEqual(result.text, FOUR_TOKENS)

    def test_it_imports_neither_torch_nor_transformers(self):
        result = self.good("import sys\nprint([m for m in ('torch', 'transformers', 'nvtx', 'json', 'inspect') if m in sys.modules])")
        self.assertNotIn("torch", result.out)
        self.assertNotIn("transformers", result.out)
        self.assertNotIn("nvtx", result.out)
        self.assertEqual(result.fact["versions"], {"python": sys.version.split()[0]})

    def test_without_the_switch_nothing_happens(self):
        for mark in (None, "0", ""):
            result = self.python(MODEL + "import sys\nmodel.generate(prompt)\nprint('nl_stage_auto' in sys.modules)", mark=mark)
            self.assertEqual((result.code, result.out, result.calls, result.facts), (0, "False\n", [], {}))

    def test_isolated_pythons_and_those_without_site_see_nothing(self):
        for flags in (["-I"], ["-S"], ["-E"], ["-I", "-S"]):
            with self.subTest(flags):
                result = self.start([sys.executable, *flags, "-c", "import sys; print('nl_stage_auto' in sys.modules)"])
                self.assertEqual((result.code, result.out, result.err, result.calls), (0, "False\n", "", []))

    @unittest.skipIf(importlib.util.find_spec("torch"), "this Python has torch")
    def test_no_torch(self):
        (self.fakes / "torch" / "__init__.py").unlink()
        (self.fakes / "torch").rmdir()
        result = self.python("import transformers\ntransformers.TinyForCausalLM")
        self.assertEqual(result.code, 1)
        self.assertTrue(result.err.endswith("ModuleNotFoundError: No module named 'torch'\n"), result.err)
        self.assertEqual(result.fact["errors"], {})

    def test_a_torch_that_is_not_what_we_know(self):
        for text in ("", "nn = 7", "import types\nnn = types.SimpleNamespace(Module=7)\ncuda = None"):
            with self.subTest(text):
                self.file("fakes/torch/__init__.py", text)
                result = self.good("import torch\nprint('fine')")
                self.assertEqual(result.out, "fine\n")
                self.assertLessEqual(len([place for place in result.fact["errors"] if place.startswith("patch")]), 1)

    def test_a_torch_that_raises_is_patched_when_it_is_imported_again(self):
        write_torch_fakes(self.fakes)
        torch = self.fakes / "torch" / "__init__.py"
        torch.write_text("import os\nif not os.environ.get('READY'): raise OSError('no driver')\n" + torch.read_text())
        result = self.good("""
            import os, sys
            try: import torch
            except OSError as error: print(error)
            os.environ["READY"] = "1"
            import torch
            class Model(torch.Module):
                def forward(self, ids): pass
            Model().eval()(torch.Tensor(1, 8))
            """)
        self.assertEqual((result.out, result.text), ("no driver\n", "m()"))

    def test_a_transformers_that_is_not_what_we_know(self):
        for text in ("", "GenerationMixin = 7", "class GenerationMixin: generate = len", "class GenerationMixin: pass"):
            with self.subTest(text):
                self.file("fakes/transformers/generation/utils.py", text)
                result = self.good("import transformers.generation.utils\nprint('fine')")
                self.assertEqual(result.out, "fine\n")

    def test_a_module_that_raises_is_patched_when_it_is_imported_again(self):
        utils = self.fakes / "transformers" / "generation" / "utils.py"
        utils.write_text("import os\nif not os.environ.get('READY'): raise RuntimeError('not yet')\n" + utils.read_text())
        result = self.good("import os\ntry: import transformers.generation.utils\nexcept RuntimeError as error: print(error)\n"
                           "os.environ['READY'] = '1'\n" + MODEL + "model.generate(prompt)")
        self.marked(result, "not yet\n")

    def test_a_module_that_was_imported_before(self):
        result = self.good(f"""
            import os, sys
            import transformers.generation.utils
            sys.path.insert(0, {str(AUTO)!r})
            os.environ["NL_STAGE_MARK"] = "1"
            import nl_stage_auto
            import torch
            transformers.TinyForCausalLM().generate(torch.Tensor(1, 2))
            """, mark=None)
        self.marked(result)

    def test_the_users_own_pythonpath_and_sitecustomize(self):
        self.file("own/sitecustomize.py", self.WRITES)
        self.file("own/minemodule.py", "")
        result = self.generate("import minemodule, sitecustomize\nmodel.generate(prompt)\nprint(sitecustomize.mine)", path=[self.folder / "own"])
        self.marked(result, "own sitecustomize True\n7\n")

    def test_a_workload_that_sets_pythonpath_for_its_children_and_keeps_ours(self):
        result = self.good(f"""
            import os, subprocess, sys
            os.environ["PYTHONPATH"] = {str(self.folder)!r} + os.pathsep + os.environ["PYTHONPATH"]
            subprocess.check_call([sys.executable, "-c", {MODEL + "model.generate(prompt)"!r}])
            """)
        self.marked(result)

    def test_children_whose_pythonpath_was_replaced_run_unmarked(self):
        result = self.good(f"""
            import os, subprocess, sys
            os.environ["PYTHONPATH"] = {str(self.fakes)!r}
            subprocess.check_call([sys.executable, "-c", {MODEL + "print(model.generate(prompt).shape)"!r}])
            """)
        self.assertEqual((result.out, result.calls), ("(2, 20)\n", []))

    def test_a_sitecustomize_that_raises_tells_its_error_as_without_us(self):
        self.file("own/sitecustomize.py", "raise ValueError('mine')")
        with_us = self.python(MODEL + "model.generate(prompt)", path=[self.folder / "own"])
        env = {**os.environ, "PYTHONPATH": str(self.folder / "own")}
        without = subprocess.run([sys.executable, "-c", ""], env=env, cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((with_us.code, with_us.err), (0, without.stderr))
        self.assertIn("ValueError: mine", with_us.err)
        self.assertEqual(with_us.text, FOUR_TOKENS)

    def test_a_venv_with_a_sitecustomize_of_its_own(self):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.folder / "venv")], check=True, timeout=120)
        (packages,) = (self.folder / "venv" / "lib").glob("python*/site-packages")
        (packages / "sitecustomize.py").write_text(self.WRITES)
        script, python = self.file("script.py", MODEL + "model.generate(prompt)"), str(self.folder / "venv" / "bin" / "python")
        # Debian's Python has one of its own that comes before those of venvs.
        without = subprocess.run([python, str(script)], env={"PYTHONPATH": str(self.fakes)}, capture_output=True, text=True, timeout=60)
        self.assertIn(without.stdout, ("own sitecustomize True\n", ""))
        self.marked(self.start([python, str(script)]), without.stdout)

    def test_a_zipapp(self):
        self.file("app/__main__.py", MODEL + "model.generate(prompt)")
        zipapp.create_archive(self.folder / "app", self.folder / "app.pyz")
        self.marked(self.start([sys.executable, str(self.folder / "app.pyz")]))

    def test_started_by_a_shell_and_by_a_module(self):
        self.file("worker.py", MODEL + "model.generate(prompt)")
        self.marked(self.start(["bash", "-c", f"cd {self.folder} && exec {sys.executable} -m worker"]))

    def test_broken_marks_do_not_stop_the_workload(self):
        copy = self.folder / "copy"
        copy.mkdir()
        (copy / "sitecustomize.py").write_text((AUTO / "sitecustomize.py").read_text())
        (copy / "nl_stage_auto.py").write_text("raise RuntimeError('broken')")
        env = {**os.environ, "PYTHONPATH": str(copy), "NL_STAGE_MARK": "1"}
        done = subprocess.run([sys.executable, "-c", "print(1)"], env=env, cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))


class ChildrenTest(AutoCase):
    def test_fork_without_exec(self):
        result = self.generate("""
            import os, sys
            model.generate(prompt)
            child = os.fork()
            if child == 0:
                model.generate(prompt, max_new_tokens=1)
                sys.exit(0)
            os.waitpid(child, 0)
            print(child)
            """)
        child = int(result.out)
        self.assertEqual(len(result.facts), 2)
        self.assertEqual([fact["requests"]["new_tokens"] for pid, fact in sorted(result.facts.items(), key=lambda item: item[0] == child)], [8, 2])
        self.assertEqual(as_text([call for (pid, _), calls in result.threads.items() if pid == child for call in calls]), "R(P(x()))")

    def test_fork_inside_a_request_leaves_the_parents_ranges_alone(self):
        result = self.generate("""
            import os
            class Forks:
                def put(self, ids):
                    if ids.shape[1] == 17:
                        child = os.fork()
                        if child == 0: raise SystemExit(0)
                        os.waitpid(child, 0)
            model.generate(prompt, streamer=Forks())
            """)
        self.assertEqual([as_text(calls) for calls in result.threads.values()], [FOUR_TOKENS])

    def test_workers_that_a_launcher_starts_as_torchrun_does(self):
        worker = self.file("worker.py", "import os\n" + MODEL + "model.generate(prompt, max_new_tokens=int(os.environ['RANK']) + 1)")
        launcher = self.file("launcher.py", f"""
            import os, subprocess, sys
            workers = [subprocess.Popen([sys.executable, "-u", {str(worker)!r}], env={{**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}})
                       for rank in range(2)]
            sys.exit(max(worker.wait() for worker in workers))
            """)
        result = self.start([sys.executable, "-m", "launcher"])
        self.assertEqual((result.code, result.err, launcher.name), (0, "", "launcher.py"))
        self.assertEqual(sorted(as_text(calls) for calls in result.threads.values()), ["R(P(x()))", "R(P(x())D(s0(x())))"])
        self.assertEqual(sorted(fact["requests"]["count"] for fact in result.facts.values()), [0, 1, 1])

    def test_multiprocessing_by_fork_and_spawn(self):
        for method in ("fork", "spawn"):
            with self.subTest(method):
                result = self.good(f"""
                    import multiprocessing, torch, transformers
                    def work(tokens):
                        for _ in range(3):
                            transformers.TinyForCausalLM().generate(torch.Tensor(1, 8), max_new_tokens=tokens)
                    if __name__ == "__main__":
                        context = multiprocessing.get_context({method!r})
                        children = [context.Process(target=work, args=(n,)) for n in (1, 2)]
                        for child in children: child.start()
                        for child in children: child.join()
                    """)
                self.assertEqual(sorted(as_text(calls) for calls in result.threads.values()), ["R(P(x()))" * 3, "R(P(x())D(s0(x())))" * 3])
                generated = sorted(fact["requests"]["new_tokens"] for fact in result.facts.values())
                self.assertEqual([count for count in generated if count], [3, 6])


if __name__ == "__main__":
    run_tests()

"""bench/stats as a module: how it measures a command and makes an export."""
import importlib.machinery
import importlib.util
import os

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stats")


def bench_stats():
    loader = importlib.machinery.SourceFileLoader("stats", FILE)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("stats", loader))
    loader.exec_module(module)
    return module

"""Marks the stages of a Python workload that marks none, and notes facts about the process. docs/marks.md describes it.

Importing it does nothing unless NL_STAGE_MARK is 1. It imports neither torch nor transformers: it waits until the workload does.

    process.py     what one process has: ranges, patches, facts, and the count of our own errors
    imports.py     patches a module right after the workload imported it
    patches.py     wraps methods, and unwraps them
    ranges.py      NVTX ranges through nl_stage_nvtx.py, silent where the workload marks itself
    request.py     the ranges of one generate(): request, prefill, decode_all, decode_step, sampling, vision
    generation.py  Hugging Face transformers: generate() and what it calls at each step
    vision.py      vision towers, inside generate() and before it
    prompts.py     batch and tokens from the arguments and results of generate()
    created.py     transformers models whose generate() is not called
    roots.py       models that a loop of the workload's own calls: which classes are wrapped
    calls.py       a call of such a model
    kinds.py       whether a model generates tokens, and whether a call is a step of a diffusion
    loops.py       which calls are a prefill or a step, and when the last one ends
    training.py    forward, backward, the optimizer and the wait for data
    diffusion.py   pipelines and schedulers of diffusers
    jax_calls.py   functions that jax.jit compiled
    graphs.py      CUDA graphs that are captured around a call; in the operator pass, what is marked meanwhile
    engines.py     vLLM and SGLang: ranges around their steps

With mark.engine, where NL_STAGE_ENGINE is set:

    engine_hooks.py     hooks that look at an engine's methods, and leave it alone where they do not fit
    request_marks.py    marks of requests, and of those in a step
    vllm_requests.py, sglang_requests.py, trtllm_requests.py    where each engine's requests pass by

Of all processes:

    compiling.py   whether torch.compile traces the code that asks
    facts.py       facts-<pid>.json
    whole_file.py  files that are complete or absent
    model_facts.py what a model says about itself
    step_counts.py prefills and steps by batch and tokens
    sampler.py     the thread that samples Python stacks, where NL_STAGE_HOST_SAMPLES_HZ asks for it
    stack_walk.py  which threads are sampled, and their stacks
    stack_file.py  stacks-<pid>.txt
    garbage.py     garbage collections

The operator pass, where NL_STAGE_OPERATORS_DIR is set:

    operators.py   what a process has for it
    windows.py     in which prefills and steps
    profiler.py    PyTorch's ranges of operators, and its record of types
    layers.py      ranges of modules
    lines.py       ranges of lines, while a CUDA graph is captured
    dtypes.py      dtypes-<pid>.json
"""

import os

if os.environ.get("NL_STAGE_MARK") == "1":
    from .process import Process

    process = Process(os.environ.get("NL_STAGE_FACTS_DIR"), os.environ.get("NL_STAGE_OPERATORS_DIR"))
    process.start()

#!/usr/bin/env python3
"""A Hugging Face language model with random weights: prefill, then greedy decode, with NVTX ranges.

    python3 workloads/pytorch/hf_llm.py --arch llama --layers 4 --hidden 1024 --prompt 256 --steps 16

Needs torch and transformers (4 or 5), downloads nothing, and runs on the CPU where there is no GPU.
"""

import argparse
import pathlib
import sys
import time

import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
# The repository's layout, then the installed one (share/nl-stage/python beside share/nl-stage/workloads).
for folder in (HERE.parents[1] / "nvtx" / "python", HERE.parent / "python"):
    if folder.is_dir():
        sys.path.append(str(folder))
import nl_stage_nvtx as stage  # noqa: E402


def make_config(arguments):
    heads = max(arguments.hidden // 64, 1)
    common = dict(
        hidden_size=arguments.hidden,
        intermediate_size=arguments.hidden * 11 // 4,
        num_hidden_layers=arguments.layers,
        num_attention_heads=heads,
        num_key_value_heads=max(heads // 4, 1),
        vocab_size=arguments.vocab,
        max_position_embeddings=max(2048, arguments.prompt + arguments.steps + 1),
    )
    if arguments.arch == "llama":
        return transformers.LlamaConfig(**common)
    if arguments.arch == "qwen2":
        return transformers.Qwen2Config(**common)
    return transformers.MixtralConfig(**common, num_local_experts=arguments.experts, num_experts_per_tok=2)


def make_model(arguments, device):
    torch.manual_seed(arguments.seed)
    # from_config builds random weights and never looks at the network.
    model = transformers.AutoModelForCausalLM.from_config(make_config(arguments))
    return model.to(getattr(torch, arguments.dtype)).to(device).eval()


class Eager:
    """Prefill and decode with the model's own growing cache."""

    def __init__(self, model):
        self.model, self.step_model = model, model

    def prepare(self, ids):
        pass

    def prefill(self, ids):
        out = self.model(ids, use_cache=True)
        self.past = out.past_key_values
        return out.logits[:, -1:].argmax(-1)

    def decode(self, token):
        out = self.step_model(token, past_key_values=self.past, use_cache=True)
        self.past = out.past_key_values
        return out.logits[:, -1:].argmax(-1)


class Graphed:
    """Decode steps replayed as one CUDA graph: a static cache, and inputs that stay where they are."""

    def __init__(self, model, capacity):
        self.model = model
        self.cache = transformers.StaticCache(config=model.config, max_cache_len=capacity)
        device = next(model.parameters()).device
        self.token = torch.zeros((1, 1), dtype=torch.long, device=device)
        self.position = torch.zeros((1,), dtype=torch.long, device=device)
        self.next = torch.zeros((1, 1), dtype=torch.long, device=device)
        self.graph = torch.cuda.CUDAGraph()

    def _forward(self, ids, position):
        out = self.model(ids, past_key_values=self.cache, use_cache=True, cache_position=position,
                         position_ids=position.unsqueeze(0))
        return out.logits[:, -1:].argmax(-1)

    def prefill(self, ids):
        self.cache.reset()
        self.position.fill_(ids.shape[1])
        return self._forward(ids, torch.arange(ids.shape[1], device=ids.device))

    def _step(self):
        self.next.copy_(self._forward(self.token, self.position))
        self.position.add_(1)

    def prepare(self, ids):
        """Captures the graph before anything is measured: the steps it takes advance the cache's own count
        of tokens, which the next prefill sets back."""
        short = ids[:, :1]
        self.prefill(short)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # loads every kernel before the capture
            self._step()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(self.graph):
            self._step()

    def decode(self, token):
        self.token.copy_(token)
        self.graph.replay()
        return self.next.clone()


def generate(runner, ids, steps, synchronize):
    begin = time.perf_counter()
    with stage.prefill():
        token = runner.prefill(ids)
        synchronize()
    stage.mark("first token")
    middle = time.perf_counter()
    tokens = [token]
    with stage.decode_all():
        for i in range(steps):
            with stage.decode_step(i):
                token = runner.decode(token)
                tokens.append(token)
        synchronize()
    end = time.perf_counter()
    return torch.cat(tokens, dim=1)[0].tolist(), middle - begin, end - middle


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", choices=["llama", "qwen2", "mixtral"], default="llama")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=1024, help="a multiple of 64")
    parser.add_argument("--vocab", type=int, default=32000)
    parser.add_argument("--experts", type=int, default=4, help="of mixtral")
    parser.add_argument("--prompt", type=int, default=256)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=["bfloat16", "float16", "float32"])
    parser.add_argument("--device", choices=["cuda", "cpu"])
    parser.add_argument("--compile", action="store_true", help="decode steps through torch.compile")
    parser.add_argument("--graph", action="store_true", help="decode steps as a CUDA graph (not mixtral)")
    arguments = parser.parse_args()
    arguments.device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    arguments.dtype = arguments.dtype or ("bfloat16" if arguments.device == "cuda" else "float32")
    if arguments.hidden % 64:
        parser.error("--hidden wants a multiple of 64")
    if arguments.graph and (arguments.device == "cpu" or arguments.arch == "mixtral" or arguments.compile):
        parser.error("--graph needs a GPU, a dense model and no --compile")
    return arguments


def main():
    arguments = parse()
    model = make_model(arguments, arguments.device)
    runner = Graphed(model, arguments.prompt + max(arguments.steps, 2) + 1) if arguments.graph else Eager(model)
    if arguments.compile:
        runner.step_model = torch.compile(model, dynamic=True)
    ids = torch.randint(0, arguments.vocab, (1, arguments.prompt), device=arguments.device)
    synchronize = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    print(f"{arguments.arch} on {arguments.device}, {arguments.dtype}, torch {torch.__version__}, "
          f"transformers {transformers.__version__}, ranges by {stage.backend()}")
    with torch.inference_mode():
        runner.prepare(ids)
        for i in range(arguments.iterations):
            tokens, prefill_s, decode_s = generate(runner, ids, arguments.steps, synchronize)
            print(f"iteration {i}: prefill {arguments.prompt} tokens {prefill_s * 1e3:.1f} ms, decode {arguments.steps} tokens "
                  f"{decode_s * 1e3:.1f} ms, last token {tokens[-1]}", flush=True)


if __name__ == "__main__":
    main()

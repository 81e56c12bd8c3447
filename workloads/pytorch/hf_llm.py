#!/usr/bin/env python3
"""A Hugging Face language model with random weights: prefill, then greedy decode, with NVTX ranges.

    python3 workloads/pytorch/hf_llm.py --arch llama --layers 4 --hidden 1024 --prompt 256 --steps 16

Needs torch and transformers (4 or 5), downloads nothing, and runs on the CPU where there is no GPU.
"""

import argparse
import itertools
import json
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
        max_position_embeddings=max(4096, arguments.prompt + arguments.steps + 1),
    )
    if arguments.arch in ("llama", "llava"):
        return transformers.LlamaConfig(**common)
    if arguments.arch == "qwen2":
        return transformers.Qwen2Config(**common)
    if arguments.arch == "mixtral":
        return transformers.MixtralConfig(**common, num_local_experts=arguments.experts, num_experts_per_tok=2)
    return deepseek_config(arguments, common, heads)


def deepseek_config(arguments, common, heads):
    """DeepSeek-V3's shape, made small: latent attention, one dense layer, then routed and shared experts."""
    common["num_key_value_heads"] = heads
    return transformers.DeepseekV3Config(
        **common,
        moe_intermediate_size=arguments.hidden // 2,
        n_routed_experts=arguments.experts,
        n_shared_experts=1,
        num_experts_per_tok=2,
        n_group=1,
        topk_group=1,
        first_k_dense_replace=1,
        q_lora_rank=arguments.hidden // 2,
        kv_lora_rank=arguments.hidden // 4,
        qk_nope_head_dim=64,
        qk_rope_head_dim=32,
        v_head_dim=64,
    )


def make_model(arguments, device):
    torch.manual_seed(arguments.seed)
    torch.set_default_dtype(getattr(torch, arguments.dtype))
    try:
        with torch.device(device):  # where it will be: a wide model takes minutes on a processor
            # from_config builds random weights and never looks at the network.
            return transformers.AutoModelForCausalLM.from_config(make_config(arguments)).eval()
    finally:
        torch.set_default_dtype(torch.float32)


class Eager:
    """Prefill and decode with the model's own growing cache."""

    def __init__(self, model):
        self.model, self.step_model = model, model

    def prepare(self, ids):
        pass

    def look(self):
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

    def __init__(self, model, batch, capacity):
        self.model = model
        self.cache = transformers.StaticCache(config=model.config, max_cache_len=capacity)
        device = next(model.parameters()).device
        self.token = torch.zeros((batch, 1), dtype=torch.long, device=device)
        self.position = torch.zeros((1,), dtype=torch.long, device=device)
        self.next = torch.zeros((batch, 1), dtype=torch.long, device=device)
        self.graph = torch.cuda.CUDAGraph()

    def _forward(self, ids, position):
        out = self.model(ids, past_key_values=self.cache, use_cache=True, cache_position=position,
                         position_ids=position.unsqueeze(0).expand(ids.shape[0], -1))
        return out.logits[:, -1:].argmax(-1)

    def look(self):
        pass

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
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):  # a profiler's threads may call CUDA meanwhile
            self._step()

    def decode(self, token):
        self.token.copy_(token)
        self.graph.replay()
        return self.next.clone()


def vision_config(arguments):
    width = max(arguments.hidden // 128 * 64, 64)
    return transformers.CLIPVisionConfig(
        hidden_size=width, intermediate_size=width * 4, num_hidden_layers=arguments.layers,
        num_attention_heads=width // 64, image_size=arguments.image, patch_size=14)


def save_config(arguments):
    config = make_config(arguments)
    if arguments.arch == "llava":
        config = transformers.LlavaConfig(text_config=config, vision_config=vision_config(arguments),
                                          image_seq_length=(arguments.image // 14) ** 2)
    config.save_pretrained(arguments.save_config)
    # A configuration that never met a model does not name its type.
    file = pathlib.Path(arguments.save_config) / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "torch_dtype": arguments.dtype}, indent=2) + "\n")


class Eyes:
    """What a LLaVA-style model has before its decoder: a vision transformer and a two-layer projector. The
    image's tokens come first in the prompt."""

    def __init__(self, arguments, device):
        dtype = getattr(torch, arguments.dtype)
        config = vision_config(arguments)
        width = config.hidden_size
        self.tower = transformers.CLIPVisionModel(config).to(dtype).to(device).eval()
        self.projector = torch.nn.Sequential(
            torch.nn.Linear(width, arguments.hidden), torch.nn.GELU(),
            torch.nn.Linear(arguments.hidden, arguments.hidden)).to(dtype).to(device).eval()
        self.pixels = torch.rand((arguments.batch, 3, arguments.image, arguments.image), dtype=dtype, device=device)
        self.tokens = (arguments.image // 14) ** 2

    def look(self, synchronize):
        with stage.stage("vision"):
            features = self.tower(self.pixels).last_hidden_state[:, 1:]
            synchronize()
        with stage.stage("projector"):
            features = self.projector(features)
            synchronize()
        return features


class Sighted(Eager):
    """Prefill over the image's tokens and the prompt's."""

    def __init__(self, model, eyes, synchronize):
        super().__init__(model)
        self.eyes, self.synchronize = eyes, synchronize

    def look(self):
        self.features = self.eyes.look(self.synchronize)

    def prefill(self, ids):
        embeddings = torch.cat([self.features, self.model.get_input_embeddings()(ids)], dim=1)
        out = self.model(inputs_embeds=embeddings, use_cache=True)
        self.past = out.past_key_values
        return out.logits[:, -1:].argmax(-1)


def generate(runner, ids, prompt_tokens, steps, synchronize):
    stage.tokens(prompt=prompt_tokens, batch=ids.shape[0])
    begin = time.perf_counter()
    runner.look()
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
    parser.add_argument("--arch", choices=["llama", "qwen2", "mixtral", "deepseek", "llava"], default="llama")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=1024, help="a multiple of 64")
    parser.add_argument("--vocab", type=int, default=32000)
    parser.add_argument("--experts", type=int, default=4, help="of mixtral and deepseek")
    parser.add_argument("--image", type=int, default=224, help="width of llava's image in pixels, a multiple of 14")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=256)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--turns", action="store_true", help="instead: an iteration for each line on standard input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=["bfloat16", "float16", "float32"])
    parser.add_argument("--device", choices=["cuda", "cpu"])
    parser.add_argument("--compile", action="store_true", help="decode steps through torch.compile")
    parser.add_argument("--graph", action="store_true", help="decode steps as a CUDA graph (llama, qwen2)")
    parser.add_argument("--module-ranges", type=int, default=0, metavar="DEPTH",
                        help="a range around every module down to this depth; 0: none")
    parser.add_argument("--save-config", metavar="DIR", help="write the model's config.json there and stop")
    arguments = parser.parse_args()
    arguments.device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    arguments.dtype = arguments.dtype or ("bfloat16" if arguments.device == "cuda" else "float32")
    if arguments.hidden % 64:
        parser.error("--hidden wants a multiple of 64")
    if arguments.graph and (arguments.device == "cpu" or arguments.arch not in ("llama", "qwen2") or arguments.compile):
        parser.error("--graph needs a GPU, --arch llama or qwen2, and no --compile")
    return arguments


def make_runner(arguments, model, synchronize):
    if arguments.graph:
        return Graphed(model, arguments.batch, arguments.prompt + max(arguments.steps, 2) + 1)
    if arguments.arch == "llava":
        return Sighted(model, Eyes(arguments, arguments.device), synchronize)
    return Eager(model)


def iterations(arguments):
    # Not `in sys.stdin`, which reads ahead.
    return itertools.takewhile(lambda _: sys.stdin.readline(), itertools.count()) if arguments.turns else range(arguments.iterations)


def main():
    arguments = parse()
    if arguments.save_config:
        return save_config(arguments)
    model = make_model(arguments, arguments.device)
    synchronize = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    runner = make_runner(arguments, model, synchronize)
    if arguments.compile:
        runner.step_model = torch.compile(model, dynamic=True)
    if arguments.module_ranges:
        stage.watch_modules(model, depth=arguments.module_ranges)
    ids = torch.randint(0, arguments.vocab, (arguments.batch, arguments.prompt), device=arguments.device)
    prompt_tokens = arguments.prompt + (runner.eyes.tokens if arguments.arch == "llava" else 0)
    print(f"{arguments.arch} on {arguments.device}, {arguments.dtype}, torch {torch.__version__}, "
          f"transformers {transformers.__version__}, ranges by {stage.backend()}")
    with torch.inference_mode():
        runner.prepare(ids)
        for i in iterations(arguments):
            tokens, prefill_s, decode_s = generate(runner, ids, prompt_tokens, arguments.steps, synchronize)
            print(f"iteration {i}: prefill {prompt_tokens} tokens {prefill_s * 1e3:.1f} ms, decode {arguments.steps} tokens "
                  f"{decode_s * 1e3:.1f} ms, last token {tokens[-1]}", flush=True)


if __name__ == "__main__":
    main()

"""generate() of a small model with random weights, as people write it: nothing here knows nl-stage.

    python generate.py --family qwen3

The script's own times go to the last line of stdout as JSON. --operators runs torch.profiler over one prefill and over
eight decode steps instead.
"""

import argparse
import json
import time

import torch
import transformers

SHAPE = dict(vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=6, num_attention_heads=16,
             num_key_value_heads=4, max_position_embeddings=4096)


def make_model(family):
    if family == "qwen3":
        return transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SHAPE, head_dim=64))
    if family == "llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SHAPE))
    if family == "mixtral":
        return transformers.MixtralForCausalLM(transformers.MixtralConfig(**SHAPE, num_local_experts=4, num_experts_per_tok=2))
    text = transformers.LlamaConfig(**SHAPE)
    vision = transformers.CLIPVisionConfig(hidden_size=512, intermediate_size=2048, num_hidden_layers=6, num_attention_heads=8,
                                           image_size=224, patch_size=14)
    return transformers.LlavaForConditionalGeneration(transformers.LlavaConfig(
        text_config=text, vision_config=vision, image_seq_length=256, image_token_index=31999))


class Stopwatch:
    """A streamer: it is handed the prompt, then every token as soon as it is on the host."""

    def __init__(self):
        self.times = []

    def put(self, tokens):
        tokens.tolist()
        self.times.append(time.perf_counter())

    def end(self):
        pass


def inputs_of(family, batch, prompt, device):
    ids = torch.randint(0, 31000, (batch, prompt), device=device)
    inputs = dict(attention_mask=torch.ones_like(ids))
    if family == "llava":
        ids[:, 1:257] = 31999
        inputs["pixel_values"] = torch.randn(batch, 3, 224, 224, dtype=torch.bfloat16, device=device)
    return dict(inputs, input_ids=ids)


def request(model, inputs, new_tokens, streamer=None):
    return model.generate(**inputs, max_new_tokens=new_tokens, min_new_tokens=new_tokens, do_sample=False, streamer=streamer,
                          pad_token_id=0)


def timed(model, inputs, new_tokens):
    watch = Stopwatch() if inputs["input_ids"].shape[0] == 1 else None
    torch.cuda.synchronize()
    begin = time.perf_counter()
    request(model, inputs, new_tokens, watch)
    torch.cuda.synchronize()
    end = time.perf_counter()
    times = watch.times if watch else []
    return {"request_s": end - begin, "first_token_s": times[1] - begin if times else None,
            "step_s": [b - a for a, b in zip(times[1:], times[2:])]}


def profiled(model, inputs, new_tokens):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        request(model, inputs, new_tokens, Stopwatch() if inputs["input_ids"].shape[0] == 1 else None)
        torch.cuda.synchronize()
    return {row.key: [row.count, row.self_device_time_total] for row in profiler.key_averages() if row.key.startswith("aten::")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", choices=["qwen3", "llama", "mixtral", "llava"], default="qwen3")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=384)
    parser.add_argument("--new", type=int, default=32)
    parser.add_argument("--requests", type=int, default=5)
    parser.add_argument("--operators", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = make_model(arguments.family).to("cuda", torch.bfloat16).eval()
    inputs = inputs_of(arguments.family, arguments.batch, arguments.prompt, "cuda")
    if not arguments.operators:
        print(json.dumps([timed(model, inputs, arguments.new) for _ in range(arguments.requests)]))
        return
    for _ in range(2):
        request(model, inputs, 9)
    print(json.dumps({"prefill": profiled(model, inputs, 1), "prefill and 8 steps": profiled(model, inputs, 9)}))


main()

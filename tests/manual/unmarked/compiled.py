"""Decode compiled with torch.compile into CUDA graphs, prefill eager: nothing here knows nl-stage. Its own times go to stdout as JSON."""

import json
import time

import torch
import transformers

PROMPT, NEW = 256, 48


def decode_one(model, token, position, cache):
    logits = model(token, position_ids=position[None], past_key_values=cache, use_cache=True).logits
    return logits[:, -1].argmax(-1, keepdim=True)


@torch.inference_mode()
def answer(model, decode, prompt, config):
    cache = transformers.StaticCache(config=config, max_batch_size=1, max_cache_len=PROMPT + NEW, device="cuda", dtype=torch.bfloat16)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    logits = model(prompt, past_key_values=cache, use_cache=True).logits
    token = logits[:, -1].argmax(-1, keepdim=True)
    torch.cuda.synchronize()
    first = time.perf_counter()
    for step in range(NEW - 1):
        position = torch.tensor([PROMPT + step], device="cuda")
        token = decode(model, token.clone(), position, cache).clone()
    torch.cuda.synchronize()
    end = time.perf_counter()
    return {"request_s": end - begin, "first_token_s": first - begin, "step_s": [(end - first) / (NEW - 1)]}


def main():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=4,
                                      num_attention_heads=16, num_key_value_heads=4)
    model = transformers.LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
    decode = torch.compile(decode_one, mode="reduce-overhead")
    prompt = torch.randint(0, 31000, (1, PROMPT), device="cuda")
    print(json.dumps([answer(model, decode, prompt, config) for _ in range(6)]))


main()

"""generate() of a small Qwen3 whose logits processor calls a slow function of the program's own, once a token."""

import json
import time

import torch
from transformers import LogitsProcessor, LogitsProcessorList, Qwen3Config, Qwen3ForCausalLM

REQUESTS, PROMPT, NEW, SLOW_S = 5, 192, 56, 0.005


def screen_candidates(history):
    """Plain Python for 5 ms: what a list of forbidden phrases costs."""
    end, found = time.perf_counter() + SLOW_S, 0
    while time.perf_counter() < end:
        found += sum(1 for left, right in zip(history, history[1:]) if left == right)
    return found


class Screening(LogitsProcessor):
    def __init__(self):
        self.history = list(range(64))

    def __call__(self, input_ids, scores):
        self.history.append(screen_candidates(self.history[-64:]) % 97)
        return scores


def main():
    torch.manual_seed(0)
    shape = dict(vocab_size=32000, hidden_size=1024, intermediate_size=3072, num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=8, head_dim=64)
    model = Qwen3ForCausalLM(Qwen3Config(**shape)).to("cuda", torch.bfloat16).eval()
    times = []
    for _ in range(REQUESTS):
        prompt = torch.randint(0, 32000, (1, PROMPT), device="cuda")
        begin = time.perf_counter()
        model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=NEW, min_new_tokens=NEW, do_sample=False, pad_token_id=0,
                       logits_processor=LogitsProcessorList([Screening()]))
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"kind": "generation", "steps": REQUESTS * (NEW - 1), "requests": REQUESTS, "unit": "token", "batch": 1,
                      "cause": "screen_candidates, 5 ms in every step", "request_ms": [round(1e3 * each, 1) for each in times]}))


if __name__ == "__main__":
    main()

"""The third of five requests asks for more memory than any GPU has: the program ends with that error."""

import json

import torch
from transformers import LlamaConfig, LlamaForCausalLM

REQUESTS, PROMPT, NEW, FAILS_AT = 5, 256, 64, 2


def score_against_archive(request, hidden):
    """The archive of the third request is 3 TiB."""
    rows = 1024 if request < FAILS_AT else 3 << 30
    return torch.zeros((rows, 512), dtype=torch.float16, device="cuda")[:8] + hidden


def main():
    torch.manual_seed(7)
    shape = dict(vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=10, num_attention_heads=16, num_key_value_heads=4)
    model = LlamaForCausalLM(LlamaConfig(**shape)).to("cuda", torch.bfloat16).eval()
    try:
        for request in range(REQUESTS):
            prompt = torch.randint(0, 32000, (1, PROMPT), device="cuda")
            model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=NEW, min_new_tokens=NEW, do_sample=False, pad_token_id=0)
            score_against_archive(request, torch.ones(512, dtype=torch.float16, device="cuda"))
    finally:
        print(json.dumps({"kind": "generation", "steps": (FAILS_AT + 1) * (NEW - 1), "requests": FAILS_AT + 1, "unit": "token", "batch": 1,
                          "cause": "out of memory: score_against_archive asks for 3 TiB in the third request"}), flush=True)


if __name__ == "__main__":
    main()

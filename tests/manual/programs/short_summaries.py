"""Summaries by an encoder and a decoder (T5 of random weights), greedy, batches of 6: small kernels, bound by their launches."""

import json

import torch
from transformers import T5Config, T5ForConditionalGeneration

BATCH, NEW, REQUESTS, LENGTH = 6, 30, 5, 384


def main():
    torch.manual_seed(8)
    shape = dict(vocab_size=32128, d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1)
    model = T5ForConditionalGeneration(T5Config(**shape)).to("cuda", torch.bfloat16).eval()
    for _ in range(REQUESTS):
        ids = torch.randint(2, 32128, (BATCH, LENGTH), device="cuda")
        model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW, min_new_tokens=NEW, do_sample=False)
    torch.cuda.synchronize()
    print(json.dumps({"kind": "generation", "steps": REQUESTS * (NEW - 1), "requests": REQUESTS, "unit": "token", "batch": BATCH,
                      "cause": "launches of small kernels: the GPU waits for the host"}))


if __name__ == "__main__":
    main()

"""generate() of a BART of random weights: 4 inputs, 4 beams each."""

import json
import time

import torch
from transformers import BartConfig, BartForConditionalGeneration

BATCH, BEAMS, TOKENS, NEW, CALLS = 4, 4, 256, 48, 5


def main():
    torch.manual_seed(5)
    shape = dict(vocab_size=32000, d_model=1024, encoder_layers=8, decoder_layers=8, encoder_attention_heads=16, decoder_attention_heads=16,
                 encoder_ffn_dim=4096, decoder_ffn_dim=4096, max_position_embeddings=1024)
    model = BartForConditionalGeneration(BartConfig(**shape)).to("cuda", torch.bfloat16).eval()
    times = []
    for _ in range(CALLS):
        ids = torch.randint(5, 32000, (BATCH, TOKENS), device="cuda")
        begin = time.perf_counter()
        model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), num_beams=BEAMS, max_new_tokens=NEW, min_new_tokens=NEW, do_sample=False)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"kind": "generation", "steps": CALLS * (NEW - 1), "requests": CALLS, "unit": "token", "batch": BATCH, "beams": BEAMS,
                      "tokens": CALLS * BATCH * NEW, "cause": "the host cannot launch fast enough, and the cache is put into the order of the beams each step",
                      "request_ms": [round(1e3 * each, 1) for each in times]}))


if __name__ == "__main__":
    main()

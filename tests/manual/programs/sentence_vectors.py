"""Sentence embeddings: a RoBERTa of random weights, batches of 32 sentences of 128 tokens, mean of the last layer."""

import json
import time

import torch
from transformers import RobertaConfig, RobertaModel

BATCH, TOKENS, BATCHES = 32, 128, 320


def masked_mean(hidden, mask):
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return torch.nn.functional.normalize((hidden * weights).sum(1) / weights.sum(1), dim=-1)


def main():
    torch.manual_seed(3)
    shape = dict(vocab_size=50265, hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16, max_position_embeddings=514)
    model = RobertaModel(RobertaConfig(**shape), add_pooling_layer=False).to("cuda", torch.float16).eval()
    vectors = []
    begin = time.perf_counter()
    with torch.inference_mode():
        for _ in range(BATCHES):
            ids = torch.randint(5, 50265, (BATCH, TOKENS), device="cuda")
            mask = torch.ones_like(ids)
            vectors.append(masked_mean(model(input_ids=ids, attention_mask=mask).last_hidden_state, mask))
    torch.cuda.synchronize()
    print(json.dumps({"kind": "encoding", "steps": BATCHES, "unit": "batch", "batch": BATCH, "tokens": BATCH * TOKENS,
                      "cause": "none of the program's own: the encoder's launches and matrix kernels",
                      "batch_ms": round(1e3 * (time.perf_counter() - begin) / BATCHES, 2)}))


if __name__ == "__main__":
    main()

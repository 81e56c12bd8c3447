"""Tags for photos: a vision transformer of random weights. A function on the host prepares each batch while the GPU waits."""

import json
import time

import torch
from transformers import ViTConfig, ViTForImageClassification

BATCH, BATCHES, SLOW_S = 48, 90, 0.02


def unpack_photos(generator):
    """20 ms of work on the host, as decoding pictures would be."""
    end = time.perf_counter() + SLOW_S
    photos = torch.rand(BATCH, 3, 224, 224, generator=generator)
    total = 0
    while time.perf_counter() < end:
        total += sum(range(200))
    return photos


def main():
    torch.manual_seed(5)
    shape = dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072, num_labels=1000)
    model = ViTForImageClassification(ViTConfig(**shape)).to("cuda", torch.bfloat16).eval()
    generator = torch.Generator().manual_seed(5)
    tags = []
    with torch.no_grad():
        for _ in range(BATCHES):
            photos = unpack_photos(generator).to("cuda", torch.bfloat16)
            tags += model(pixel_values=photos).logits.argmax(-1).tolist()
    print(json.dumps({"kind": "encoding", "steps": BATCHES, "unit": "batch", "batch": BATCH,
                      "cause": "unpack_photos, 20 ms before every batch, while the GPU is idle"}))


if __name__ == "__main__":
    main()

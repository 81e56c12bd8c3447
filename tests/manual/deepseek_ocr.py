#!/usr/bin/env python3
"""A model of DeepSeek-OCR's shape with random weights, as far as transformers has its parts. Nothing is downloaded.

    nl-stage run --config deep --model deepseek-ocr -- python3 tests/manual/deepseek_ocr.py

SAM-B at 1024 pixels, two convolutions of stride 2, a CLIP-L on the 256 tokens that they leave, a projector, and a decoder of
twelve layers with 64 experts. The decoder is GLM-4's mixture of experts: transformers' DeepSeek-V2 has latent attention, which
DeepSeek-OCR does not use. The program knows nothing of nl-stage: what marks its stages is nl-stage itself.

Look for: a stage vision whose MFU is that of 1.10 TFLOP an image (SAM 0.94, CLIP 0.16); prefill over 273 image tokens and the
prompt; decode_step with 6 of 64 experts; the times that this program takes itself within 2 % of the stages.
"""

import argparse
import time

import torch
import transformers


class Towers(torch.nn.Module):
    """What DeepSeek calls its deep encoder: SAM, a compressor, CLIP."""

    def __init__(self):
        super().__init__()
        self.sam = transformers.SamVisionModel(transformers.SamVisionConfig(
            hidden_size=768, num_hidden_layers=12, num_attention_heads=12, image_size=1024, patch_size=16, window_size=14,
            global_attn_indexes=[2, 5, 8, 11], output_channels=256))
        self.compressor = torch.nn.Sequential(
            torch.nn.Conv2d(256, 512, 3, stride=2, padding=1, bias=False), torch.nn.Conv2d(512, 1024, 3, stride=2, padding=1, bias=False))
        layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0, activation="gelu", batch_first=True, norm_first=True)
        self.clip = torch.nn.TransformerEncoder(layer, 24, enable_nested_tensor=False)
        self.class_token = torch.nn.Parameter(torch.zeros(1, 1, 1024))

    def forward(self, pixel_values):
        local = self.compressor(self.sam(pixel_values)[0]).flatten(2).transpose(1, 2)  # 256 tokens of 1024
        seen = self.clip(torch.cat((self.class_token.expand(len(local), -1, -1), local), 1))
        return torch.cat((seen[:, 1:], local), -1)


class DeepseekOcrShape(torch.nn.Module):
    def __init__(self):
        super().__init__()
        config = transformers.Glm4MoeConfig(
            vocab_size=129280, hidden_size=1280, intermediate_size=6848, moe_intermediate_size=896, num_hidden_layers=12,
            num_attention_heads=10, num_key_value_heads=10, head_dim=128, n_routed_experts=64, n_shared_experts=2,
            num_experts_per_tok=6, first_k_dense_replace=1, n_group=1, topk_group=1, max_position_embeddings=8192,
            eos_token_id=None, pad_token_id=0)
        self.language_model = transformers.Glm4MoeForCausalLM(config)
        self.vision_tower = Towers()
        self.projector = torch.nn.Linear(2048, 1280)
        self.separators = torch.nn.Parameter(torch.zeros(2, 1280))  # of lines, and of views

    def embed(self, pixel_values, prompt):
        """16 rows of 16 tokens, each with a separator, and one at their end: 273 tokens, before those of the prompt."""
        image = self.projector(self.vision_tower(pixel_values)).unflatten(1, (16, 16))
        lines = self.separators[0].expand(len(image), 16, 1, -1)
        image = torch.cat((image, lines), 2).flatten(1, 2)
        end = self.separators[1].expand(len(image), 1, -1)
        return torch.cat((image, end, self.language_model.get_input_embeddings()(prompt)), 1)

    @torch.inference_mode()
    def read(self, pixel_values, prompt, tokens):
        return self.language_model.generate(inputs_embeds=self.embed(pixel_values, prompt), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=1, help="pages at a time")
    parser.add_argument("--prompt", type=int, default=16, help="tokens besides the image's")
    parser.add_argument("--tokens", type=int, default=64, help="tokens to generate")
    parser.add_argument("--iterations", type=int, default=4)
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = DeepseekOcrShape().eval()
        pages = torch.rand(arguments.images, 3, 1024, 1024)
        prompt = torch.randint(0, 129280, (arguments.images, arguments.prompt))
    print(f"{sum(p.numel() for p in model.parameters()) / 1e9:.3f} B parameters on {device}")
    for number in range(arguments.iterations):
        start = time.perf_counter()
        model.read(pages, prompt, arguments.tokens)
        if device == "cuda":
            torch.cuda.synchronize()
        print(f"iteration {number}: {(time.perf_counter() - start) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()

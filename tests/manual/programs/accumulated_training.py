"""Training of a convolutional network: mixed precision with a scaler, SGD with momentum, gradients of two batches for each step, a slow collate."""

import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH, BATCHES, ACCUMULATE, WORKERS, SLOW_S = 64, 120, 2, 2, 0.12


class Noise(Dataset):
    def __len__(self):
        return BATCH * BATCHES

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 96, 96, generator=generator), index % 100


def pack_samples(samples):
    """Runs in the workers: what decoding and cropping would cost."""
    end, checked = time.perf_counter() + SLOW_S, 0
    while time.perf_counter() < end:
        checked += sum(label for _, label in samples)
    images, labels = zip(*samples)
    return torch.stack(images), torch.tensor(labels)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(x + self.body(x))


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 128, 5, stride=2, padding=2)
        self.body = nn.Sequential(*[Residual(128) for _ in range(8)])
        self.head = nn.Linear(128, 100)

    def forward(self, images):
        return self.head(self.body(self.stem(images)).mean((2, 3)))


def main():
    torch.manual_seed(2)
    model = Sorter().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler, criterion = torch.amp.GradScaler("cuda"), nn.CrossEntropyLoss()
    loader = DataLoader(Noise(), batch_size=BATCH, num_workers=WORKERS, collate_fn=pack_samples, pin_memory=True)
    model.train()
    steps = 0
    for number, (images, labels) in enumerate(loader):
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(images), labels) / ACCUMULATE
        scaler.scale(loss).backward()
        if number % ACCUMULATE == ACCUMULATE - 1:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            steps += 1
    torch.cuda.synchronize()
    print(json.dumps({"kind": "training", "steps": steps, "batches": BATCHES, "batch": BATCH, "unit": "training step",
                      "cause": "the loader: pack_samples takes 120 ms a batch in two workers"}))


if __name__ == "__main__":
    main()

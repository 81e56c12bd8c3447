"""Conjugate gradients for a heat equation on a grid: numbers only, no model. Each iteration reads its residual."""

import json
import time

import torch

SIDE, ITERATIONS, SOLVES = 2048, 1500, 4


def spread(field):
    """The operator of the equation: five points."""
    out = 4.2 * field
    out[1:] -= field[:-1]
    out[:-1] -= field[1:]
    out[:, 1:] -= field[:, :-1]
    out[:, :-1] -= field[:, 1:]
    return out


def relax(source):
    answer = torch.zeros_like(source)
    residual = source.clone()
    direction = residual.clone()
    energy = (residual * residual).sum()
    history = []
    for _ in range(ITERATIONS):
        moved = spread(direction)
        pace = energy / (direction * moved).sum()
        answer += pace * direction
        residual -= pace * moved
        renewed = (residual * residual).sum()
        direction = residual + (renewed / energy) * direction
        energy = renewed
        history.append(renewed.item())
    return answer, history


def main():
    torch.manual_seed(8)
    begin = time.perf_counter()
    for _ in range(SOLVES):
        _, history = relax(torch.randn(SIDE, SIDE, device="cuda", dtype=torch.float64))
    took = time.perf_counter() - begin
    print(json.dumps({"kind": "unknown", "steps": SOLVES * ITERATIONS, "unit": "step", "cause": "memory traffic of the grid, and item() in each iteration",
                      "step_ms": round(1e3 * took / (SOLVES * ITERATIONS), 3), "residual": history[-1]}))


if __name__ == "__main__":
    main()

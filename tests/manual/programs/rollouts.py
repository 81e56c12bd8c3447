"""Learning by acting: 24 moves in worlds that run on the host, then one update of the policy. The worlds take most of the time."""

import json
import time

import torch
from torch import nn

WORLDS, MOVES, UPDATES, SLOW_S = 256, 24, 30, 0.003


def advance_worlds(state, actions):
    """3 ms on the host for every move."""
    end = time.perf_counter() + SLOW_S
    state = torch.tanh(state + 0.01 * actions.float().unsqueeze(1))
    total = 0
    while time.perf_counter() < end:
        total += sum(range(100))
    return state, state.sum(1)


def main():
    torch.manual_seed(4)
    policy = nn.Sequential(nn.Linear(64, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 8)).cuda()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    state = torch.randn(WORLDS, 64)
    for _ in range(UPDATES):
        chances, rewards = [], []
        for _ in range(MOVES):
            choice = torch.distributions.Categorical(logits=policy(state.cuda()))
            actions = choice.sample()
            chances.append(choice.log_prob(actions))
            state, reward = advance_worlds(state, actions.cpu())
            rewards.append(reward)
        gains = torch.stack(rewards).cuda()
        loss = -(torch.stack(chances) * (gains - gains.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    print(json.dumps({"kind": "training", "steps": UPDATES, "unit": "training step", "batch": WORLDS,
                      "cause": "advance_worlds, 3 ms for each of 24 moves of a step, while the GPU is idle"}))


if __name__ == "__main__":
    main()

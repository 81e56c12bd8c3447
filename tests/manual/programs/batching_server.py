"""A toy server with continuous batching: clients on threads send requests, one thread steps all live requests at once, as soon as they are there."""

import json
import queue
import random
import threading
import time

import torch
from torch import nn
from torch.nn import functional

CLIENTS, PER_CLIENT, SLOTS, LONGEST = 6, 6, 8, 512
WIDTH, HEADS, LAYERS, VOCABULARY = 1024, 16, 8, 16000


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, store, slots, places):
        """store: (2, slots, longest, heads, width); places: where each row's tokens are, (rows, tokens)."""
        rows, tokens, _ = x.shape
        query, key, value = (part.view(rows, tokens, HEADS, -1) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        store[0, slots[:, None], places] = key
        store[1, slots[:, None], places] = value
        known = int(LONGEST)
        seen = torch.arange(known, device=x.device)[None, None, :] <= places[:, :, None]
        mixed = functional.scaled_dot_product_attention(query.transpose(1, 2), store[0, slots].transpose(1, 2), store[1, slots].transpose(1, 2),
                                                        attn_mask=seen[:, None])
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, tokens, WIDTH))
        return x + self.mlp(self.norm2(x))


class Answerer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(Mixer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, stores, slots, places):
        x = self.table(tokens) + self.positions(places)
        for layer, store in zip(self.layers, stores):
            x = layer(x, store, slots, places)
        return self.head(x[:, -1])


class Ticket:
    def __init__(self, prompt, wanted):
        self.prompt, self.wanted, self.times, self.done = prompt, wanted, [], threading.Event()
        self.slot = self.length = None
        self.last = None


def tally_usage(live):
    """About 3 ms of Python for the bill, in every step."""
    end, bill = time.perf_counter() + 0.003, {}
    while time.perf_counter() < end:
        for ticket in live:
            bill[id(ticket)] = bill.get(id(ticket), 0) + len(ticket.times)
    return bill


class Server(threading.Thread):
    def __init__(self, model):
        super().__init__(name="engine")
        self.model, self.arrivals, self.closing = model, queue.Queue(), False
        self.steps = self.prefills = 0
        self.stores = [torch.zeros(2, SLOTS, LONGEST, HEADS, WIDTH // HEADS, device="cuda", dtype=torch.bfloat16) for _ in range(LAYERS)]

    @torch.inference_mode()
    def run(self):
        live, free = [], list(range(SLOTS))
        while not self.closing or live or not self.arrivals.empty():
            while free and not self.arrivals.empty():
                live.append(self.admit(self.arrivals.get(), free.pop()))
            if not live:
                time.sleep(0.001)
                continue
            self.step(live)
            tally_usage(live)
            for ticket in [each for each in live if len(each.times) >= each.wanted]:
                live.remove(ticket)
                free.append(ticket.slot)
                ticket.done.set()

    def admit(self, ticket, slot):
        ticket.slot, ticket.length = slot, len(ticket.prompt)
        tokens = torch.tensor([ticket.prompt], device="cuda")
        places = torch.arange(ticket.length, device="cuda")[None]
        ticket.last = self.model(tokens, self.stores, torch.tensor([slot], device="cuda"), places).argmax(-1).item()
        ticket.times.append(time.perf_counter())
        self.prefills += 1
        return ticket

    def step(self, live):
        tokens = torch.tensor([[ticket.last] for ticket in live], device="cuda")
        slots = torch.tensor([ticket.slot for ticket in live], device="cuda")
        places = torch.tensor([[ticket.length] for ticket in live], device="cuda")
        chosen = self.model(tokens, self.stores, slots, places).argmax(-1).tolist()
        now = time.perf_counter()
        for ticket, token in zip(live, chosen):
            ticket.last = token
            ticket.length += 1
            ticket.times.append(now)
        self.steps += 1


def client(server, seed, tickets):
    dice = random.Random(seed)
    for _ in range(PER_CLIENT):
        time.sleep(dice.uniform(0.0, 0.15))
        ticket = Ticket([dice.randrange(VOCABULARY) for _ in range(dice.randrange(32, 200))], dice.randrange(30, 90))
        tickets.append(ticket)
        server.arrivals.put(ticket)
        ticket.done.wait()


def main():
    torch.manual_seed(10)
    server, tickets = Server(Answerer().to("cuda", torch.bfloat16).eval()), []
    server.start()
    clients = [threading.Thread(target=client, args=(server, seed, tickets)) for seed in range(CLIENTS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    server.closing = True
    server.join()
    gaps = [later - earlier for ticket in tickets for earlier, later in zip(ticket.times, ticket.times[1:])]
    print(json.dumps({"kind": "serving", "steps": server.steps, "prefills": server.prefills, "requests": len(tickets), "unit": "step",
                      "tokens": sum(len(ticket.times) for ticket in tickets), "cause": "tally_usage, 3 ms in every step",
                      "ms_between_tokens_of_a_request": round(1e3 * sum(gaps) / len(gaps), 2)}))


if __name__ == "__main__":
    main()

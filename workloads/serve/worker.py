"""The process that has the model: it computes one step after the other, as the scheduler says."""

import time

from marks import Marks, Records, step_marks, step_name

SETTINGS = {
    "cpu": {"max_batch": 16, "blocks": 256, "block_tokens": 16, "chunk_tokens": 64, "context_tokens": 2048},
    "torch-cpu": {"max_batch": 16, "blocks": 256, "block_tokens": 16, "chunk_tokens": 64, "context_tokens": 2048, "width": 128, "layers": 2},
    "cuda": {"max_batch": 64, "blocks": 4096, "block_tokens": 16, "chunk_tokens": 1024, "context_tokens": 2048, "width": 1024, "layers": 8},
}
TIMES = ("begin_ns", "preprocessed_ns", "forwarded_ns", "end_ns")


def settings_of(options, number):
    """What the flags leave open depends on the device."""
    torch = _torch() if options.device in ("auto", "cuda") else None
    device = options.device if options.device != "auto" else "cuda" if torch else "cpu"
    if device == "cuda" and not torch:
        raise SystemExit("nl-serve: --device cuda needs PyTorch, and a GPU that it can use")
    settings = {"width": 0, "layers": 0, **SETTINGS[device]}
    settings.update({name: value for name in settings if (value := getattr(options, name)) is not None})
    if settings["chunk_tokens"] < settings["max_batch"]:
        raise SystemExit("nl-serve: --chunk-tokens is less than --max-batch: some requests would get no token")
    settings.update(seed=options.seed, graphs=options.graphs and device != "cpu", device=device)
    settings.update(dtype=options.dtype or ("bfloat16" if device == "cuda" else "float32"), vocabulary=8192 if device == "cuda" else 512)
    settings.update(torch_device=f"cuda:{number % torch.cuda.device_count()}" if device == "cuda" else "cpu")
    return settings


def open_model(settings):
    if settings["device"] == "cpu":
        from plain_model import PlainModel

        return PlainModel(settings)
    from torch_model import TorchModel

    return TorchModel(settings)


def run(options, scheduler, number):
    """scheduler: the channel to it, whose end is ours."""
    settings = settings_of(options, number)
    model = open_model(settings)
    marks, records = Marks(options.marks), Records(options.records)
    scheduler.send({**settings, **model.facts, "marks": marks.backend})
    while (message := scheduler.receive()) is not None:
        index, entries = message
        for text in step_marks(index, entries) if marks.on else ():
            marks.mark(text)
        times = [time.monotonic_ns()]
        with marks.range(step_name(entries)):
            with marks.range("preprocess"):
                batch = model.prepare(entries)
            times.append(time.monotonic_ns())
            with marks.range("forward"):
                logits = model.forward(batch)
            times.append(time.monotonic_ns())
            with marks.range("sample"):
                sampled = model.sample(logits)
        times.append(time.monotonic_ns())
        scheduler.send((index, sampled))
        requests = [[entry.id, entry.kind, len(entry.tokens)] for entry in entries]
        computed = {"padded": model.padded(batch), "sampled": len(sampled), "requests": requests}
        records.write("step", worker=number, index=index, **dict(zip(TIMES, times)), **computed)


def _torch():
    """None: there is no PyTorch, or no GPU for it."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None

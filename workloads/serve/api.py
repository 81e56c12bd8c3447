"""The process that clients talk to: OpenAI's requests in, text out. Tokens become text here."""

import asyncio
import itertools
import json
import re
import time
from typing import NamedTuple

import wire
from figures import Figures
from marks import Marks, Records
from web import HttpError
from words import Detokeniser, Vocabulary


class Piece(NamedTuple):
    """What a request has got more of; reason: why it ends with it."""

    text: str
    tokens: list
    reason: str


class Live:
    """A request from its arrival until the scheduler has told its end."""

    def __init__(self, id, name, wanted, detokeniser):
        self.id, self.name, self.wanted, self.detokeniser = id, name, wanted, detokeniser
        self.pieces = asyncio.Queue()  # Piece; None: the client has gone
        self.held = ""  # text that may be the beginning of a stop string
        self.reason = None  # it is over for the client
        self.output = 0
        self.token_ns, self.sent_ns = [], []
        self.detokenised_ns = 0
        self.end, self.answered = None, False  # what the scheduler told; whether the client has all, or has gone

    def take(self, text, token, reason):
        """Text up to a stop string, if there is one, goes to the client; text that may begin one is held back."""
        self.held += text
        stops = [at for stop in self.wanted["stop"] if (at := self.held.find(stop)) >= 0]
        if stops:
            text, self.reason = self.held[: min(stops)], "stop"
        else:
            keep = 0 if reason else max((len(stop) - 1 for stop in self.wanted["stop"]), default=0)
            cut = max(len(self.held) - keep, 0)
            text, self.held = self.held[:cut], self.held[cut:]
            self.reason = reason
        self.output += 1
        self.pieces.put_nowait(Piece(text, [token], self.reason))


def positive(body, names, default):
    for name in names:
        value = body.get(name)
        if value is not None:
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise HttpError(400, f"{name} is a whole number of at least 1")
            return value
    return default


def strings(value, name):
    found = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
        raise HttpError(400, f"{name} is a string or a list of strings, none of them empty")
    return found


def chat_text(messages):
    """One line for each message, and the beginning of the answer."""
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        raise HttpError(400, "messages is a list of objects")
    lines = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        if not isinstance(content, str):
            raise HttpError(400, "a message has a content of text")
        lines.append(f" {message.get('role', 'user')}: {content}\n")
    return "".join(lines) + " assistant:"


class Api:
    def __init__(self, options, to_scheduler, settings):
        self.options, self.to_scheduler, self.settings = options, to_scheduler, settings
        self.vocabulary = Vocabulary(settings["vocabulary"])
        self.marks, self.records, self.figures = Marks(options.marks), Records(options.records), Figures()
        blocks = settings["blocks"] * options.workers
        self.figures.state = {"running": 0, "waiting": 0, "blocks": blocks, "blocks_free": blocks}
        self.live = {}
        self.ids = itertools.count(1)
        self.routes = {
            ("POST", "/v1/completions"): self.complete,
            ("POST", "/v1/chat/completions"): self.complete,
            ("GET", "/v1/models"): self.models,
            ("GET", "/health"): self.health,
            ("GET", "/metrics"): self.metrics,
        }

    # What comes from clients.

    async def route(self, request, answer, reader):
        handler = self.routes.get((request.method, request.path))
        if not handler:
            known = any(request.path == path for _, path in self.routes)
            raise HttpError(405 if known else 404, f"there is no {request.method} {request.path}")
        await handler(request, answer, reader)

    async def health(self, request, answer, reader):
        answer.send(200, {"status": "ok", **self.figures.state})

    async def models(self, request, answer, reader):
        model = {"id": self.options.model, "object": "model", "owned_by": "nl-stage", "max_model_len": self.settings["context_tokens"]}
        answer.send(200, {"object": "list", "data": [model]})

    async def metrics(self, request, answer, reader):
        answer.send(200, self.figures.text().encode(), "text/plain; version=0.0.4")

    async def complete(self, request, answer, reader):
        read_ns = time.monotonic_ns()
        id = next(self.ids)
        # The name goes into a header, a mark and a record: what could break one of them is left out.
        name = re.sub(r"[^\w.:/@+-]", "", request.headers.get("x-request-id", ""), flags=re.ASCII)[:128] or f"nl-{id}"
        answer.headers["X-Request-Id"] = name
        chat = request.path.endswith("/chat/completions")
        live = Live(id, name, self.read_wanted(request.json(), chat), Detokeniser(self.vocabulary))
        live.read_ns, live.arrived_ns = read_ns, time.monotonic_ns()
        wanted = live.wanted
        self.marks.mark(f"request arrived id={id} prompt={len(wanted['prompt'])} most={wanted['most']} name={name}")
        self.live[id] = live
        self.send(("add", id, wanted["prompt"], wanted["most"], wanted["stop_tokens"]))
        reader.when_gone = lambda: live.pieces.put_nowait(None)
        if reader.gone:
            reader.when_gone()
        try:
            await (self.answer_stream if wanted["stream"] else self.answer_whole)(live, answer, Form(self.options.model, name, chat, wanted))
        finally:
            reader.when_gone = None
            if not live.reason:
                self.send(("cancel", id, "cancelled"))
            live.answered = True
            self.write_record(live)

    def read_wanted(self, body, chat):
        if body.get("n") not in (None, 1):
            raise HttpError(400, "n is 1: there is one answer to a request")
        with self.marks.range("tokenise"):
            prompt = self.read_prompt(chat_text(body.get("messages")) if chat else body.get("prompt"))
        if not prompt:
            raise HttpError(400, "the prompt is empty")
        settings = self.settings
        most = positive(body, ("max_completion_tokens", "max_tokens"), 16)
        longest = min(settings["context_tokens"], settings["blocks"] * settings["block_tokens"])
        if len(prompt) + most > longest:
            raise HttpError(400, f"{len(prompt)} tokens of prompt and {most} to write are more than {longest}")
        stop_tokens = body.get("stop_token_ids") or []
        if not isinstance(stop_tokens, list) or not all(isinstance(token, int) for token in stop_tokens):
            raise HttpError(400, "stop_token_ids is a list of whole numbers")
        options = body.get("stream_options")
        return {
            "prompt": prompt,
            "most": most,
            "stop": strings(body.get("stop"), "stop"),
            "stop_tokens": stop_tokens,
            "stream": body.get("stream") is True,
            "usage": isinstance(options, dict) and options.get("include_usage") is True,
            "ids": body.get("return_token_ids") is True,
        }

    def read_prompt(self, prompt):
        if isinstance(prompt, list) and len(prompt) == 1 and not isinstance(prompt[0], int):
            prompt = prompt[0]
        if isinstance(prompt, str):
            return self.vocabulary.encode(prompt)
        tokens = range(len(self.vocabulary))
        if isinstance(prompt, list) and all(isinstance(token, int) and token in tokens for token in prompt):
            return prompt
        raise HttpError(400, f"prompt is a text, or a list of tokens from 0 to {len(tokens) - 1}; one prompt in a request")

    async def answer_whole(self, live, answer, form):
        pieces = [piece async for piece in self.pieces_of(live)]
        whole = Piece("".join(piece.text for piece in pieces), [token for piece in pieces for token in piece.tokens], live.reason)
        answer.send(200, form.whole(whole, live.output))
        live.sent_ns.append(time.monotonic_ns())

    async def answer_stream(self, live, answer, form):
        first = True
        async for piece in self.pieces_of(live):
            if first:
                answer.begin_stream()
            await answer.send_event(json.dumps(form.chunk(piece, first)))
            live.sent_ns.append(time.monotonic_ns())
            first = False
        if form.wanted["usage"]:
            await answer.send_event(json.dumps(form.usage_chunk(live.output)))
        await answer.send_event("[DONE]")
        answer.end_stream()

    async def pieces_of(self, live):
        piece = None
        while piece is None or not piece.reason:
            piece = await live.pieces.get()
            if piece is None:
                raise ConnectionResetError("the client has gone")
            yield piece

    # What comes from the scheduler.

    def send(self, message):
        if not self.to_scheduler.is_closing():  # as it is when the engine ends
            self.to_scheduler.write(wire.pack(message))

    def take(self, message):
        """What one step wrote, of all requests."""
        told, self.figures.state = message
        if not told:
            return
        with self.marks.range("detokenise"):
            for id, token, reason, times in told:
                live = self.live[id]
                if token is not None and not live.reason:
                    self.take_token(live, token, reason)
                if times:
                    self.finish(live, reason, times)

    def take_token(self, live, token, reason):
        begin_ns = time.monotonic_ns()
        text = live.detokeniser.text_of(token)
        while time.monotonic_ns() - begin_ns < self.options.slow_detokenise * 1e6:
            text.encode()  # a planted fault
        now_ns = time.monotonic_ns()
        live.detokenised_ns += now_ns - begin_ns
        if live.token_ns:
            self.figures.observe("inter_token_latency_seconds", now_ns - live.token_ns[-1])
        else:
            self.figures.observe("time_to_first_token_seconds", now_ns - live.arrived_ns)
        live.token_ns.append(now_ns)
        live.take(text, token, reason)
        if live.reason == "stop" and reason is None:
            self.send(("cancel", live.id, "stop"))

    def finish(self, live, reason, times):
        del self.live[live.id]
        reason = live.reason or reason
        self.marks.mark(f"request detokenised id={live.id} tokens={live.output} us={live.detokenised_ns // 1000}")
        self.figures.finished[reason] = self.figures.finished.get(reason, 0) + 1
        self.figures.prompt_tokens += len(live.wanted["prompt"])
        self.figures.generation_tokens += live.output
        self.figures.preemptions += len(times["preempted_ns"])
        if times["scheduled_ns"]:
            self.figures.observe("request_queue_time_seconds", times["scheduled_ns"] - live.arrived_ns)
        if live.token_ns:
            self.figures.observe("e2e_request_latency_seconds", live.token_ns[-1] - live.arrived_ns)
        live.end = {"reason": reason, **times}
        self.write_record(live)

    def write_record(self, live):
        """Once the scheduler has told the end and the last token has gone out, whichever comes last."""
        if live.end and live.answered:
            prompt, most = len(live.wanted["prompt"]), live.wanted["most"]
            tokens = {"prompt_tokens": prompt, "most_tokens": most, "output_tokens": live.output}
            times = {name: getattr(live, name) for name in ("read_ns", "arrived_ns", "token_ns", "sent_ns", "detokenised_ns")}
            self.records.write("request", id=live.id, name=live.name, **tokens, **live.end, **times)


class Form:
    """How an answer looks: a completion's or a chat's, whole or in chunks."""

    def __init__(self, model, name, chat, wanted):
        self.chat, self.wanted = chat, wanted
        self.common = {"id": ("chatcmpl-" if chat else "cmpl-") + name, "created": int(time.time()), "model": model}

    def whole(self, piece, output):
        content = {"message": {"role": "assistant", "content": piece.text}} if self.chat else {"text": piece.text}
        kind = "chat.completion" if self.chat else "text_completion"
        return {**self.common, "object": kind, "choices": [self._choice(content, piece)], "usage": self._usage(output)}

    def chunk(self, piece, first):
        delta = {**({"role": "assistant"} if first else {}), "content": piece.text}
        return {**self.common, "object": self._kind_of_chunk(), "choices": [self._choice({"delta": delta} if self.chat else {"text": piece.text}, piece)]}

    def usage_chunk(self, output):
        return {**self.common, "object": self._kind_of_chunk(), "choices": [], "usage": self._usage(output)}

    def _kind_of_chunk(self):
        return "chat.completion.chunk" if self.chat else "text_completion"

    def _choice(self, content, piece):
        ids = {"token_ids": piece.tokens} if self.wanted["ids"] else {}
        return {"index": 0, **content, **ids, "logprobs": None, "finish_reason": piece.reason}

    def _usage(self, output):
        prompt = len(self.wanted["prompt"])
        return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}

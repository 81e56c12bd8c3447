"""The parts of workloads/serve that need no process: blocks, batches, words, marks, and the model."""

import itertools
import json
import os
import pathlib
import random
import sys
import tempfile
import types
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "workloads" / "serve"))

from api import Live, chat_text  # noqa: E402 (the folder is named above)
from batching import Batcher, BlockPool, Entry, Request  # noqa: E402
from figures import Histogram  # noqa: E402
from marks import Marks, Records, step_marks, step_name  # noqa: E402
from plain_model import PlainModel  # noqa: E402
from web import HttpError  # noqa: E402
from words import BYTES, Vocabulary  # noqa: E402


def entry(id, kind, tokens):
    return Entry(id, kind, 0, [0] * tokens, [], True)


class BlockPoolTest(unittest.TestCase):
    def test_blocks_are_as_many_as_the_tokens_need(self):
        pool, blocks = BlockPool(4, 16), []
        for tokens, expected in ((1, 1), (16, 1), (17, 2), (40, 3), (5, 3)):
            self.assertTrue(pool.extend(blocks, tokens))
            self.assertEqual((len(blocks), pool.free), (expected, 4 - expected))

    def test_nothing_is_taken_where_too_few_are_free(self):
        pool, first, second = BlockPool(4, 16), [], []
        self.assertTrue(pool.extend(first, 48))
        self.assertFalse(pool.extend(second, 32))
        self.assertEqual((second, pool.free), ([], 1))
        pool.give_back(first)
        self.assertEqual((first, pool.free), ([], 4))


class Load:
    """Requests that come and go at random, and a worker whose tokens follow from what a request has so far."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.blocks = self.random.randint(6, 40)
        self.pool = BlockPool(self.blocks, self.random.choice((1, 2, 4, 16)))
        max_batch = self.random.randint(1, 8)
        self.batcher = Batcher(self.pool, max_batch, self.random.randint(max_batch, 24))
        room = self.blocks * self.pool.block_tokens
        self.coming = []
        for id in range(self.random.randint(1, 20)):
            prompt = [self.random.randrange(1000) for _ in range(self.random.randint(1, max(room // 2, 1)))]
            self.coming.append(Request(id, prompt, self.random.randint(1, max(min(room - len(prompt), 30), 1))))
        self.requests = list(self.coming)
        self.cancelled, self.done, self.computed, self.read_until = set(), {}, {}, {}
        self.admitted, self.preemptions = [], 0

    @staticmethod
    def next_token(tokens):
        return (31 * tokens[-1] + len(tokens)) % 1000

    def expected(self, request):
        tokens = list(request.prompt)
        for _ in range(request.most):
            tokens.append(self.next_token(tokens))
        return tokens[len(request.prompt) :]

    def step(self, test):
        while self.coming and self.random.random() < 0.4:
            self.batcher.add(self.coming.pop(0))
        running = list(self.batcher.running)
        step = self.batcher.plan()
        self.check(test, step, running)
        sampled = {}
        for each in step.entries:
            if each.samples:
                request = self.requests[each.id]
                sampled[each.id] = self.next_token(request.prompt + request.output)
        if self.random.random() < 0.05:
            self.cancel()
        for request, token, reason in self.batcher.complete(step, sampled):
            test.assertEqual(token, sampled[request.id])
            if reason:
                test.assertNotIn(request.id, self.done)
                self.done[request.id] = reason

    def cancel(self):
        id = self.random.randrange(len(self.requests))
        if self.batcher.cancel(id):
            self.cancelled.add(id)

    def check(self, test, step, running):
        owned = [block for request in self.requests for block in request.blocks]
        test.assertEqual(len(owned), len(set(owned)), "a block was given twice")
        test.assertEqual(len(owned) + self.pool.free, self.blocks, "a block was lost")
        test.assertLessEqual(sum(len(each.tokens) for each in step.entries), self.batcher.chunk_tokens)
        test.assertLessEqual(len(self.batcher.running), self.batcher.max_batch)
        order = [request.id for queue in (self.batcher.running, self.batcher.waiting) for request in queue]
        test.assertEqual(order, sorted(order), "first come, first served")
        test.assertFalse(step.preempted and step.admitted, "blocks are given to others in the step that took them")
        test.assertEqual(step.preempted, running[len(running) - len(step.preempted) :][::-1], "the youngest go first")
        for request in step.preempted:
            self.computed[request.id] = 0
        self.preemptions += len(step.preempted)
        self.admitted += [request.id for request in step.admitted if request.id not in self.admitted]
        for each in step.entries:
            request = self.requests[each.id]
            test.assertEqual(each.start, self.computed.get(each.id, 0), "a token was left out or computed twice")
            test.assertEqual(each.tokens, (request.prompt + request.output)[each.start : each.start + len(each.tokens)])
            test.assertGreaterEqual(len(each.blocks) * self.pool.block_tokens, each.start + len(each.tokens))
            if each.start == 0:
                self.read_until[each.id] = request.known  # what is known when it begins, or begins again
            test.assertEqual(each.kind == "decode", each.start >= self.read_until[each.id])
            self.computed[each.id] = each.start + len(each.tokens)


class BatcherTest(unittest.TestCase):
    def test_random_loads(self):
        preemptions = cancelled = 0
        for seed in range(100):
            with self.subTest(seed):
                load = Load(seed)
                for _ in range(3000):
                    if not load.coming and not len(load.batcher):
                        break
                    load.step(self)
                preemptions += load.preemptions
                cancelled += len(load.cancelled)
                self.assertEqual(set(load.done) | load.cancelled, set(range(len(load.requests))), "not all finished")
                self.assertEqual(load.pool.free, load.blocks)
                self.assertEqual(load.admitted, sorted(load.admitted), "first come, first served")
                for id in load.done:
                    self.assertEqual(load.requests[id].output, load.expected(load.requests[id]))
        self.assertGreater(preemptions, 100)
        self.assertGreater(cancelled, 20)

    def plans(self, batcher, steps, token=7):
        """What each step does, as its name and its ids."""
        found = []
        for _ in range(steps):
            step = batcher.plan()
            found.append((step_name(step.entries), [each.id for each in step.entries]))
            batcher.complete(step, {each.id: token for each in step.entries if each.samples})
        return found

    def test_a_long_prompt_is_read_in_chunks_beside_a_decode(self):
        batcher = Batcher(BlockPool(64, 16), 4, 32)
        batcher.add(Request(1, [0] * 10, 9))
        batcher.add(Request(2, [0] * 60, 2))
        self.assertEqual(self.plans(batcher, 4), [
            ("execute_context_2(32)_generation_0(0)", [1, 2]),  # 10, and 22 of 60
            ("execute_context_1(31)_generation_1(1)", [1, 2]),
            ("execute_context_1(7)_generation_1(1)", [1, 2]),
            ("execute_context_0(0)_generation_2(2)", [1, 2]),
        ])  # fmt: skip

    def test_the_youngest_is_preempted_and_reads_its_output_again(self):
        batcher = Batcher(BlockPool(4, 4), 4, 32)
        old, young = Request(1, [0] * 7, 9), Request(2, [0] * 7, 4)
        batcher.add(old)
        batcher.add(young)
        self.plans(batcher, 2)  # both have all four blocks now, and both are full
        step = batcher.plan()
        self.assertEqual(step.preempted, [young])
        self.assertEqual([each.id for each in step.entries], [1])
        self.assertEqual((young.blocks, young.computed, list(batcher.waiting)), ([], 0, [young]))
        batcher.complete(step, {1: 7})
        for _ in range(6):
            batcher.complete(batcher.plan(), {1: 7})
        self.assertEqual(len(old.output), 9)
        step = batcher.plan()
        self.assertEqual([each[:4] for each in step.entries], [(2, "prefill", 0, [0] * 7 + [7, 7])])

    def test_what_waits_is_not_overtaken_by_smaller_requests(self):
        batcher = Batcher(BlockPool(4, 4), 4, 32)
        batcher.add(Request(1, [0] * 8, 4))
        batcher.add(Request(2, [0] * 12, 1))
        batcher.add(Request(3, [0], 1))
        self.assertEqual([each.id for each in batcher.plan().entries], [1])

    def test_a_cancelled_request_gives_its_blocks_back(self):
        pool = BlockPool(8, 4)
        batcher = Batcher(pool, 2, 32)
        for id in (1, 2, 3):
            batcher.add(Request(id, [0] * 8, 4))
        step = batcher.plan()
        self.assertEqual(pool.free, 4)
        self.assertEqual(batcher.cancel(2).id, 2)  # while the worker computes it
        self.assertEqual(batcher.cancel(3).id, 3)  # while it waits
        self.assertEqual(pool.free, 6)
        self.assertEqual([(request.id, token) for request, token, _ in batcher.complete(step, {1: 5, 2: 6})], [(1, 5)])
        self.assertIsNone(batcher.cancel(2))
        self.assertEqual(len(batcher), 1)

    def test_a_stop_token_ends_a_request(self):
        batcher = Batcher(BlockPool(8, 4), 2, 32)
        batcher.add(Request(1, [0], 9, stop_tokens=[5]))
        self.assertEqual(batcher.complete(batcher.plan(), {1: 4})[0][1:], (4, None))
        self.assertEqual(batcher.complete(batcher.plan(), {1: 5})[0][1:], (5, "stop"))
        self.assertEqual((len(batcher), batcher.pool.free), (0, 8))

    def test_a_request_that_can_never_run_is_refused(self):
        batcher = Batcher(BlockPool(4, 4), 2, 32)
        for prompt, most in (([0] * 10, 7), ([], 1), ([0], 0)):
            with self.assertRaises(ValueError):
                batcher.add(Request(1, prompt, most))
        batcher.add(Request(1, [0] * 10, 6))


class WordsTest(unittest.TestCase):
    def test_decoding_gives_the_text_back(self):
        vocabulary = Vocabulary(512)
        letters = " \n.,'ABCxyzäß€😀\x00" + " the and"
        chance = random.Random(1)
        texts = [" the quick road", "the The THE  the", "don't stop", "", *("".join(chance.choices(letters, k=40)) for _ in range(200))]
        for text in texts:
            self.assertEqual(vocabulary.decode(vocabulary.encode(text)), text)

    def test_a_known_word_is_a_token(self):
        vocabulary = Vocabulary(512)
        self.assertEqual(len(vocabulary.encode(" you and the road")), 4)
        self.assertEqual(len(vocabulary.encode(" xylophone")), 10)

    def test_every_token_has_its_own_text(self):
        for size in (512, 8192):
            vocabulary = Vocabulary(size)
            self.assertEqual(len(vocabulary), size)
            self.assertEqual(len({vocabulary.bytes_of(token) for token in range(size)}), size)


class MarksTest(unittest.TestCase):
    def test_a_step_is_named_as_vllm_names_it(self):
        entries = [entry(1, "prefill", 500), entry(2, "prefill", 12), entry(3, "decode", 1)]
        self.assertEqual(step_name(entries), "execute_context_2(512)_generation_1(1)")
        self.assertEqual(step_marks(4, entries), ["step index=4 requests=1:prefill:500,2:prefill:12,3:decode:1"])

    def test_long_steps_are_several_marks(self):
        entries = [entry(1000000 + id, "decode", 1) for id in range(1000)]
        marks = step_marks(123456, entries)
        self.assertGreater(len(marks), 4)
        self.assertLessEqual(max(map(len, marks)), 4000)
        heads = [f"step index=123456 part={number}/{len(marks)} requests=" for number in range(1, len(marks) + 1)]
        for head, mark in zip(heads, marks):
            self.assertTrue(mark.startswith(head), mark)
        items = ",".join(mark[len(head) :] for head, mark in zip(heads, marks)).split(",")
        self.assertEqual(items, [f"{each.id}:decode:1" for each in entries])

    def test_through_torch_the_ranges_have_no_domain_and_the_marks_a_literal_one(self):
        calls = []
        torch, core = types.ModuleType("torch"), types.ModuleType("torch._C")
        core._nvtx = types.SimpleNamespace(rangePushA=lambda text: calls.append(text), rangePop=lambda: calls.append("pop"))
        torch.cuda = types.SimpleNamespace(nvtx=types.SimpleNamespace(range_push=None, range_pop=None, mark=lambda text: calls.append(text)))
        sys.modules.pop("nl_stage_nvtx", None)  # it chooses once
        self.addCleanup(sys.modules.pop, "nl_stage_nvtx", None)
        with unittest.mock.patch.dict(sys.modules, {"nvtx": None, "torch": torch, "torch._C": core}):
            marks = Marks()
            self.assertEqual(marks.backend, "torch")
            with self.assertRaises(ValueError), marks.range("execute_context_0(0)_generation_1(1)"), marks.range("forward"):
                marks.mark("request queued id=1")
                raise ValueError
        self.assertEqual(calls, ["execute_context_0(0)_generation_1(1)", "forward", "LLM@request queued id=1", "pop", "pop"])
        self.assertFalse(Marks(wanted=False).on)

    def test_records_of_two_writers_do_not_mix(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "records")
            first, second = Records(path), Records(path)
            for number in range(50):
                first.write("step", index=number)
                second.write("request", id=number)
            with open(path) as file:
                self.assertEqual([json.loads(line)["record"] for line in file], ["step", "request"] * 50)
        Records(None).write("step", index=1)  # none are wanted


class FiguresTest(unittest.TestCase):
    def test_a_histogram_counts_what_is_at_most_its_bound(self):
        histogram = Histogram()
        for seconds in (0.001, 0.0011, 0.3, 1000):
            histogram.observe(seconds)
        lines = dict(line.rsplit(" ", 1) for line in histogram.lines("x"))
        found = [lines[f'x_bucket{{le="{bound}"}}'] for bound in ("0.001", "0.0025", "0.25", "0.5", "100", "+Inf")]
        self.assertEqual(found, ["1", "2", "2", "3", "3", "4"])
        self.assertEqual((lines["x_count"], lines["x_sum"]), ("4", "1000.302100000"))


class ApiTest(unittest.TestCase):
    def pieces(self, texts, stop):
        live = Live(1, "name", {"stop": stop}, None)
        for at, text in enumerate(texts):
            if not live.reason:
                live.take(text, at, "length" if at == len(texts) - 1 else None)
        return [live.pieces.get_nowait() for _ in range(live.pieces.qsize())]

    def test_text_ends_before_a_stop_string(self):
        for stop, expected in (([" c"], " a b"), (["b c"], " a "), (["nowhere"], " a b c d"), ([" d", "b"], " a "), ([], " a b c d")):
            pieces = self.pieces([" a", " b", " c", " d"], stop)
            self.assertEqual("".join(piece.text for piece in pieces), expected)
            self.assertEqual(pieces[-1].reason, "stop" if expected != " a b c d" else "length")
            self.assertEqual([piece.reason for piece in pieces[:-1]], [None] * (len(pieces) - 1))

    def test_what_may_begin_a_stop_string_is_held_back(self):
        self.assertEqual([piece.text for piece in self.pieces([" a", " b", " x", " d"], [" b c"])], ["", " ", "a ", "b x d"])

    def test_a_chat_is_a_text(self):
        text = chat_text([{"role": "system", "content": "be kind"}, {"role": "user", "content": [{"type": "text", "text": "hello"}]}])
        self.assertEqual(text, " system: be kind\n user: hello\n assistant:")
        for wrong in (None, [], ["hello"], [{"role": "user"}]):
            with self.assertRaises(HttpError):
                chat_text(wrong)


class ModelTest(unittest.TestCase):
    SETTINGS = {"seed": 3, "block_tokens": 4, "context_tokens": 64, "vocabulary": 512, "width": 128, "layers": 2, "dtype": "float32", "torch_device": "cpu"}

    def outputs(self, make_model, prompts, blocks, max_batch, chunk_tokens, **more):
        """What each prompt is followed by, and how many were preempted."""
        model = make_model({**self.SETTINGS, "blocks": blocks, "max_batch": max_batch, **more})
        batcher = Batcher(BlockPool(blocks, 4), max_batch, chunk_tokens)
        requests = [Request(id, prompt, 8) for id, prompt in enumerate(prompts)]
        preempted = 0
        for request in requests:
            batcher.add(request)
        for _ in range(1000):
            if not len(batcher):
                break
            step = batcher.plan()
            preempted += len(step.preempted)
            batcher.complete(step, model.sample(model.forward(model.prepare(step.entries))))
        return [request.output for request in requests], preempted

    def check_outputs(self, make_model, **more):
        chance = random.Random(5)
        prompts = [[chance.randrange(512) for _ in range(length)] for length in (1, 3, 9, 14, 20)]
        alone = [self.outputs(make_model, [prompt], 16, 1, 64)[0][0] for prompt in prompts]
        self.assertEqual(len(set(map(tuple, alone))), len(prompts), "outputs that do not depend on the prompt")
        self.assertTrue(all(token >= BYTES for token in itertools.chain(*alone)))
        for blocks, max_batch, chunk_tokens, preempts in ((64, 5, 64, False), (64, 5, 7, False), (64, 2, 64, False), (9, 5, 64, True)):
            with self.subTest(blocks=blocks, max_batch=max_batch, chunk_tokens=chunk_tokens):
                together, preempted = self.outputs(make_model, prompts, blocks, max_batch, chunk_tokens, **more)
                self.assertEqual(together, alone)
                self.assertEqual(preempted > 0, preempts)

    def test_an_output_is_the_same_alone_in_a_batch_in_chunks_and_preempted(self):
        self.check_outputs(PlainModel)

    def test_a_seed_makes_the_weights(self):
        prompt = [[300, 301, 302]]
        first, again, other = (self.outputs(PlainModel, prompt, 16, 1, 64, seed=seed)[0] for seed in (3, 3, 4))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_the_same_with_torch(self):
        try:
            from torch_model import TorchModel
        except ImportError:
            self.skipTest("no torch")
        for graphs in (False, True):
            self.check_outputs(lambda settings, graphs=graphs: TorchModel({**settings, "graphs": graphs}), graphs=graphs)


if __name__ == "__main__":
    unittest.main(verbosity=2)

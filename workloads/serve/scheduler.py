"""The process between the API and the workers: it decides what each step computes."""

import select
import time

from batching import Batcher, BlockPool, Request
from marks import Marks, Records


def tidy_queue(waiting, milliseconds):
    """A planted fault: sorts what is in order already, again and again."""
    until = time.monotonic() + milliseconds / 1000
    while time.monotonic() < until:
        sorted(waiting, key=lambda request: request.id)


class Lane:
    """A worker, its blocks, and the requests that are its own."""

    def __init__(self, number, worker, settings, options, marks, records):
        self.number, self.worker, self.marks, self.records = number, worker, marks, records
        self.batcher = Batcher(BlockPool(settings["blocks"], settings["block_tokens"]), settings["max_batch"], settings["chunk_tokens"])
        self.slow_schedule_ms = options.slow_schedule
        self.step, self.steps = None, 0  # the step that the worker computes, and how many there were

    def begin_step(self):
        """Where the worker is idle and there is something to compute."""
        if self.step or not len(self.batcher):
            return
        begin_ns = time.monotonic_ns()
        with self.marks.range("schedule"):
            if self.slow_schedule_ms:
                tidy_queue(self.batcher.waiting, self.slow_schedule_ms)
            self.step = self.batcher.plan()
        end_ns = time.monotonic_ns()
        for request in self.step.preempted:
            request.preempted_ns.append(end_ns)
            self.marks.mark(f"request preempted id={request.id} tokens={request.known}")
        for request in self.step.admitted:
            request.scheduled_ns = request.scheduled_ns or end_ns
            self.marks.mark(f"request scheduled id={request.id} again={len(request.preempted_ns)}")
        self.worker.send((self.steps, self.step.entries))
        state = {"running": len(self.batcher.running), "waiting": len(self.batcher.waiting), "blocks_free": self.batcher.pool.free}
        preempted = [request.id for request in self.step.preempted]
        self.records.write("schedule", worker=self.number, index=self.steps, begin_ns=begin_ns, end_ns=end_ns, **state, preempted=preempted)
        self.steps += 1

    def end_step(self, message):
        """What the API is told: id, token, why the request ends with it or None, and then its times."""
        now_ns = time.monotonic_ns()
        step, self.step = self.step, None
        told = []
        for request, token, reason in self.batcher.complete(step, message[1]):
            if request.first_token_ns is None:
                request.first_token_ns = now_ns
                self.marks.mark(f"request first_token id={request.id}")
            told.append(self._tell(request, token, reason, now_ns))
        return told

    def cancel(self, id, reason):
        request = self.batcher.cancel(id)
        return [self._tell(request, None, reason, time.monotonic_ns())] if request else []

    def _tell(self, request, token, reason, now_ns):
        times = None
        if reason:
            self.marks.mark(f"request finished id={request.id} tokens={len(request.output)} reason={reason}")
            times = {name: getattr(request, name) for name in ("queued_ns", "scheduled_ns", "first_token_ns", "preempted_ns")}
            times.update(worker=self.number, finished_ns=now_ns)
        return request.id, token, reason, times


class Scheduling:
    def __init__(self, options, api, workers):
        self.api, self.marks = api, Marks(options.marks)
        settings = [worker.receive() for worker in workers]
        if None in settings:
            raise ConnectionError("a worker is gone")
        records = Records(options.records)
        self.lanes = [Lane(number, worker, settings[number], options, self.marks, records) for number, worker in enumerate(workers)]
        self.lane_of = {worker: lane for worker, lane in zip(workers, self.lanes)}
        self.settings = settings[0]

    def run(self):
        """Until the process behind one of the channels is gone."""
        self.api.send(self.settings)
        while True:
            for lane in self.lanes:
                lane.begin_step()
            for channel in select.select([self.api, *self.lane_of], [], [])[0]:
                message = channel.receive()
                if message is None:
                    return
                told = self._take(message) if channel is self.api else self.lane_of[channel].end_step(message)
                self.api.send((told, self._state()))

    def _take(self, message):
        if message[0] == "cancel":
            return [each for lane in self.lanes for each in lane.cancel(*message[1:])]
        id, prompt, most, stop_tokens = message[1:]
        request = Request(id, prompt, most, stop_tokens)
        request.queued_ns = time.monotonic_ns()
        self.marks.mark(f"request queued id={id}")
        min(self.lanes, key=lambda lane: len(lane.batcher)).batcher.add(request)
        return []

    def _state(self):
        """What the gauges of the API show."""
        batchers = [lane.batcher for lane in self.lanes]
        return {
            "running": sum(len(batcher.running) for batcher in batchers),
            "waiting": sum(len(batcher.waiting) for batcher in batchers),
            "blocks": sum(batcher.pool.count for batcher in batchers),
            "blocks_free": sum(batcher.pool.free for batcher in batchers),
        }


def run(options, api, workers):
    """api, workers: the channels to them."""
    Scheduling(options, api, workers).run()

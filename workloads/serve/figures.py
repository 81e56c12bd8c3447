"""The figures of GET /metrics, in Prometheus' text format, named as vLLM's after the colon."""

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100)
PREFIX = "nl_serve:"

HISTOGRAMS = {
    "request_queue_time_seconds": "from the arrival of a request to its first step",
    "time_to_first_token_seconds": "from the arrival of a request to the text of its first token",
    "inter_token_latency_seconds": "from the text of a token to that of the next, of one request",
    "e2e_request_latency_seconds": "from the arrival of a request to the text of its last token",
}


class Histogram:
    def __init__(self):
        self.counts, self.sum = [0] * (len(SECONDS) + 1), 0.0

    def observe(self, seconds):
        self.counts[sum(seconds > bound for bound in SECONDS)] += 1
        self.sum += seconds

    def lines(self, name):
        total = 0
        for bound, count in zip((*SECONDS, "+Inf"), self.counts):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self.sum:.9f}"
        yield f"{name}_count {total}"


class Figures:
    def __init__(self):
        self.histograms = {name: Histogram() for name in HISTOGRAMS}
        self.prompt_tokens = self.generation_tokens = self.preemptions = 0
        self.finished = {}  # how many requests, by reason
        self.state = {}  # as the scheduler told it last: running, waiting, blocks, blocks_free

    def observe(self, name, nanoseconds):
        self.histograms[name].observe(nanoseconds / 1e9)

    def text(self):
        lines = []
        for name, histogram in self.histograms.items():
            lines += [f"# HELP {PREFIX}{name} {HISTOGRAMS[name]}", f"# TYPE {PREFIX}{name} histogram", *histogram.lines(PREFIX + name)]
        for name in ("prompt_tokens", "generation_tokens"):
            lines += [f"# TYPE {PREFIX}{name}_total counter", f"{PREFIX}{name}_total {getattr(self, name)}"]
        lines += [f"# TYPE {PREFIX}num_preemptions_total counter", f"{PREFIX}num_preemptions_total {self.preemptions}"]
        lines += [f"# TYPE {PREFIX}request_success_total counter"]
        lines += [f'{PREFIX}request_success_total{{finished_reason="{reason}"}} {count}' for reason, count in sorted(self.finished.items())]
        state = self.state
        used = 1 - state["blocks_free"] / state["blocks"]
        for name, value in {"num_requests_running": state["running"], "num_requests_waiting": state["waiting"], "kv_cache_usage_perc": used}.items():
            lines += [f"# TYPE {PREFIX}{name} gauge", f"{PREFIX}{name} {value:g}"]
        return "\n".join(lines) + "\n"

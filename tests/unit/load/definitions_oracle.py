#!/usr/bin/env python3
"""Computes the figures of five load generators again, from the records that nl-stage load wrote, and compares its report.

    definitions_oracle.py RECORDS REPORT [FIGURE=NANOSECONDS ...]

It shares no code with nl-stage: it is written after the sources of the tools, of which it names the place. Prints each difference; status 1 if there is one.
"""
import json
import sys
from fractions import Fraction

TOLERANCE = 1e-9  # of a sum of doubles in another order


def numpy_percentile(values, percent):
    """numpy.percentile() by its default method, "linear"."""
    values = sorted(values)
    place = Fraction(percent, 100) * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return float(values[below] + (values[above] - values[below]) * (place - below))


def rank_percentile(values, percent):
    values = sorted(values)
    return float(values[max(1, -(-len(values) * percent // 100)) - 1])


def guidellm_percentile(pairs, percent):
    """guidellm/schemas/statistics.py, Percentiles.from_pdf: searchsorted(cumsum(probabilities), share, side="left")."""
    pairs = sorted((value, weight) for value, weight in pairs if weight > 0)
    total, reached = sum(weight for _, weight in pairs), 0
    for value, weight in pairs:
        reached += weight
        if Fraction(reached, total) >= Fraction(percent, 100):
            return float(value)
    raise AssertionError(pairs)


class Request:
    def __init__(self, row):
        self.row = row
        self.chunks = list(zip(row['chunk_ns'], row['chunk_kinds']))
        contents = [at for at, kind in self.chunks if kind != 'e']
        self.tokens = row['output_tokens'] if row['output_tokens'] is not None else len(contents)
        self.end = row['end_ns'] - row['sent_ns']

    def times(self, kinds):
        return [at for at, kind in self.chunks if kind in kinds]


class Own:
    """nl-stage: docs/load.md."""
    kinds = 'trc'

    def ttft(self, request):
        return request.times(self.kinds)[:1]

    def tpot(self, request):
        times = request.times(self.kinds)
        return [Fraction(times[-1] - times[0], request.tokens - 1)] if times and request.tokens > 1 else []

    def itl(self, request):
        times = request.times(self.kinds)
        return [later - earlier for earlier, later in zip(times, times[1:])]

    def e2e(self, request):
        return [request.end]

    def normalised_tpot(self, request):
        return []

    def percentile(self, pairs, percent):
        values = [value for value, _ in pairs]
        return numpy_percentile(values, percent) if percent == 50 else rank_percentile(values, percent)

    def weight(self, figure, request):
        return 1


class Vllm(Own):
    """vllm/benchmarks/serve.py calculate_metrics(), lib/endpoint_request_func.py: any event with choices is a token, and the last is the end."""
    kinds = 'etrc'

    def e2e(self, request):
        return request.times(self.kinds)[-1:]

    def percentile(self, pairs, percent):
        return numpy_percentile([value for value, _ in pairs], percent)


class Aiperf(Vllm):
    """aiperf/metrics/types/: ttft_metric, request_latency_metric, inter_token_latency_metric; openai_parsers.py drops what has no text or reasoning."""
    kinds = 'tr'

    def tpot(self, request):
        return []

    def itl(self, request):
        if request.tokens < 2 or not self.ttft(request):
            return []
        return [Fraction(self.e2e(request)[0] - self.ttft(request)[0], request.tokens - 1)]


class GuideLlm(Own):
    """src/guidellm/schemas/request_stats.py, benchmark/schemas/metrics.py for the weights."""

    def tpot(self, request):
        times = request.times(self.kinds)
        return [Fraction(times[-1], request.tokens)] if times and request.tokens else []

    def itl(self, request):
        times = request.times(self.kinds)
        return [Fraction(times[-1] - times[0], request.tokens - 1)] if times and request.tokens > 1 else []

    def weight(self, figure, request):
        return {'tpot': request.tokens, 'itl': request.tokens - 1}.get(figure, 1)

    def percentile(self, pairs, percent):
        return guidellm_percentile(pairs, percent)


class InferencePerf(Vllm):
    """inference_perf/reportgen/base.py summarize_requests(), apis/streaming_parser.py: chunks with text, of answers with two of them."""
    kinds = 't'

    def ttft(self, request):
        return request.times('t')[:1] if len(request.times('t')) > 1 else []

    def tpot(self, request):
        times = request.times('t')
        return [Fraction(times[-1] - times[0], request.tokens - 1)] if len(times) > 1 and request.tokens > 1 else []

    def e2e(self, request):
        return [request.end]

    def normalised_tpot(self, request):
        return [Fraction(request.end, request.tokens)] if request.tokens else []


TOOLS = {'nl-stage': Own(), 'vllm': Vllm(), 'aiperf': Aiperf(), 'guidellm': GuideLlm(), 'inference-perf': InferencePerf()}
FIGURES = ['ttft', 'tpot', 'itl', 'e2e', 'normalised_tpot']


def is_good(name, tool, request, limits):
    """vLLM: a request of one token has a TPOT of 0. aiperf and inference-perf: a figure that is missing breaks its limit."""
    for figure, limit in limits.items():
        values = getattr(tool, figure)(request)
        value = sum(values) / len(values) if values else None
        if value is None and name in ('aiperf', 'inference-perf'):
            return False
        if value is not None and value > limit:
            return False
    return True


def has_goodput(name, limits):
    return bool(limits) and name != 'guidellm' and not (name == 'vllm' and 'itl' in limits) and not (name == 'aiperf' and 'tpot' in limits)


def window_ns(name, records, rows, answered):
    if name == 'vllm':
        return records['duration_ns']
    if name == 'aiperf':
        # max_response_metric.py: the start and the request latency
        last = [request.row['sent_ns'] + at for request in answered for at in TOOLS[name].e2e(request)]
        return max(last) - min(request.row['sent_ns'] for request in answered)
    sent = [row for row in rows if row['sent_ns'] is not None and row['end_ns'] is not None]
    return max(row['end_ns'] for row in sent) - min(row['sent_ns'] for row in sent)


def expected(records, limits):
    rows = [row for row in records['requests'] if not row['warmup']]
    answered = [Request(row) for row in rows if row['outcome'] == 'answered']
    for name, tool in TOOLS.items():
        for figure in FIGURES:
            pairs = [(value, tool.weight(figure, request)) for request in answered for value in getattr(tool, figure)(request)]
            if pairs:
                yield (name, figure, 'n'), len(pairs)
                yield (name, figure, 'mean_ns'), float(sum(value * weight for value, weight in pairs) / sum(weight for _, weight in pairs))
                yield (name, figure, 'median_ns'), tool.percentile(pairs, 50)
                yield (name, figure, 'p99_ns'), tool.percentile(pairs, 99)
        if name != 'guidellm':
            seconds = window_ns(name, records, rows, answered) / 1e9
            yield (name, 'requests_per_s'), len(answered) / seconds
            yield (name, 'output_tokens_per_s'), sum(request.tokens for request in answered) / seconds
            if has_goodput(name, limits):
                yield (name, 'good_per_s'), sum(is_good(name, tool, request, limits) for request in answered) / seconds


def reported(load):
    for row in load['figures_by_tool']:
        for part in ('n', 'mean_ns', 'median_ns', 'p99_ns'):
            yield (row['tool'], row['figure'], part), row[part]
    for row in load['rates_by_tool']:
        for part in ('requests_per_s', 'output_tokens_per_s', 'good_per_s'):
            if row[part] is not None:
                yield (row['tool'], part), row[part]


def main():
    with open(sys.argv[1]) as file:
        records = json.load(file)
    with open(sys.argv[2]) as file:
        load = json.load(file)['loads'][0]
    limits = {word.split('=')[0]: int(word.split('=')[1]) for word in sys.argv[3:]}
    ours, theirs = dict(reported(load)), dict(expected(records, limits))
    faults = [f'{key}: {ours.get(key)}, and not {theirs.get(key)}' for key in sorted({*ours, *theirs}, key=str)
              if key not in ours or key not in theirs or abs(ours[key] - theirs[key]) > TOLERANCE * max(1, abs(theirs[key]))]
    print('\n'.join(faults) or f'{len(theirs)} figures')
    sys.exit(bool(faults) or not theirs)


main()

#include "analysis/load/definitions.h"

#include <algorithm>

#include "analysis/statistics/quantile.h"

namespace nl::analysis {
namespace {

using Value = std::optional<double>;

// Which chunks a tool takes for tokens. vLLM takes every choice, also one without text; inference-perf text alone.
bool counts(LoadTool tool, ChunkKind kind) {
  switch (tool) {
    case LoadTool::kVllm:
    case LoadTool::kSglang: return true;
    case LoadTool::kAiperf: return kind == ChunkKind::kText || kind == ChunkKind::kReasoning;
    case LoadTool::kInferencePerf: return kind == ChunkKind::kText;
    case LoadTool::kNlStage:
    case LoadTool::kGuideLlm: return kind != ChunkKind::kEmpty;
  }
  return false;
}

// When the chunks came that a tool looks at.
std::vector<Ns> times_of(LoadTool tool, const LoadRequest& request) {
  if (tool == LoadTool::kInferencePerf && !request.token_ns.empty()) return request.token_ns;
  std::vector<Ns> times;
  for (const LoadChunk& chunk : request.chunks)
    if (counts(tool, chunk.kind)) times.push_back(chunk.at_ns);
  return times;
}

// The times of one request that definitions are made of.
struct AnswerMoments {
  double first = 0, last = 0, tokens = 0;  // since it was sent
};

std::optional<AnswerMoments> moments_of(LoadTool tool, const LoadRequest& request) {
  const std::vector<Ns> times = times_of(tool, request);
  // inference-perf takes an answer of a single chunk for one that was not streamed.
  if (times.size() < (tool == LoadTool::kInferencePerf ? 2 : 1) || !request.sent_ns) return std::nullopt;
  // Times since the machine started do not fit a double to the nanosecond; those since the request was sent do.
  const auto since = [&](Ns at) { return static_cast<double>(at - *request.sent_ns); };
  return AnswerMoments{since(times.front()), since(times.back()), static_cast<double>(tokens_of(request))};
}

Value end_to_end(LoadTool tool, const LoadRequest& request) {
  const bool until_last_chunk = tool == LoadTool::kVllm || tool == LoadTool::kSglang || tool == LoadTool::kAiperf;
  if (until_last_chunk) {
    const auto moments = moments_of(tool, request);
    return moments ? Value(moments->last) : std::nullopt;
  }
  return request.end_ns && request.sent_ns ? Value(static_cast<double>(*request.end_ns - *request.sent_ns)) : std::nullopt;
}

// What comes after the first token, for each further token.
Value per_further_token(const AnswerMoments& moments) {
  return moments.tokens > 1 ? Value((moments.last - moments.first) / (moments.tokens - 1)) : std::nullopt;
}

Value time_per_token(LoadTool tool, const LoadRequest& request) {
  const auto moments = moments_of(tool, request);
  if (!moments || tool == LoadTool::kAiperf) return std::nullopt;  // aiperf calls it ITL
  if (tool == LoadTool::kGuideLlm) return moments->tokens > 0 ? Value(moments->last / moments->tokens) : std::nullopt;
  return per_further_token(*moments);
}

Value request_value(LoadTool tool, LoadFigure figure, const LoadRequest& request) {
  switch (figure) {
    case LoadFigure::kTtft: {
      const auto moments = moments_of(tool, request);
      return moments ? Value(moments->first) : std::nullopt;
    }
    case LoadFigure::kTpot: return time_per_token(tool, request);
    case LoadFigure::kItl: {
      const auto moments = moments_of(tool, request);
      return moments ? per_further_token(*moments) : std::nullopt;
    }
    case LoadFigure::kE2e: return end_to_end(tool, request);
    case LoadFigure::kNormalised: {
      const Value whole = tool == LoadTool::kInferencePerf ? end_to_end(tool, request) : std::nullopt;
      const auto tokens = static_cast<double>(tokens_of(request));
      return whole && tokens > 0 ? Value(*whole / tokens) : std::nullopt;
    }
  }
  return std::nullopt;
}

// aiperf and GuideLLM take one mean of each request, the others every gap.
bool pools_gaps(LoadTool tool) { return tool != LoadTool::kAiperf && tool != LoadTool::kGuideLlm; }

std::vector<double> gaps_of(LoadTool tool, const LoadRequest& request) {
  std::vector<double> gaps;
  const std::vector<Ns> times = times_of(tool, request);
  if (!request.every_chunk && request.token_ns.empty()) return gaps;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(static_cast<double>(times[i] - times[i - 1]));
  return gaps;
}

double weight_of(LoadTool tool, LoadFigure figure, const LoadRequest& request) {
  const auto tokens = static_cast<double>(tokens_of(request));
  if (tool != LoadTool::kGuideLlm) return 1;
  return figure == LoadFigure::kTpot ? tokens : figure == LoadFigure::kItl ? tokens - 1 : 1;
}

double share_of(const std::vector<WeightedValue>& values, LoadTool tool, double share) {
  if (tool == LoadTool::kGuideLlm) return weighted_quantile(values, share);
  std::vector<double> plain;
  for (const auto& [value, weight] : values) plain.push_back(value);
  if (tool != LoadTool::kNlStage) return linear_quantile(plain, share);
  return share == 0.5 ? linear_quantile(plain, share) : nearest_rank(plain, share);
}

}  // namespace

std::uint64_t content_chunks_of(const LoadRequest& request) {
  if (!request.every_chunk) return request.chunk_count;
  return static_cast<std::uint64_t>(
      std::count_if(request.chunks.begin(), request.chunks.end(), [](const LoadChunk& chunk) { return chunk.kind != ChunkKind::kEmpty; }));
}

std::uint64_t tokens_of(const LoadRequest& request) { return request.output_tokens.value_or(content_chunks_of(request)); }

std::vector<WeightedValue> values_of(LoadTool tool, LoadFigure figure, const Answered& requests) {
  std::vector<WeightedValue> values;
  for (const LoadRequest* request : requests) {
    if (figure == LoadFigure::kItl && pools_gaps(tool)) {
      for (const double gap : gaps_of(tool, *request)) values.emplace_back(gap, 1);
    } else if (const Value value = request_value(tool, figure, *request)) {
      values.emplace_back(*value, weight_of(tool, figure, *request));
    }
  }
  return values;
}

std::optional<ToolSpread> spread_by(LoadTool tool, std::vector<WeightedValue> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  double sum = 0, weights = 0;
  for (const auto& [value, weight] : values) sum += value * weight, weights += weight;
  return ToolSpread{values.size(), sum / weights, share_of(values, tool, 0.5), share_of(values, tool, 0.99)};
}

std::optional<bool> is_good(LoadTool tool, const LoadRequest& request, const LoadLimits& limits) {
  if (tool == LoadTool::kGuideLlm || !limits.any()) return std::nullopt;
  if ((tool == LoadTool::kVllm && limits.itl_ns) || (tool == LoadTool::kAiperf && limits.tpot_ns)) return std::nullopt;
  const auto mean_gap = [&]() -> Value {
    if (tool == LoadTool::kAiperf) return request_value(tool, LoadFigure::kItl, request);
    const std::vector<double> gaps = gaps_of(tool, request);
    if (gaps.empty()) return std::nullopt;
    double sum = 0;
    for (const double gap : gaps) sum += gap;
    return sum / static_cast<double>(gaps.size());
  };
  // A single token has no gaps: aiperf and inference-perf do not count such a request as good, vLLM and nl-stage do.
  const bool missing_is_good = tool == LoadTool::kNlStage || tool == LoadTool::kVllm;
  const auto keeps = [&](const std::optional<Ns>& limit, const Value& value) {
    return !limit || (value ? *value <= static_cast<double>(*limit) : missing_is_good);
  };
  return keeps(limits.ttft_ns, request_value(tool, LoadFigure::kTtft, request)) &&
         keeps(limits.tpot_ns, request_value(tool, LoadFigure::kTpot, request)) && keeps(limits.itl_ns, mean_gap()) &&
         keeps(limits.e2e_ns, request_value(tool, LoadFigure::kE2e, request));
}

}  // namespace nl::analysis

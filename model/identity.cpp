#include "model/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "model/program.h"
#include "model/stage.h"
#include "model/strings.h"

namespace nl {
namespace {

using enum IdentityPart;

// Prompts of a server vary in length, and with them the mean of a run by a few tokens. Another workload has prompts of far more or
// far less: the usual steps are twice the length.
constexpr double kSameLength = 0.05;
constexpr const char* kNoArguments = "none";  // which is known

// How a model is run, not how it is built.
constexpr std::array<std::string_view, 14> kNotShape = {"architecture",
                                                        "dtype",
                                                        "compute_dtype",
                                                        "quantization",
                                                        "batch_size",
                                                        "prompt_tokens",
                                                        "decode_tokens",
                                                        "image_tokens",
                                                        "sequence_tokens",
                                                        "attention_mask",
                                                        "output_head",
                                                        "gradient_checkpointing",
                                                        "attention_implementation",
                                                        "notes"};

std::string model_attribute(const Run& run, const char* key) {
  const auto found = run.model.attributes.find(key);
  return found != run.model.attributes.end() ? found->second : std::string();
}

std::string model_shape(const Run& run) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : run.model.attributes)
    if (std::find(kNotShape.begin(), kNotShape.end(), key) == kNotShape.end()) parts.push_back(key + "=" + value);
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string model_inputs(const Run& run) {
  std::vector<std::string> parts;
  if (run.session)
    for (const TensorInfo& input : run.session->inputs)
      parts.push_back(fmt::format("{}:{}[{}]", input.name, input.dtype, fmt::join(input.shape, "x")));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string batch_of(const Run& run) {
  return run.latency.batch ? fmt::format("{:g}", *run.latency.batch) : model_attribute(run, "batch_size");
}

// The tokens of one prompt, however many prompts a prefill takes at once.
std::string prompt_tokens_of(const Run& run) {
  if (const double told = std::strtod(model_attribute(run, "prompt_tokens").c_str(), nullptr); told > 0) return fmt::format("{:.0f}", told);
  const double batch = std::strtod(batch_of(run).c_str(), nullptr);
  for (const StageEntry& stage : run.stages)
    if (stage_kind(stage.name) == StageKind::kPrefill && stage.tokens_per_window)
      return fmt::format("{:.0f}", *stage.tokens_per_window / (batch > 0 ? batch : 1));
  return {};
}

// "4.1 requests/s, prompts of 130, answers of 32"; "8 users, …" of clients that wait for their answers. What the client says counts, else
// what came.
std::string load_of(const Run& run) {
  if (!run.serving || run.serving->arrived == 0 || run.serving->window_ns() <= 0) return {};
  const Serving& serving = *run.serving;
  const auto arrived = static_cast<double>(serving.arrived);
  const std::uint64_t ended = serving.count - serving.ended_after;
  const double answer = ended > 0 ? static_cast<double>(serving.output_tokens) / static_cast<double>(ended) : 0;
  const std::string lengths =
      fmt::format("prompts of {:.4g}, answers of {:.4g}", static_cast<double>(serving.prompt_tokens) / arrived, answer);
  if (serving.client && serving.client->concurrency) return fmt::format("{} users, {}", *serving.client->concurrency, lengths);
  const double measured = arrived / (static_cast<double>(serving.window_ns()) * 1e-9);
  const double rate = serving.client && serving.client->rate_per_s ? *serving.client->rate_per_s : measured;
  return fmt::format("{:.4g} requests/s, {}", rate, lengths);
}

constexpr double kSameLoad = 0.1;  // Poisson arrivals differ by so much between two windows of 100 requests

// By their words, and by their numbers where these differ by a tenth or more.
bool same_load(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view& text) {
    const std::size_t start = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view words = text.substr(0, start);
    text.remove_prefix(start);
    const std::size_t end = std::min(text.find_first_not_of("0123456789.e+-"), text.size());
    const double value = std::strtod(std::string(text.substr(0, end)).c_str(), nullptr);
    text.remove_prefix(end);
    return std::pair(words, value);
  };
  while (!a.empty() || !b.empty()) {
    const auto [words_a, of_a] = number(a);
    const auto [words_b, of_b] = number(b);
    if (words_a != words_b || std::abs(of_a - of_b) > kSameLoad * std::max(of_a, of_b)) return false;
  }
  return true;
}

// Of a type that has no code its text.
std::string precision_text(DataType type, const std::string& text) {
  if (type == DataType::kNone) return {};
  return type == DataType::kOther ? text : std::string(key_of(type));
}

bool is_precision(IdentityPart part) { return part == kPrecision || part == kCompute; }

bool is_length(IdentityPart part) { return part == kPromptTokens || part == kOutputTokens; }

// The power of two that is nearest: of prompts that vary, the mean is not the same twice.
std::string near_length(const std::string& tokens) {
  const double value = std::strtod(tokens.c_str(), nullptr);
  return value > 0 ? fmt::format("{:.0f}", std::exp2(std::round(std::log2(value)))) : tokens;
}

std::map<std::string, double> kernel_shares(const Run& run) {
  std::map<std::string, double> shares;
  double total = 0;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels) {
      const auto time = static_cast<double>(kernel.time.total_ns);
      shares[kernel.short_name] += time;
      total += time;
    }
  if (total > 0)
    for (auto& [name, share] : shares) share /= total;
  else shares.clear();
  return shares;
}

}  // namespace

WorkloadIdentity identity_of(const Run& run) {
  WorkloadIdentity identity;
  identity[kProgram] = program_of(run.workload.command);
  if (!run.workload.command.empty()) {
    const std::string arguments = arguments_of(run.workload.command);
    identity[kArguments] = arguments.empty() ? kNoArguments : arguments;
  }
  identity[kModel] = run.model.name.empty() && run.session ? run.session->model.substr(run.session->model.rfind('/') + 1) : run.model.name;
  identity[kDigest] = run.model.digest;
  identity[kArchitecture] = model_attribute(run, "architecture");
  identity[kShape] = model_shape(run);
  identity[kInputs] = model_inputs(run);
  ModelInfo model = run.model;
  if (model.weights_precision == DataType::kNone) find_precisions(model);
  identity[kPrecision] = precision_text(model.weights_precision, model.precision.empty() ? model_attribute(run, "dtype") : model.precision);
  identity[kCompute] = precision_text(model.compute_precision, model_attribute(run, "compute_dtype"));
  identity[kBatch] = batch_of(run);
  identity[kPromptTokens] = prompt_tokens_of(run);
  identity[kOutputTokens] = model_attribute(run, "decode_tokens");
  identity[kLoad] = load_of(run);
  return identity;
}

bool same_part(IdentityPart part, const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (part == kLoad) return same_load(a, b);
  if (is_precision(part)) return data_type_of(a) != DataType::kOther && data_type_of(a) == data_type_of(b);
  if (!is_length(part)) return false;
  const double of_a = std::strtod(a.c_str(), nullptr), of_b = std::strtod(b.c_str(), nullptr);
  return of_a > 0 && of_b > 0 && std::abs(of_a - of_b) <= kSameLength * std::max(of_a, of_b);
}

std::string identity_key(const WorkloadIdentity& identity) {
  std::string all;
  for (std::size_t i = 0; i < kIdentityParts; ++i) {
    const auto part = static_cast<IdentityPart>(i);
    const bool by_digest = part == kModel && !identity[kDigest].empty();
    if (!identity[part].empty() && !by_digest && part != kLoad)  // no two windows have quite the same
      all += fmt::format("{}={}\n", key_of(part), is_length(part) ? near_length(identity[part]) : identity[part]);
  }
  return all.empty() ? "" : stable_hash_text(all, 16);
}

std::vector<IdentityPart> differing_parts(const WorkloadIdentity& a, const WorkloadIdentity& b) {
  std::vector<IdentityPart> differing;
  const bool same_file = !a[kDigest].empty() && a[kDigest] == b[kDigest];
  for (std::size_t i = 0; i < kIdentityParts; ++i) {
    const auto part = static_cast<IdentityPart>(i);
    if (a[part].empty() || b[part].empty() || same_part(part, a[part], b[part])) continue;
    if (part != kModel || !same_file) differing.push_back(part);
  }
  return differing;
}

std::string identity_text(const WorkloadIdentity& identity) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) parts.push_back(text);
  };
  const std::string& arguments = identity[kArguments];
  add(identity[kProgram] + (identity[kProgram].empty() || arguments.empty() || arguments == kNoArguments ? "" : " " + arguments));
  add(!identity[kModel].empty() ? identity[kModel] : identity[kArchitecture]);
  add(identity[kInputs]);
  const bool computes_otherwise = !identity[kCompute].empty() && identity[kCompute] != identity[kPrecision];
  add(identity[kPrecision] + (computes_otherwise ? " (computes in " + identity[kCompute] + ")" : ""));
  if (!identity[kBatch].empty()) add("batch " + identity[kBatch]);
  if (!identity[kPromptTokens].empty()) add("prompts of " + identity[kPromptTokens] + " tokens");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<double> common_kernels(const Run& a, const Run& b) {
  const std::map<std::string, double> of_a = kernel_shares(a), of_b = kernel_shares(b);
  if (of_a.empty() || of_b.empty()) return std::nullopt;
  double common = 0;
  for (const auto& [name, share] : of_a)
    if (const auto found = of_b.find(name); found != of_b.end()) common += std::min(share, found->second);
  return std::min(1.0, common);
}

}  // namespace nl

#include "analysis/verdicts/rules/node_totals.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/operator.h"

namespace nl::analysis::rules {
namespace {

std::optional<std::size_t> step_of_table(const Run& run, const OperatorTable& table) {
  for (std::size_t i = 0; i < run.operator_steps.size(); ++i) {
    const OperatorStep& step = run.operator_steps[i];
    if (step.source == table.source && step.file == table.file && has_nodes(step)) return i;
  }
  return std::nullopt;
}

// "CPUExecutionProvider", "cpu"
bool is_cpu(const std::string& provider) { return provider.starts_with("CPU") || provider.starts_with("cpu"); }

bool computes(OperatorType type) {
  return type == OperatorType::kMatmul || type == OperatorType::kConvolution || type == OperatorType::kAttention;
}

bool transposes(const OperatorCall& call) {
  for (const std::string_view name : {"Transpose", "aten::transpose", "aten::permute", "Shuffle"})
    if (call.name == name) return true;
  return false;
}

std::string largest(const std::map<std::string, Ns>& times) {
  const auto most = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? std::string() : most->first;
}

class StepSums {
 public:
  StepSums(const OperatorStep& step, const OperatorTable& table) : step_(step), own_(own_times(step)) {
    totals_.operators.resize(table.entries.size());
    providers_.resize(table.entries.size());
    for (std::size_t i = 0; i < table.entries.size(); ++i) entries_.emplace(table.entries[i].name, i);
    add_providers();
    for (std::size_t i = 0; i < step.calls.size(); ++i) add_node(i);
    add_chains();
    for (std::size_t i = 0; i < providers_.size(); ++i) totals_.operators[i].provider = largest(providers_[i]);
  }
  StepTotals take() { return std::move(totals_); }

 private:
  // A table is by operator; that of TensorRT by layer.
  NodeTotals* entry_of(const OperatorCall& call) {
    auto found = entries_.find(call.name);
    if (found == entries_.end()) found = entries_.find(call.node);
    return found == entries_.end() ? nullptr : &totals_.operators[found->second];
  }

  void add_providers() {
    std::map<std::string, Ns> all, others;
    bool known = !step_.calls.empty();
    for (std::size_t i = 0; i < step_.calls.size(); ++i) {
      const std::string& provider = step_.calls[i].provider;
      known = known && !provider.empty();
      if (provider.empty()) continue;
      all[provider] += own_[i];
      if (!is_cpu(provider)) others[provider] += own_[i];
    }
    falls_back_ = !others.empty();
    totals_.main_provider = largest(falls_back_ ? others : all);
    totals_.cpu_only = known && others.empty();
  }

  void add_node(std::size_t i) {
    const OperatorCall& call = step_.calls[i];
    totals_.own_ns += own_[i];
    if (computes(call.type)) totals_.compute_ns += own_[i];
    NodeTotals* sum = entry_of(call);
    if (sum == nullptr) return;
    ++sum->nodes;
    sum->own_ns += own_[i];
    if (!call.provider.empty()) providers_[static_cast<std::size_t>(sum - totals_.operators.data())][call.provider] += own_[i];
    if (falls_back_ && is_cpu(call.provider)) {
      ++sum->fallback_nodes;
      sum->fallback_ns += own_[i];
    }
    if (sum->top_node.empty() || own_[i] > sum->top_node_ns) {
      sum->top_node = call.node;
      sum->top_node_ns = own_[i];
    }
  }

  // Neighbours of one kind, in the order of the iteration.
  template <class IsLink, class Counts>
  void add_chains_of(IsLink is_link, Counts counts) {
    for (std::size_t first = 0; first < step_.calls.size();) {
      std::size_t end = first;
      while (end < step_.calls.size() && is_link(step_.calls[end])) ++end;
      if (end - first >= 2) add_chain(first, end, counts);
      first = std::max(end, first + 1);
    }
  }
  template <class Counts>
  void add_chain(std::size_t first, std::size_t end, Counts counts) {
    for (std::size_t i = first; i < end; ++i) {
      NodeTotals* sum = counts(step_.calls[i]) ? entry_of(step_.calls[i]) : nullptr;
      if (sum == nullptr) continue;
      ++sum->chain_nodes;
      sum->chain_ns += own_[i];
      sum->longest_chain = std::max<std::uint64_t>(sum->longest_chain, end - first);
    }
  }
  void add_chains() {
    add_chains_of([](const OperatorCall& call) { return call.type == OperatorType::kCast; }, [](const OperatorCall&) { return true; });
    add_chains_of([](const OperatorCall& call) { return call.type == OperatorType::kShape; }, transposes);
  }

  const OperatorStep& step_;
  const std::vector<Ns> own_;
  StepTotals totals_;
  std::unordered_map<std::string, std::size_t> entries_;
  std::vector<std::map<std::string, Ns>> providers_;
  bool falls_back_ = false;
};

}  // namespace

std::optional<StepTotals> total_nodes(const Run& run, const OperatorTable& table) {
  const auto step = step_of_table(run, table);
  if (!step) return std::nullopt;
  StepTotals totals = StepSums(run.operator_steps[*step], table).take();
  totals.step = *step;
  return totals;
}

}  // namespace nl::analysis::rules

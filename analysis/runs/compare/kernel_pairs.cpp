#include "analysis/runs/compare/kernel_pairs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/trace/kernel_names.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

std::size_t words_in_common(const NameWords& a, const NameWords& b) {
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); }));
}

// The words of a name in lower case, split at signs, at underscores and before capitals: "MulFunctor<float>" → {mul, functor, float}.
NameWords words_of_kernel(std::string_view name) {
  NameWords words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.insert(word);
    word.clear();
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool capital = i > 0 && is_upper(name[i]) && is_lower(name[i - 1]);
    if (!is_word(name[i]) || capital) end_word();
    if (is_word(name[i])) word += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  end_word();
  return words;
}

// The function with its namespaces, without template arguments and parameters:
// "void at::native::reduce_kernel<512, 1>(T3)" → "at::native::reduce_kernel". Of a symbol without any it is the whole name.
std::string kernel_root(std::string_view name) {
  constexpr std::string_view kReturns = "void ", kUnnamed = "<unnamed>::", kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kReturns)) name.remove_prefix(kReturns.size());
  std::string plain(name);
  for (const std::string_view unnamed : {kUnnamed, kAnonymous})
    for (std::size_t at = plain.find(unnamed); at != std::string::npos; at = plain.find(unnamed)) plain.erase(at, unnamed.size());
  return plain.substr(0, plain.find_first_of("<("));
}

// The operators that a compiler says it fused into the kernel; empty where it says nothing. What stands behind "fused", without the running
// number: "triton_poi_fused_add_mul_3" → {add, mul}.
NameWords fused_operators(std::string_view name) {
  constexpr std::string_view kFused = "_fused_";
  const std::size_t at = name.find(kFused);
  if (at == std::string_view::npos) return {};
  NameWords words = words_of_kernel(name.substr(at + kFused.size()));
  std::erase_if(words, [](const std::string& word) { return word.size() < 3 || std::all_of(word.begin(), word.end(), is_digit); });
  return words;
}

// How much two sets have in common, 0..1: what both have, of what either has.
double likeness(const NameWords& a, const NameWords& b) {
  const std::size_t both = words_in_common(a, b), either = a.size() + b.size() - both;
  return either > 0 ? static_cast<double>(both) / static_cast<double>(either) : 0;
}

constexpr double kLikeEnough = 0.5;
constexpr std::size_t kMostCompared = 400;  // each with each: of more kernels, those with the most time

template <class Set>
double overlap(const Set& a, const Set& b) {
  if (a.empty() || b.empty()) return 0;
  const auto both = std::count_if(a.begin(), a.end(), [&](const auto& each) { return b.contains(each); });
  return static_cast<double>(both) / static_cast<double>(std::max(a.size(), b.size()));
}

bool as_often(double a, double b) { return std::abs(a - b) <= 0.01 * std::max(a, b); }

bool same_kind(const PairedKernel& a, const PairedKernel& b) {
  const auto copies = [](KernelClass kind) { return kind == KernelClass::kCopy || kind == KernelClass::kCacheCopy; };
  return a.kind == b.kind || (copies(a.kind) && copies(b.kind));
}

// A forward kernel and a backward one, by their names or by the operators that launch them.
bool are_opposed(const PairedKernel& a, const PairedKernel& b) {
  return opposed(a.direction, b.direction) ||
         opposed(a.launched_in.value_or(Direction::kUnknown), b.launched_in.value_or(Direction::kUnknown));
}

// Launched by operators of which none does the same. Where operators were not recorded, nothing is known.
bool other_operators(const PairedKernel& a, const PairedKernel& b) {
  return !a.operators.empty() && !b.operators.empty() && overlap(a.operators, b.operators) == 0;
}

// At the same place in the model: kinds that are both known are the same.
bool may_stand_there(const PairedKernel& a, const PairedKernel& b) {
  const bool known = a.kind != KernelClass::kOther && b.kind != KernelClass::kOther;
  return (!known || same_kind(a, b)) && !are_opposed(a, b);
}

// Of one kind, in one direction and for one operator: what a kernel is renamed to.
bool may_replace(const PairedKernel& a, const PairedKernel& b) {
  return same_kind(a, b) && same_direction(a.direction, b.direction) && !are_opposed(a, b) && !other_operators(a, b);
}

// Small kernels that compilers fuse with each other.
bool is_fusible(const PairedKernel& kernel) {
  return kernel.kind != KernelClass::kGemm && kernel.kind != KernelClass::kAttention && kernel.kind != KernelClass::kCommunication;
}

bool was_fused_from(const PairedKernel& part, const PairedKernel& whole) {
  return is_fusible(part) && words_in_common(part.words, whole.fused) > 0;
}

class MatchMaker {
 public:
  MatchMaker(const std::vector<PairedKernel>& a, const std::vector<PairedKernel>& b)
      : a_(a), b_(b), left_(indices(a)), right_(indices(b)) {}

  std::vector<KernelMatchUp> make() {
    pair_equal(&PairedKernel::symbol);
    pair_equal(&PairedKernel::key);
    pair_by(KernelPairing::kStructure, [](const PairedKernel& a, const PairedKernel& b) {
      const double share = overlap(a.sites, b.sites);
      return share >= kLikeEnough && may_stand_there(a, b) ? share : 0;
    });
    pair_by(KernelPairing::kRoot, [](const PairedKernel& a, const PairedKernel& b) {
      return a.root == b.root && may_replace(a, b) ? 1 + likeness(a.words, b.words) : 0;
    });
    pair_by(KernelPairing::kTokens, [](const PairedKernel& a, const PairedKernel& b) {
      const double like = may_replace(a, b) && a.kind != KernelClass::kOther ? likeness(a.words, b.words) : 0;
      return like >= kLikeEnough ? like : 0;
    });
    group_fused();
    pair_by(KernelPairing::kShape,
            [](const PairedKernel& a, const PairedKernel& b) { return may_replace(a, b) ? overlap(a.shapes, b.shapes) : 0; });
    pair_by(KernelPairing::kRank, [](const PairedKernel& a, const PairedKernel& b) {
      const bool alike = may_replace(a, b) && a.kind != KernelClass::kOther && as_often(a.seen.calls, b.seen.calls);
      return alike ? 1 / (1 + std::abs(std::log1p(a.seen.time_ns) - std::log1p(b.seen.time_ns))) : 0;
    });
    for (const std::size_t i : left_) found_.push_back({{i}, {}, KernelPairing::kNone, KernelRelation::kRemoved, true});
    for (const std::size_t i : right_) found_.push_back({{}, {i}, KernelPairing::kNone, KernelRelation::kAdded, true});
    return std::move(found_);
  }

 private:
  using Score = std::function<double(const PairedKernel&, const PairedKernel&)>;  // 0: no pair

  static std::vector<std::size_t> indices(const std::vector<PairedKernel>& kernels) {
    std::vector<std::size_t> all(kernels.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::sort(all.begin(), all.end(), [&](std::size_t x, std::size_t y) {
      return std::tie(kernels[y].seen.time_ns, kernels[x].seen.name) < std::tie(kernels[x].seen.time_ns, kernels[y].seen.name);
    });
    return all;
  }

  // A capture may have thousands of kernels: those with the same name are looked up.
  void pair_equal(std::string PairedKernel::* name) {
    std::unordered_map<std::string_view, std::size_t> of_b;
    for (const std::size_t j : right_) of_b.emplace(b_[j].*name, j);
    for (const std::size_t i : std::vector<std::size_t>(left_)) {
      const auto found = of_b.find(a_[i].*name);
      if (found == of_b.end()) continue;
      take({{i}, {found->second}, KernelPairing::kExact, KernelRelation::kSame, true});
      of_b.erase(found);
    }
  }

  // The best pairs first. Ties are broken by the names of both, whichever side they are on.
  void pair_by(KernelPairing how, const Score& score) {
    std::vector<std::tuple<double, std::string_view, std::string_view, std::size_t, std::size_t>> candidates;
    for (std::size_t i = 0; i < std::min(left_.size(), kMostCompared); ++i)
      for (std::size_t j = 0; j < std::min(right_.size(), kMostCompared); ++j) {
        const PairedKernel &a = a_[left_[i]], &b = b_[right_[j]];
        const double value = score(a, b);
        if (value > 0)
          candidates.emplace_back(-value, std::min(a.seen.name, b.seen.name), std::max(a.seen.name, b.seen.name), left_[i], right_[j]);
      }
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [value, first, second, i, j] : candidates) {
      if (!is_free(left_, i) || !is_free(right_, j)) continue;
      take({{i}, {j}, how, KernelRelation::kRenamed, how != KernelPairing::kRank});
    }
  }

  // Groups kernels without a pair that belong together: by their layer, by what a compiler says it fused, or as the parts of
  // attention. A group of more than two was fused or split.
  void group_fused() {
    for (const KernelPairing how : {KernelPairing::kStructure, KernelPairing::kTokens, KernelPairing::kRank}) {
      std::vector<KernelMatchUp> groups;
      for (const std::size_t i : left_)
        for (const std::size_t j : right_)
          if (hangs_together(how, a_[i], b_[j])) join(i, j, how, groups);
      for (KernelMatchUp& group : groups)
        if (group.a.size() + group.b.size() > 2) take(std::move(group));
    }
  }

  static bool hangs_together(KernelPairing how, const PairedKernel& a, const PairedKernel& b) {
    if (are_opposed(a, b)) return false;
    switch (how) {
      case KernelPairing::kStructure: return overlap(a.layers, b.layers) >= kLikeEnough;
      case KernelPairing::kTokens: return was_fused_from(a, b) || was_fused_from(b, a);
      default: return part_of_attention(a, b) || part_of_attention(b, a);
    }
  }

  // Softmax and the two products around it run as often as the attention kernel that replaces them, or a product twice as often.
  static bool part_of_attention(const PairedKernel& part, const PairedKernel& whole) {
    if (whole.kind != KernelClass::kAttention) return false;
    const bool product = part.kind == KernelClass::kGemm;
    return (is_softmax(part.seen.name) && as_often(part.seen.calls, whole.seen.calls)) ||
           (product && (as_often(part.seen.calls, whole.seen.calls) || as_often(part.seen.calls, 2 * whole.seen.calls)));
  }

  static void join(std::size_t i, std::size_t j, KernelPairing how, std::vector<KernelMatchUp>& groups) {
    KernelMatchUp joined{{i}, {j}, how, KernelRelation::kFused, how != KernelPairing::kRank};
    std::erase_if(groups, [&](const KernelMatchUp& group) {
      const bool touches = std::count(group.a.begin(), group.a.end(), i) + std::count(group.b.begin(), group.b.end(), j) > 0;
      if (!touches) return false;
      for (const std::size_t each : group.a) add_once(joined.a, each);
      for (const std::size_t each : group.b) add_once(joined.b, each);
      return true;
    });
    groups.push_back(std::move(joined));
  }

  void take(KernelMatchUp match) {
    if (match.a.size() > match.b.size()) match.relation = KernelRelation::kFused;
    if (match.a.size() < match.b.size()) match.relation = KernelRelation::kSplit;
    if (match.a.size() == match.b.size() && match.paired_by != KernelPairing::kExact) match.relation = KernelRelation::kRenamed;
    std::sort(match.a.begin(), match.a.end());
    std::sort(match.b.begin(), match.b.end());
    std::erase_if(left_, [&](std::size_t i) { return std::binary_search(match.a.begin(), match.a.end(), i); });
    std::erase_if(right_, [&](std::size_t i) { return std::binary_search(match.b.begin(), match.b.end(), i); });
    found_.push_back(std::move(match));
  }

  static bool is_free(const std::vector<std::size_t>& free, std::size_t i) { return std::find(free.begin(), free.end(), i) != free.end(); }

  const std::vector<PairedKernel>&a_, &b_;
  std::vector<std::size_t> left_, right_;  // without a pair yet, most time first
  std::vector<KernelMatchUp> found_;
};

}  // namespace

PairedKernel describe_kernel(ComparedKernel seen, std::string symbol) {
  PairedKernel kernel;
  kernel.kind = classify_kernel(seen.name);
  kernel.direction = direction_of(seen.name);
  kernel.key = kernel_name_key(seen.name);
  kernel.root = kernel_root(seen.name);
  kernel.words = words_of_kernel(seen.name);
  kernel.fused = fused_operators(seen.name);
  kernel.symbol = std::move(symbol);
  kernel.seen = std::move(seen);
  return kernel;
}

void PairedKernel::add_operator(const OperatorCall& call) {
  if (call.type != OperatorType::kOther) operators.insert(call.type);
  const Direction there = direction_of(call.name);
  launched_in = !launched_in || *launched_in == there ? there : Direction::kUnknown;
  if (!call.layer.empty()) layers.insert(call.layer);
  if (!call.shapes.empty()) shapes.insert(std::string(key_of(call.type)) + call.shapes);
}

std::vector<KernelMatchUp> match_kernels(const std::vector<PairedKernel>& a, const std::vector<PairedKernel>& b) {
  return MatchMaker(a, b).make();
}

}  // namespace nl::analysis

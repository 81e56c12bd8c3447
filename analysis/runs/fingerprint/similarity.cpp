#include "analysis/runs/fingerprint/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace nl::analysis {
namespace {

// Steps are at most some thousand operators long; beyond this, items that signatures do not pair stay without a partner.
constexpr std::size_t kMostAligned = 4000;

double cosine(const FingerprintVector& a, const FingerprintVector& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  if (aa == 0 || bb == 0) return aa == bb ? 1 : 0;
  return std::min(1.0, ab / std::sqrt(aa * bb));  // of a with itself exactly 1
}

bool has_counters(const FingerprintItem& item) {
  const auto known = known_features(item, true);
  return std::any_of(known.begin() + 1, known.end(), [](bool each) { return each; });
}

// Without counters only the share of the time is left, and every cosine is 1. Items of one signature are the same work; of others, the
// time they take tells whether they are.
double likeness(const FingerprintItem& a, const FingerprintItem& b, bool by_signature) {
  if (by_signature || has_counters(a) || has_counters(b)) return cosine(a.vector, b.vector);
  const Ns longer = std::max(a.time_ns, b.time_ns);
  return longer > 0 ? static_cast<double>(std::min(a.time_ns, b.time_ns)) / static_cast<double>(longer) : 1;
}

double weight(const FingerprintItem& a, const FingerprintItem& b) { return (a.vector[0] + b.vector[0]) / 2; }

using Indices = std::vector<std::size_t>;
struct StageRest {  // of one stage
  Indices a, b;
};

class Aligner {
 public:
  Aligner(const Fingerprint& a, const Fingerprint& b) : a_(a), b_(b) {}

  FingerprintMatch match() {
    pair_signatures();
    for (auto& [stage, group] : rest_) align(group);
    out_.only_a = a_.items.size() - out_.pairs.size();
    out_.only_b = b_.items.size() - out_.pairs.size();
    out_.similarity = std::round(weighted() * 1e12) / 1e12;  // either side adds up in an order of its own
    return std::move(out_);
  }

 private:
  using Key = std::pair<std::string_view, std::string_view>;
  static Key key_of_item(const FingerprintItem& item) { return {item.stage, item.signature}; }

  // In the order of the keys, so that either side gives the same sum.
  void pair_signatures() {
    std::map<Key, std::size_t> in_a, in_b;
    for (std::size_t i = 0; i < a_.items.size(); ++i) in_a.try_emplace(key_of_item(a_.items[i]), i);
    for (std::size_t i = 0; i < b_.items.size(); ++i) in_b.try_emplace(key_of_item(b_.items[i]), i);
    for (const auto& [key, at] : in_a)
      if (const auto found = in_b.find(key); found != in_b.end()) add(at, found->second, true);
    for (std::size_t i = 0; i < a_.items.size(); ++i)
      if (in_b.count(key_of_item(a_.items[i])) == 0) rest_[a_.items[i].stage].a.push_back(i);
    for (std::size_t i = 0; i < b_.items.size(); ++i)
      if (in_a.count(key_of_item(b_.items[i])) == 0) rest_[b_.items[i].stage].b.push_back(i);
  }

  void add(std::size_t a, std::size_t b, bool by_signature) {
    out_.pairs.push_back({a, b, by_signature, likeness(a_.items[a], b_.items[b], by_signature)});
  }

  double gain(std::size_t a, std::size_t b) const {
    const FingerprintItem &left = a_.items[a], &right = b_.items[b];
    return left.type == right.type ? weight(left, right) * likeness(left, right, false) : 0;
  }

  // The pairs of equal type, in order, with the largest sum: best[i][j] is that of what comes from i and j on.
  void align(const StageRest& group) {
    const std::size_t rows = group.a.size(), columns = group.b.size();
    if (rows == 0 || columns == 0 || rows > kMostAligned || columns > kMostAligned) return;
    std::vector<std::vector<float>> best(rows + 1, std::vector<float>(columns + 1, 0));
    const auto joined = [&](std::size_t i, std::size_t j) { return best[i + 1][j + 1] + static_cast<float>(gain(group.a[i], group.b[j])); };
    for (std::size_t i = rows; i-- > 0;)
      for (std::size_t j = columns; j-- > 0;) best[i][j] = std::max({best[i + 1][j], best[i][j + 1], joined(i, j)});
    for (std::size_t i = 0, j = 0; i < rows && j < columns;)
      if (const bool pair = a_.items[group.a[i]].type == b_.items[group.b[j]].type; pair && best[i][j] == joined(i, j))
        add(group.a[i++], group.b[j++], false);
      else if (best[i][j] == best[i + 1][j]) ++i;
      else ++j;
  }

  double weighted() const {
    if (a_.items.empty() || b_.items.empty()) return a_.items.empty() && b_.items.empty() ? 1 : 0;
    std::set<std::size_t> paired_a, paired_b;
    double alike = 0, all = 0;
    for (const FingerprintPair& pair : out_.pairs) {
      const double share = weight(a_.items[pair.a], b_.items[pair.b]);
      alike += share * pair.cosine, all += share;
      paired_a.insert(pair.a), paired_b.insert(pair.b);
    }
    return alike / (all + (alone(a_, paired_a) + alone(b_, paired_b)) / 2);
  }

  static double alone(const Fingerprint& fingerprint, const std::set<std::size_t>& paired) {
    double sum = 0;
    for (std::size_t i = 0; i < fingerprint.items.size(); ++i)
      if (paired.count(i) == 0) sum += fingerprint.items[i].vector[0];
    return sum;
  }

  const Fingerprint &a_, &b_;
  std::map<std::string, StageRest> rest_;
  FingerprintMatch out_;
};

}  // namespace

FingerprintMatch similarity(const Fingerprint& a, const Fingerprint& b) { return Aligner(a, b).match(); }

}  // namespace nl::analysis

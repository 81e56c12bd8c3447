#include "analysis/trace/kernel_direction.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>

namespace nl::analysis {
namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// A copy in lower case, words apart by '_': "cunn_SoftMaxBackward<8>" → "_cunn_soft_max_backward_8_"
std::string words_apart(std::string_view name) {
  std::string out = "_";
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool capital = i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (capital && out.back() != '_') out += '_';
    if (std::isalnum(c) != 0) out += static_cast<char>(std::tolower(c));
    else if (out.back() != '_') out += '_';
  }
  return out + '_';
}

// "feed_forward" is a layer, whichever way it is computed.
bool says_forward(std::string_view words) {
  for (std::size_t at = words.find("forward"); at != std::string_view::npos; at = words.find("forward", at + 1))
    if (!words.substr(0, at).ends_with("feed_") && !words.substr(0, at).ends_with("feed")) return true;
  return contains_any(words, {"fprop", "fwd", "_fw_", "fwtr_", "cutlass_f_", "_jvp_"});
}

// Of JAX, an operator of the backward pass is "transpose(jvp(main))/…".
bool says_backward(std::string_view words) {
  return contains_any(words, {"backward", "bprop", "bwd", "_bw_", "bwtr_", "_bp_", "_bp1_", "_bp2_", "cutlass_b_", "_grad_", "_gradient_",
                              "_dgelu_", "_drelu_", "_dsilu_", "_dswiglu_", "_dgeglu_", "_dact_", "_dbias_", "_transpose_jvp_"});
}

bool is_gradient(Direction direction) { return direction >= Direction::kBackward; }

}  // namespace

Direction direction_of(std::string_view name) {
  const std::string words = words_apart(name);
  const bool data = words.find("dgrad") != std::string::npos, weights = words.find("wgrad") != std::string::npos;
  if (data != weights) return data ? Direction::kDataGradient : Direction::kWeightGradient;
  if (data || says_backward(words)) return Direction::kBackward;
  return says_forward(words) ? Direction::kForward : Direction::kUnknown;
}

bool opposed(Direction a, Direction b) {
  if (a == b || a == Direction::kUnknown || b == Direction::kUnknown) return false;
  return !is_gradient(a) || !is_gradient(b) || (a != Direction::kBackward && b != Direction::kBackward);
}

bool same_direction(Direction a, Direction b) { return !opposed(a, b) && is_gradient(a) == is_gradient(b); }

}  // namespace nl::analysis

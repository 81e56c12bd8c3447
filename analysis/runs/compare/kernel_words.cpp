#include "analysis/runs/compare/kernel_words.h"

#include <algorithm>
#include <cctype>

namespace nl::analysis {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

std::size_t words_in_common(const NameWords& a, const NameWords& b) {
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); }));
}

}  // namespace

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

std::string kernel_root(std::string_view name) {
  constexpr std::string_view kReturns = "void ", kUnnamed = "<unnamed>::", kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kReturns)) name.remove_prefix(kReturns.size());
  std::string plain(name);
  for (const std::string_view unnamed : {kUnnamed, kAnonymous})
    for (std::size_t at = plain.find(unnamed); at != std::string::npos; at = plain.find(unnamed)) plain.erase(at, unnamed.size());
  return plain.substr(0, plain.find_first_of("<("));
}

// triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3: what stands behind "fused", without the running number.
NameWords fused_operators(std::string_view name) {
  constexpr std::string_view kFused = "_fused_";
  const std::size_t at = name.find(kFused);
  if (at == std::string_view::npos) return {};
  NameWords words = words_of_kernel(name.substr(at + kFused.size()));
  std::erase_if(words, [](const std::string& word) { return word.size() < 3 || std::all_of(word.begin(), word.end(), is_digit); });
  return words;
}

double likeness(const NameWords& a, const NameWords& b) {
  const std::size_t both = words_in_common(a, b), either = a.size() + b.size() - both;
  return either > 0 ? static_cast<double>(both) / static_cast<double>(either) : 0;
}

bool share_any(const NameWords& a, const NameWords& b) { return words_in_common(a, b) > 0; }

}  // namespace nl::analysis

#include "exporters/report/text/told_apart_names.h"

#include <fmt/core.h>

#include <cctype>
#include <map>
#include <set>

#include "exporters/report/text/figure_text.h"

// Kernels of different names may read alike: vectorized_elementwise_kernel and unrolled_elementwise_kernel of one functor are both
// "elementwise mul (bf16)". Then each gets the first word of its name that the others do not have.
namespace nl::exporters {
namespace {

constexpr std::size_t kLongestWord = 32;

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && is_of_word(name[end])) ++end;
    if (end > i) words.push_back(name.substr(i, std::min(end - i, kLongestWord)));
    i = end + (end == i);
  }
  return words;
}

// The first word that none of the others has at all; else the first that differs from that of some other at its place.
std::string own_word(const std::vector<std::vector<std::string>>& all, std::size_t own) {
  std::set<std::string> others;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != own) others.insert(all[i].begin(), all[i].end());
  for (const std::string& word : all[own])
    if (!others.contains(word)) return word;
  for (std::size_t place = 0; place < all[own].size(); ++place)
    for (const auto& words : all)
      if (place >= words.size() || words[place] != all[own][place]) return all[own][place];
  return {};
}

}  // namespace

std::vector<std::string> told_apart_kernel_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  std::map<std::string, std::map<std::string, std::size_t>> alike;  // by readable name: the names that read so, by place among them
  for (const std::string& name : names) {
    out.push_back(readable_kernel_name(name));
    auto& group = alike[out.back()];
    group.try_emplace(name, group.size());
  }
  for (const auto& [readable, group] : alike) {
    if (group.size() < 2) continue;
    std::vector<std::vector<std::string>> words(group.size());
    for (const auto& [name, place] : group) words[place] = words_of(name);
    std::map<std::string, std::size_t> taken;  // by word: how many have it already
    std::vector<std::string> told(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::string word = own_word(words, i);
      const std::size_t before = taken[word]++;
      told[i] = readable + (word.empty() ? "" : ", " + word) + (before == 0 && !word.empty() ? "" : fmt::format(" #{}", before + 1));
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      if (out[i] == readable) out[i] = told[group.at(names[i])];
  }
  return out;
}

}  // namespace nl::exporters

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nl {

// A word as a shell takes it: quoted where it has to be, "it's" → 'it'\''s'.
inline std::string shell_quoted(const std::string& word) {
  static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// A command with its arguments.
inline std::string shell_quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

// `nl-stage run` with these words for the same workload; "./your_workload" where it is not known. A model file's workload is
// nl-stage itself (`nl-stage session FLAGS`), and is run by the same flags.
inline std::string run_again(std::vector<std::string> words, const std::vector<std::string>& workload, bool model_file = false) {
  words.insert(words.begin(), {"nl-stage", "run"});
  if (model_file && workload.size() > 2) {
    words.insert(words.end(), workload.begin() + 2, workload.end());
    return shell_quoted(words);
  }
  words.push_back("--");
  if (workload.empty()) words.push_back("./your_workload");
  words.insert(words.end(), workload.begin(), workload.end());
  return shell_quoted(words);
}

}  // namespace nl

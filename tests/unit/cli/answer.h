#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/cli/captured_output.h"

// The verbs as main() sets them up: no process is started.
namespace nl::test {

using Words = std::vector<std::string>;

struct Answer {
  int status = -1;
  std::string out, err;
};

// Throws what the verb throws.
inline Answer nl_stage(Words words) {
  words.insert(words.begin(), "nl-stage");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  CLI::App app;
  std::function<int()> action;
  cli::set_up(app, action);
  CapturedOutput captured;
  Answer answer;
  cli::parse(app, static_cast<int>(words.size()), argv.data(), action);
  answer.status = action();
  answer.out = captured.out();
  answer.err = captured.err();
  return answer;
}

inline Error refused(const Words& words) {
  try {
    nl_stage(words);
  } catch (const Error& error) {
    return error;
  }
  FAIL("it was not refused");
  throw;
}

}  // namespace nl::test

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "orchestrator/capture/plan.h"

namespace nl::orchestrator {

// A command line of nsys or ncu. An option that the found version lacks is left out, and said in `adaptations`.
class ToolArguments {
 public:
  enum class Values { kJoined, kApart };  // --option=value, as nsys takes it; --option value, as ncu does

  ToolArguments(std::string name, const Tool& tool, Values values, std::vector<Remark>& adaptations)
      : name_(std::move(name)), tool_(tool), values_(values), adaptations_(adaptations), argv_{tool.path.string()} {}

  // `instead` says what the pass does without the option.
  void add(const std::string& option, const std::string& value, const std::string& instead) {
    if (!tool_.has_option(option)) return add_once(adaptations_, {Code::kOptionLeftOut, {name_, tool_.version.text(), option, instead}});
    if (values_ == Values::kJoined) return push(option + "=" + value);
    push(option);
    push(value);
  }
  void push(std::string word) { argv_.push_back(std::move(word)); }
  std::vector<std::string> take() { return std::move(argv_); }

 private:
  std::string name_;
  const Tool& tool_;
  Values values_;
  std::vector<Remark>& adaptations_;
  std::vector<std::string> argv_;
};

}  // namespace nl::orchestrator

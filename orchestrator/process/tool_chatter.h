#pragma once

#include <string>
#include <string_view>

namespace nl::orchestrator {

// Takes out of an output what nsys and ncu say themselves ("Generating '/tmp/nsys-report-c87b.qdstrm'"), and leaves what the
// workload prints, also a line that has no end yet: a streaming program writes token by token.
class ToolChatter {
 public:
  std::string without(std::string_view data);  // what is to be shown of it; the beginning of a line may be held back
  std::string rest();                          // what was held back, at the end of the output

 private:
  enum class Line { kUndecided, kShown, kHidden };

  void decide();
  void end_line(std::string& shown);

  std::string held_;  // the beginning of a line that is not decided
  Line line_ = Line::kUndecided;
  bool lists_files_ = false;  // the lines after "Generated:", which are indented
};

}  // namespace nl::orchestrator

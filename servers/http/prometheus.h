#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

// The text format that Prometheus reads, version 0.0.4.
namespace nl::servers::http {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Families with their samples; a family's lines stand together, whatever the order they came in.
class Exposition {
 public:
  void add(const std::string& family, const char* type, const std::string& help, const Labels& labels, double value);
  std::string text() const;

 private:
  struct Family {
    std::string type, help, lines;
  };
  std::map<std::string, Family> families_;
};

std::string label_value(std::string_view raw);  // \ " and line ends escaped, bytes that are not UTF-8 replaced

// "stage.decode_step.median_ms" → {"nl_stage_run_stage_median_ms", {{"stage", "decode_step"}}}
struct FamilyName {
  std::string family;
  Labels labels;
};
FamilyName family_of(const std::string& metric_key);

}  // namespace nl::servers::http

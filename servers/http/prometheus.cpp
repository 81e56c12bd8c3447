#include "servers/http/prometheus.h"

#include <fmt/format.h>

#include <cctype>

#include "exporters/report/html/html.h"

namespace nl::servers::http {
namespace {

std::string name_of(std::string_view key) {
  std::string name;
  for (const char c : key) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

std::string labels_text(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, label_value(value));
  return out.empty() ? "" : "{" + out + "}";
}

}  // namespace

std::string label_value(std::string_view raw) {
  std::string out;
  for (const char c : exporters::html::utf8(raw)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out;
}

FamilyName family_of(const std::string& key) {
  constexpr std::string_view kStage = "stage.";
  const std::size_t last = key.rfind('.');
  if (!key.starts_with(kStage) || last < kStage.size()) return {"nl_stage_run_" + name_of(key), {}};
  return {"nl_stage_run_stage_" + name_of(std::string_view(key).substr(last + 1)),
          {{"stage", key.substr(kStage.size(), last - kStage.size())}}};
}

void Exposition::add(const std::string& family, const char* type, const std::string& help, const Labels& labels, double value) {
  Family& entry = families_[family];
  entry.type = type;
  if (entry.help.empty()) entry.help = help;
  entry.lines += fmt::format("{}{} {}\n", family, labels_text(labels), value);
}

std::string Exposition::text() const {
  std::string out;
  for (const auto& [name, family] : families_)
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", name, family.help, name, family.type, family.lines);
  return out;
}

}  // namespace nl::servers::http

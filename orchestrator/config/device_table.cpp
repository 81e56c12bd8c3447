#include "orchestrator/config/device_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/error.h"
#include "orchestrator/config/conf_files.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/config/yaml_file.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

const std::vector<std::string> kKeys = {"name", "match", "dense_tflops", "bandwidth_tb_per_s", "notes"};
const std::vector<std::string> kNumberTypes = {"f64", "f32", "tf32", "bf16", "f16", "fp8", "fp4", "int8", "int4"};

class DeviceFile : YamlFile {
 public:
  explicit DeviceFile(const ConfFile& file) : YamlFile(file, "device file", "docs/efficiency.md shows a whole entry") {}

  DeviceTableEntry read() {
    entry_.file = file_.name();
    for (const auto& [key, value] : tree_.entries) take(key, value);
    if (entry_.name.empty()) refuse("the device has no name", tree_.place, "write name: NVIDIA H200");
    if (entry_.match.empty()) entry_.match = {entry_.name};
    if (entry_.flops_per_s.empty() && !entry_.bytes_per_s)
      refuse("the device has no peak", tree_.place, "write dense_tflops: {bf16: 989.4} and bandwidth_tb_per_s: 4.8");
    return std::move(entry_);
  }

 private:
  [[noreturn]] void unknown(const char* what, const YamlTree::Key& key, const std::vector<std::string>& known) const {
    refuse(fmt::format("unknown {} '{}'", what, key.name), key.place, nearest_or_all(key.name, known));
  }

  void take(const YamlTree::Key& key, const YamlTree& value) {
    if (key.name == "name") entry_.name = text(key.name, value);
    else if (key.name == "match") entry_.match = texts(key.name, value);
    else if (key.name == "notes") entry_.notes = texts(key.name, value);
    else if (key.name == "bandwidth_tb_per_s") entry_.bytes_per_s = number(key.name, value) * 1e12;
    else if (key.name == "dense_tflops") take_peaks(value);
    else unknown("key", key, kKeys);
  }

  void take_peaks(const YamlTree& value) {
    if (value.kind != Kind::kMap) refuse("dense_tflops wants a map", value.place, "such as dense_tflops: {bf16: 989.4, f32: 67}");
    for (const auto& [dtype, peak] : value.entries) {
      if (std::find(kNumberTypes.begin(), kNumberTypes.end(), dtype.name) == kNumberTypes.end()) unknown("type", dtype, kNumberTypes);
      entry_.flops_per_s[dtype.name] = number("dense_tflops." + dtype.name, peak) * 1e12;
    }
  }

  std::string text(const std::string& name, const YamlTree& value) const {
    if (value.kind != Kind::kScalar || value.text.empty())
      refuse(fmt::format("{} wants a text", name), value.place, "write it after the colon");
    return value.text;
  }

  std::vector<std::string> texts(const std::string& name, const YamlTree& value) const {
    if (value.kind != Kind::kList)
      refuse(fmt::format("{} wants a list of texts", name), value.place, fmt::format("such as {}: [\"H200\"]", name));
    std::vector<std::string> out;
    for (const auto& item : value.items) out.push_back(text(name, item));
    return out;
  }

  double number(const std::string& name, const YamlTree& value) const {
    double parsed = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [stopped, failed] = std::from_chars(value.text.data(), end, parsed);
    if (value.kind != Kind::kScalar || value.quoted || failed != std::errc{} || stopped != end || !std::isfinite(parsed) || parsed <= 0 ||
        parsed > 1e9)
      refuse(fmt::format("{} wants a positive number", name), value.place, "in units of 10¹² a second: 989.4");
    return parsed;
  }

  DeviceTableEntry entry_;
};

void add_folder(const fs::path& folder, std::vector<DeviceTableEntry>& table) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().extension() == ".yaml") files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) table.push_back(read_device_file(file));
}

}  // namespace

DeviceTableEntry read_device_file(const fs::path& file) { return DeviceFile(file_on_disk(file)).read(); }

std::vector<DeviceTableEntry> load_device_table(const fs::path& own) {
  std::vector<DeviceTableEntry> table;
  std::error_code failed;
  if (fs::is_directory(own, failed)) add_folder(own, table);
  else if (!own.empty()) table.push_back(read_device_file(own));
  for (const auto& file : ConfFiles::shipped().all_in("device")) {
    table.push_back(DeviceFile(file).read());
    table.back().file = file.name_in_conf();  // as in the sources of a report: without this machine's folders
  }
  return table;
}

}  // namespace nl::orchestrator

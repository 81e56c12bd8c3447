#include "orchestrator/bundle/inputs.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "model/error.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/process/output.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

[[noreturn]] void refuse_input(const std::string& what, const fs::path& file) {
  throw Error(ErrorKind::kConfig, what, file.string(),
              "correct workload.inputs; its paths are relative to where the workload is started (workload.working_directory)");
}

fs::path place_of(const WorkloadOptions& workload, const std::string& input) { return fs::path(workload.working_directory) / input; }

void check_input(const fs::path& file) {
  std::error_code failed;
  const fs::file_status status = fs::status(file, failed);
  if (!fs::exists(status)) refuse_input("an input of the workload is not there", file);
  if (!fs::is_regular_file(status) && !fs::is_directory(status))
    refuse_input("an input of the workload is neither a file nor a folder", file);
}

// "./a/b" of every file, links to files among them, in the order of their bytes.
std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (auto at = fs::recursive_directory_iterator(folder, failed); !failed && at != fs::end(at); at.increment(failed))
    if (std::error_code dangling; at->is_regular_file(dangling)) names.push_back("./" + at->path().lexically_relative(folder).string());
  if (failed) refuse_input(fmt::format("an input folder cannot be read: {}", failed.message()), folder);
  std::sort(names.begin(), names.end());
  return names;
}

// Weights and datasets can take a minute: a line says what we do, and Ctrl-C works.
class InputReader {
 public:
  Input read(const std::string& name, const fs::path& place) {
    if (!fs::is_directory(place)) return {name, fs::file_size(place), digest_of(place), {}};
    Input folder{name, 0, {}, 0};
    std::string listing;
    for (const std::string& file : files_below(place)) {
      const std::string digest = digest_of(place / file);
      listing += digest.empty() ? "" : fmt::format("{}  {}\n", digest, file);
      *folder.size_bytes += fs::file_size(place / file);
      ++*folder.files;
    }
    if (!listing.empty() || *folder.files == 0) folder.sha256 = sha256_text(listing);
    return folder;
  }

 private:
  std::string digest_of(const fs::path& file) {
    return sha256_file(file, [this] {
      Interrupts::obey();
      line_.update(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
    });
  }
  Interrupts interrupts_;  // from now on: a signal of before is not ours
  ProgressLine line_{"hashing the inputs"};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void write_input(YAML::Emitter& out, const Input& input) {
  out << YAML::BeginMap << YAML::Key << "path" << YAML::Value << input.path;
  if (input.size_bytes) {
    out << YAML::Key << "size_bytes" << YAML::Value << *input.size_bytes << YAML::Key << "sha256" << YAML::Value;
    if (input.sha256.empty()) out << YAML::Null;
    else out << input.sha256;
  }
  if (input.files) out << YAML::Key << "files" << YAML::Value << *input.files;
  out << YAML::EndMap;
}

}  // namespace

std::vector<Input> read_inputs(const WorkloadOptions& workload) {
  for (const std::string& input : workload.inputs) check_input(place_of(workload, input));
  InputReader reader;
  std::vector<Input> inputs;
  for (const std::string& input : workload.inputs) inputs.push_back(reader.read(input, place_of(workload, input)));
  return inputs;
}

std::vector<Input> name_inputs(const WorkloadOptions& workload) {
  std::vector<Input> inputs;
  for (const std::string& input : workload.inputs) inputs.push_back({input, {}, {}, {}});
  return inputs;
}

std::string inputs_yaml(const std::vector<Input>& inputs) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "count" << YAML::Value << inputs.size() << YAML::Key << "inputs" << YAML::Value << YAML::BeginSeq;
  for (const Input& input : inputs) write_input(out, input);
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace nl::orchestrator

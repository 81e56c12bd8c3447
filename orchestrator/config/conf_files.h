#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The files of conf/: those on disk, and behind them the ones that are built into the program.
namespace nl::orchestrator {

struct BuiltInFile {
  std::string_view path;  // "runner/deep.yaml"
  std::string_view text;
};
extern const std::span<const BuiltInFile> kBuiltInConf;  // sorted by path; made from conf/ by tools/embed

// One configuration text, and what messages and reports call it: a path, or "conf/runner/deep.yaml (built in)".
struct ConfFile {
  std::string relative;        // "runner/deep.yaml"; a file of the user's own: its path
  std::filesystem::path disk;  // empty: built in
  std::optional<std::string_view> text_built_in = {};

  std::string name() const;
  std::string name_in_conf() const;  // without this machine's folders: "conf/runner/deep.yaml"
  std::string text() const;          // Error(kConfig) where it cannot be read
};

ConfFile file_on_disk(const std::filesystem::path& file);

// Where this program's binary lies.
std::filesystem::path program_folder();

// The nearest folder above `file` that holds runner/ and profiling/; empty where there is none.
std::filesystem::path conf_folder_of(const std::filesystem::path& file);

// Folders in the order in which they are asked; the built-in files come last, so that nothing shipped can be missing.
class ConfFiles {
 public:
  // $NL_STAGE_DATA (or its conf/), <prefix>/share/nl-stage/conf, the conf/ of the source tree that a build folder lies in.
  static ConfFiles shipped();

  explicit ConfFiles(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  void ask_first(const std::filesystem::path& folder);

  std::optional<ConfFile> find(const std::string& relative) const;
  std::vector<ConfFile> all_in(const std::string& room) const;  // each name once, by name; "" for every file

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace nl::orchestrator

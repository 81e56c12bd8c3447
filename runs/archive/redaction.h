#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"
#include "runs/archive/contents.h"

// Removes from a bundle what is about the machine and its users, not about the run.
namespace nl::runs {

// What a text of a bundle becomes:
//   hosts      "redacted-host", in any case, also in HOST_run and HOST-ib0
//   paths      of an absolute path only the last name stays: /home/me/model/run.py → /redacted/run.py
//   variables  of the command line, `env NAME=VALUE program`: NAME=<set>
// Paths of the system itself (/usr, /proc …) stay. Names of nodes (/block/MatMul) and JSON pointers (/stages/0) look like paths and are not:
// a path begins with a folder that stands in the root of this machine, of most machines, of a path of the run, or of a file that the
// bundle names. tests/unit/runs/archive/redaction_test.cpp has the list of what must not be left.
class TextRedaction {
 public:
  TextRedaction(const Redactions& redacted, const Run& run, const std::filesystem::path& bundle, std::vector<std::string> hosts);
  // Learns the roots of the files in it: "/raid9/x/run.py" of another machine.
  void know_roots_of(std::string_view text);
  bool asked() const { return host_ || paths_ || !variables_.empty(); }
  bool names_asked() const { return host_ || paths_; }
  bool holds_variable(std::string_view bytes) const;  // of the command line
  std::string apply(std::string_view text) const;
  std::string without_hosts(std::string_view text) const;  // for names of files

 private:
  void know_folder(const std::filesystem::path& folder);
  void know_run(const Run& run);
  std::size_t end_of_path(std::string_view text, std::size_t at) const;
  bool is_path(std::string_view text, std::size_t at) const;
  std::string without_paths(std::string_view text) const;

  bool host_, paths_;
  std::vector<std::string> hosts_, folders_;  // longest first; the folders are known whole, with spaces and all
  std::vector<std::string> variables_;        // "NAME=VALUE", as they may be written
  std::set<std::string, std::less<>> roots_;  // first names of paths: "home"
  std::set<std::string, std::less<>> not_paths_;
};

// This machine's name, and those in the bundle's nsys exports and TensorBoard files.
std::vector<std::string> host_names(const std::filesystem::path& bundle);

// Blanks the values of environments in config.yaml, as a run without --keep-env writes it. Error(kInput) where it is not a configuration
// of ours.
std::string without_environment(const std::string& config_yaml, const std::string& where);

bool is_text(std::string_view bytes);  // UTF-8 without NUL

}  // namespace nl::runs

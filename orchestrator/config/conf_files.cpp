#include "orchestrator/config/conf_files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "model/error.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

bool is_conf_folder(const fs::path& folder) {
  std::error_code failed;
  return fs::is_directory(folder / "runner", failed) && fs::is_directory(folder / "profiling", failed);
}

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

bool is_in_room(std::string_view relative, const std::string& room) {
  return relative.ends_with(".yaml") && (room.empty() || relative.starts_with(room + "/"));
}

std::string read_text(const fs::path& file) {
  std::error_code failed;
  if (fs::is_directory(file, failed))
    throw Error(ErrorKind::kConfig, "the configuration file is a folder", file.string(), "name a .yaml file in it");
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || (in.peek() != std::ifstream::traits_type::eof() && !(text << in.rdbuf())))
    throw Error(ErrorKind::kConfig, "the configuration file cannot be read", file.string(),
                fs::exists(file, failed) ? "check its permissions" : "check its name");
  return text.str();
}

void add_folder(const fs::path& folder, const std::string& room, std::map<std::string, ConfFile>& found) {
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(folder / room, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string relative = entry->path().lexically_relative(folder).generic_string();
    if (is_in_room(relative, room)) found.try_emplace(relative, ConfFile{relative, entry->path()});
  }
}

}  // namespace

std::string ConfFile::name() const { return text_built_in ? "conf/" + relative + " (built in)" : disk.string(); }

std::string ConfFile::name_in_conf() const { return "conf/" + relative + (text_built_in ? " (built in)" : ""); }

std::string ConfFile::text() const { return text_built_in ? std::string(*text_built_in) : read_text(disk); }

ConfFile file_on_disk(const fs::path& file) { return {file.string(), file}; }

fs::path program_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::path() : program.parent_path();
}

fs::path conf_folder_of(const fs::path& file) {
  std::error_code failed;
  fs::path above = fs::absolute(file, failed).lexically_normal().parent_path();
  for (; above.has_relative_path(); above = above.parent_path())
    if (is_conf_folder(above)) return above;
  return {};
}

ConfFiles ConfFiles::shipped() {
  std::vector<fs::path> candidates;
  if (const char* data = std::getenv("NL_STAGE_DATA"); data && *data) {
    candidates.push_back(fs::path(data));
    candidates.push_back(fs::path(data) / "conf");
  }
  const fs::path program = program_folder();
  candidates.push_back(program.parent_path() / "share" / "nl-stage" / "conf");
  for (fs::path above = program; above.has_relative_path(); above = above.parent_path()) candidates.push_back(above / "conf");
  std::erase_if(candidates, [](const fs::path& folder) { return !is_conf_folder(folder); });
  return ConfFiles(std::move(candidates));
}

void ConfFiles::ask_first(const fs::path& folder) {
  std::erase(folders_, folder);
  folders_.insert(folders_.begin(), folder);
}

std::optional<ConfFile> ConfFiles::find(const std::string& relative) const {
  for (const auto& folder : folders_)
    if (is_file(folder / relative)) return ConfFile{relative, folder / relative};
  for (const auto& file : kBuiltInConf)
    if (file.path == relative) return ConfFile{relative, {}, file.text};
  return std::nullopt;
}

std::vector<ConfFile> ConfFiles::all_in(const std::string& room) const {
  std::map<std::string, ConfFile> found;
  for (const auto& folder : folders_) add_folder(folder, room, found);
  for (const auto& file : kBuiltInConf)
    if (is_in_room(file.path, room)) found.try_emplace(std::string(file.path), ConfFile{std::string(file.path), {}, file.text});
  std::vector<ConfFile> files;
  for (auto& [relative, file] : found) files.push_back(std::move(file));
  return files;
}

}  // namespace nl::orchestrator

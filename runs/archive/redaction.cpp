#include "runs/archive/redaction.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>

#include "model/error.h"
#include "orchestrator/config/keys.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

constexpr const char* kNoHost = "redacted-host";
constexpr const char* kNoFolder = "/redacted";
constexpr std::string_view kSystemRoots[] = {"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "usr"};
// Root folders of other machines, whose captures are imported here.
constexpr std::string_view kUsualRoots[] = {"Users",  "app", "code",    "data", "fs",      "gpfs",     "home", "lustre",
                                            "media",  "mnt", "nfs",     "opt",  "private", "projects", "root", "scratch",
                                            "shared", "srv", "storage", "tmp",  "users",   "var",      "work", "workspace"};

bool is_name_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80 || (c != '\0' && std::string_view("._+@%~-#$^!").find(c) != std::string_view::npos);
}

bool is_word_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_system_root(std::string_view name) {
  return std::find(std::begin(kSystemRoots), std::end(kSystemRoots), name) != std::end(kSystemRoots);
}

// "/home/me/run.py" → "home"
std::string_view root_of(std::string_view path) { return path.substr(1, path.find('/', 1) - 1); }

// Whether an absolute path may begin at this '/': after a space or a quote, after file://, after a flag as in -I/home/me, after an
// escaped newline as in "done\n/home/me", but not inside tokens/s or https://host/page.
bool may_begin_path(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const std::string_view before = text.substr(0, at);
  if (before.ends_with("file://")) return true;
  const char last = before.back();
  if (!is_name_letter(last) && last != '/') return true;
  if (at >= 2 && before[at - 2] == '\\' && (last == 'n' || last == 'r' || last == 't')) return true;
  return at >= 2 && before[at - 2] == '-' && std::isalpha(static_cast<unsigned char>(last)) != 0 &&
         (at == 2 || !is_name_letter(before[at - 3]));
}

std::size_t end_of_path(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '/' || is_name_letter(text[at]))) ++at;
  return at;
}

// "/home/me/run.py" → "/redacted/run.py"
std::string last_name_only(std::string_view path) {
  const std::size_t end = path.find_last_not_of('/');
  return kNoFolder + std::string(path.substr(path.rfind('/', end)));
}

// Where it stands as a word, or as a folder.
std::string replaced(std::string_view text, std::string_view word, std::string_view by) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) {
    const std::size_t end = at + word.size();
    const bool inside =
        (is_word_letter(word.front()) && at > 0 && is_word_letter(text[at - 1])) || (end < text.size() && is_word_letter(text[end]));
    if (inside) continue;
    out.append(text.substr(done, at - done)).append(by);
    done = end;
  }
  return out.append(text.substr(done));
}

void longest_first(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() > b.size() : a < b; });
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

void add_host(const std::string& name, std::vector<std::string>& hosts) {
  const std::string short_name = name.substr(0, name.find('.'));
  if (short_name.size() < 2 || short_name == "localhost") return;
  hosts.push_back(name);
  hosts.push_back(short_name);
}

void add_host_of_export(const fs::path& sqlite, std::vector<std::string>& hosts) {
  try {
    SQLite::Database db(sqlite.string(), SQLite::OPEN_READONLY);
    if (!db.tableExists("TARGET_INFO_SYSTEM_ENV")) return;
    SQLite::Statement rows(db, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'");
    while (rows.executeStep()) add_host(rows.getColumn(0).getString(), hosts);
  } catch (const SQLite::Exception&) {
    // Damaged, or none of nsys': blanking it says so.
  }
}

YAML::Node value_at(YAML::Node node, std::string_view path) {
  while (node.IsMap()) {
    const std::size_t dot = path.find('.');
    node.reset(node[std::string(path.substr(0, dot))]);
    if (dot == std::string_view::npos || !node.IsDefined()) return node;
    path.remove_prefix(dot + 1);
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

// `at` is the opening quote; the result is the place behind the closing one.
std::size_t end_of_quoted(const std::string& text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

}  // namespace

TextRedaction::TextRedaction(const Redactions& redacted, const Run& run, const fs::path& bundle, std::vector<std::string> hosts)
    : host_(redacted.host), paths_(redacted.paths), hosts_(std::move(hosts)), roots_(std::begin(kUsualRoots), std::end(kUsualRoots)) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/", ignored)) roots_.insert(entry.path().filename().string());
  know_folder(bundle);
  if (const char* home = std::getenv("HOME")) know_folder(home);
  know_run(run);
  for (const std::string_view system : kSystemRoots) roots_.erase(std::string(system));
  longest_first(hosts_);
  longest_first(folders_);
}

void TextRedaction::know_folder(const fs::path& folder) {
  const std::string text = folder.lexically_normal().string();
  if (!folder.is_absolute() || text.size() < 2 || is_system_root(root_of(text))) return;
  roots_.insert(std::string(root_of(text)));
  const std::string plain = text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
  if (plain.find('/', 1) != std::string::npos) folders_.push_back(plain);  // /workspace alone tells nothing
}

void TextRedaction::know_run(const Run& run) {
  know_folder(run.workload.working_directory);
  if (run.workload.repository) know_folder(run.workload.repository->path);
  if (run.session) know_folder(fs::path(run.session->model).parent_path());
  for (const std::string& word : run.workload.command) know_folder(fs::path(word).parent_path());
  for (const PassRecord& pass : run.provenance.passes)
    for (const std::string& word : pass.argv) know_folder(fs::path(word).parent_path());
  for (const auto& [file, digest] : run.provenance.inputs_sha256) know_folder(fs::path(file).parent_path());
  for (const Finding& finding : run.findings)
    for (const FindingEvidence& evidence : finding.evidence) not_paths_.insert(evidence.reference);
  for (const OperatorStep& step : run.operator_steps)
    for (const OperatorCall& call : step.calls) {
      not_paths_.insert(call.node);
      not_paths_.insert(call.holds.begin(), call.holds.end());
    }
}

std::string TextRedaction::apply(std::string_view text) const {
  std::string out(text);
  if (host_)
    for (const std::string& host : hosts_) out = replaced(out, host, kNoHost);
  if (!paths_) return out;
  for (const std::string& folder : folders_) out = replaced(out, folder, kNoFolder);
  return without_paths(out);
}

bool TextRedaction::is_path(std::string_view text) const {
  if (text.empty()) return false;
  const std::size_t second = text.find('/', 1);
  const bool several_names = second != std::string_view::npos && second > 1 && second + 1 < text.size();
  return several_names && roots_.contains(root_of(text)) && !not_paths_.contains(text);
}

std::string TextRedaction::without_paths(std::string_view text) const {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at)) {
    const std::string_view path = may_begin_path(text, at) ? text.substr(at, end_of_path(text, at) - at) : std::string_view();
    if (!is_path(path)) {
      ++at;
      continue;
    }
    out.append(text.substr(done, at - done)).append(last_name_only(path));
    done = at += path.size();
  }
  return out.append(text.substr(done));
}

std::vector<std::string> host_names(const fs::path& bundle) {
  std::vector<std::string> hosts;
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, HOST_NAME_MAX) == 0) add_host(name, hosts);
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(bundle, ignored))
    if (entry.path().extension() == ".sqlite") add_host_of_export(entry.path(), hosts);
  return hosts;
}

// Sample:   env: {"HOME": "/root", "TOKEN": "hunter2"}
std::string without_environment(const std::string& config_yaml, const std::string& where) {
  std::vector<std::size_t> quotes;  // where the values begin
  try {
    const YAML::Node root = YAML::Load(config_yaml);
    for (const ConfigKey& key : config_keys()) {
      if (key.patterns || !std::holds_alternative<std::map<std::string, std::string>& (*)(Config&)>(key.member)) continue;
      const YAML::Node map = value_at(root, key.path);
      if (map.IsDefined() && map.IsMap())
        for (const auto& variable : map) quotes.push_back(static_cast<std::size_t>(variable.second.Mark().pos));
    }
  } catch (const YAML::Exception& broken) {
    throw Error(ErrorKind::kInput, fmt::format("the configuration is damaged: {}", broken.what()), where,
                "use an undamaged copy of the bundle, or --keep-env");
  }
  std::string out = config_yaml;
  std::sort(quotes.rbegin(), quotes.rend());  // from the last to the first, so that the places stay right
  for (const std::size_t at : quotes) {
    if (at >= out.size() || out[at] != '"')
      throw Error(ErrorKind::kInput, "the configuration was changed by hand: a variable's value has no quotes", where,
                  "quote the values of workload.env, or give --keep-env");
    out.replace(at, end_of_quoted(out, at) - at, fmt::format("\"{}\"", kMaskedValue));
  }
  return out;
}

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && simdjson::validate_utf8(bytes.data(), bytes.size());
}

}  // namespace nl::runs

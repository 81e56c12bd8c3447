#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "model/shell.h"
#include "orchestrator/config/config.h"
#include "runs/archive/redaction.h"

// A text is cut into tokens: host names, absolute paths, variables of the command line, and all that is between them, which stays.
namespace fs = std::filesystem;

namespace nl::runs {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr const char* kNoHost = "redacted-host";
constexpr const char* kNoFolder = "/redacted";
constexpr std::string_view kSystemRoots[] = {"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "usr"};
// Root folders of other machines, whose captures are imported here.
constexpr std::string_view kUsualRoots[] = {"Users",  "app", "code",    "data", "fs",      "gpfs",     "home", "lustre",
                                            "media",  "mnt", "nfs",     "opt",  "private", "projects", "root", "scratch",
                                            "shared", "srv", "storage", "tmp",  "users",   "var",      "work", "workspace"};
// Endings that files have and names of a graph's nodes have not.
constexpr std::string_view kFileEndings[] = {".py",  ".pyc", ".ipynb", ".so",  ".cpp", ".cc",   ".cu",   ".cuh",
                                             ".h",   ".hpp", ".rs",    ".sh",  ".pt",  ".pth",  ".onnx", ".bin",
                                             ".npz", ".npy", ".json",  ".txt", ".log", ".yaml", ".yml"};

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_one_of(char c, std::string_view letters) { return c != '\0' && letters.find(c) != kNowhere; }

bool is_name_letter(char c) { return is_alnum(c) || static_cast<unsigned char>(c) >= 0x80 || is_one_of(c, "._+@%~-#$^!"); }

// A folder may be called "lr=0.1,seed=2", "(copy)" or "10:20:30". The same letters stand behind a path in a list.
bool may_be_in_name(char c) { return is_name_letter(c) || is_one_of(c, "=,:()[]{}'&*?"); }

bool is_system_root(std::string_view name) {
  return std::find(std::begin(kSystemRoots), std::end(kSystemRoots), name) != std::end(kSystemRoots);
}

// The length of "/", "//" or, as some writers of JSON escape it, "\/"; 0: none begins here.
std::size_t separator_length(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (text[end] == '/' || (text[end] == '\\' && end + 1 < text.size() && text[end + 1] == '/')))
    end += text[end] == '/' ? 1 : 2;
  return end - at;
}

// "/home/me/run.py" → "home"; nothing where no separator follows it.
std::string_view root_at(std::string_view text, std::size_t slash) {
  const std::size_t begin = slash + separator_length(text, slash);
  std::size_t end = begin;
  while (end < text.size() && is_name_letter(text[end])) ++end;
  return separator_length(text, end) > 0 ? text.substr(begin, end - begin) : std::string_view();
}

// Behind the escape sequence of a terminal's colour: "\x1b[31m", also as "\u001b[31m" in JSON.
bool ends_colour(std::string_view before) {
  if (before.empty() || before.back() != 'm') return false;
  const std::size_t bracket = before.find_last_not_of("0123456789;", before.size() - 2);
  if (before.size() < 3 || bracket == kNowhere || bracket == 0 || before[bracket] != '[') return false;
  return before[bracket - 1] == '\x1b' || before.substr(0, bracket).ends_with("u001b");
}

// Whether a path may begin behind this word: "-I" and "-isystem" are flags, "sftp://host" is before a path of that host. Not in
// tokens/s, src/home/x and https://host/page.
bool begins_behind_word(std::string_view before) {
  std::size_t begin = before.size();
  while (begin > 0 && is_name_letter(before[begin - 1])) --begin;
  const std::string_view word = before.substr(begin), rest = before.substr(0, begin);
  if (word.starts_with('-')) return true;
  if (rest.ends_with('\\') && !word.empty() && is_one_of(word.front(), "nrt") && word.size() == 1) return true;  // "done\n/home/me"
  return rest.ends_with("://") && !rest.ends_with("http://") && !rest.ends_with("https://");
}

// "//" behind the colon of "https:" is followed by a host, and behind that of "file:" by the path itself.
bool is_before_host(std::string_view text, std::size_t slash) {
  return separator_length(text, slash) == 2 && slash > 1 && text[slash - 1] == ':' && is_alnum(text[slash - 2]);
}

bool may_begin_path(std::string_view text, std::size_t slash) {
  if (slash == 0) return true;
  const std::string_view before = text.substr(0, slash);
  const char last = before.back();
  if (is_before_host(text, slash)) return false;
  if (!is_alnum(last) && last != '_' && static_cast<unsigned char>(last) < 0x80) return true;
  return ends_colour(before) || begins_behind_word(before);
}

void longest_first(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() > b.size() : a < b; });
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Every place of `word` in `searched`, which has the length of `text`, that no letter or digit makes longer. An underscore does not: a run
// may be called "HOST_run".
std::string replaced(std::string_view text, std::string_view searched, std::string_view word, std::string_view by) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = searched.find(word); at != kNowhere; at = searched.find(word, at + word.size())) {
    const std::size_t end = at + word.size();
    if ((is_alnum(word.front()) && at > 0 && is_alnum(text[at - 1])) || (end < text.size() && is_alnum(text[end]))) continue;
    out.append(text.substr(done, at - done)).append(by);
    done = end;
  }
  return out.append(text.substr(done));
}

// "/home/me/run.py" → "/redacted/run.py"
std::string last_name_only(std::string_view path) {
  std::size_t end = path.size();
  while (end > 0 && (path[end - 1] == '/' || path[end - 1] == '\\')) --end;
  const std::size_t slash = path.substr(0, end).rfind('/');
  return kNoFolder + std::string(path.substr(slash));
}

bool is_variable(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == kNowhere || equals == 0 || std::isdigit(static_cast<unsigned char>(word[0])) != 0) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) { return is_alnum(c) || c == '_'; });
}

constexpr std::string_view kBlanks = " \t\n;&|()";  // between the words of a script

// `env NAME=VALUE … program`, `sh -c "NAME=VALUE program"`, `nsys --env-var=NAME=VALUE`, `docker -e NAME=VALUE`, `mpirun -x NAME=VALUE`, `srun --export=A=1,B=2`
class CommandVariables {
 public:
  explicit CommandVariables(std::vector<std::string>& found) : found_(found) {}

  void look(const std::vector<std::string>& command) {
    bool of_env = false;
    for (std::size_t n = 0; n < command.size(); ++n) {
      const std::string& word = command[n];
      if (fs::path(word).filename() == "env") of_env = true;
      else if (of_env && is_variable(word)) add(word);
      else if (of_env && !word.starts_with('-')) of_env = false;
      if (n > 0 && takes_variables(command[n - 1])) add_all(word);
      if (n > 0 && command[n - 1] == "-c") look_at_script(word);
      const std::size_t equals = word.find('=');
      if (word.starts_with("--") && equals != kNowhere && takes_variables(word.substr(0, equals))) add_all(word.substr(equals + 1));
    }
  }

 private:
  // What stands at the beginning of each command of a shell: A=1 export B='2 3'; C=4 program D=5
  void look_at_script(std::string_view script) {
    bool at_start = true;
    for (std::size_t begin = script.find_first_not_of(kBlanks); begin != kNowhere; begin = script.find_first_not_of(kBlanks, begin)) {
      const std::size_t end = end_of_word(script, begin);
      const std::string_view word = script.substr(begin, end - begin);
      if (at_start && is_variable(word)) add(std::string(word));
      at_start = is_variable(word) ? at_start : word == "export" || word == "env";
      if (end < script.size() && is_one_of(script[end], ";&|\n")) at_start = true;
      begin = end;
    }
  }
  static std::size_t end_of_word(std::string_view script, std::size_t at) {
    char quote = '\0';
    for (; at < script.size() && (quote != '\0' || !is_one_of(script[at], kBlanks)); ++at) {
      if (quote == '\0' && (script[at] == '"' || script[at] == '\'')) quote = script[at];
      else if (script[at] == quote) quote = '\0';
    }
    return at;
  }
  static bool takes_variables(std::string_view flag) {
    return flag == "-e" || flag == "-x" || flag == "--env" || flag == "--env-var" || flag == "--export";
  }
  void add_all(std::string_view list) {
    if (is_variable(list)) add(std::string(list));  // a comma may belong to a value
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      if (is_variable(list.substr(begin, end - begin))) add(std::string(list.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  // As it stands in a log, in JSON, and in a command that a shell reads.
  void add(const std::string& variable) {
    if (variable.ends_with('=')) return;
    const std::string json = nlohmann::json(variable).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    found_.push_back(variable);
    found_.push_back(json.substr(1, json.size() - 2));
    const std::string shell = shell_quoted(variable);
    if (shell.size() > 2 && shell.front() == '\'') found_.push_back(shell.substr(1, shell.size() - 2));
  }

  std::vector<std::string>& found_;
};

}  // namespace

TextRedaction::TextRedaction(const Redactions& redacted, const Run& run, const fs::path& bundle, std::vector<std::string> hosts)
    : host_(redacted.host), paths_(redacted.paths), hosts_(std::move(hosts)), roots_(std::begin(kUsualRoots), std::end(kUsualRoots)) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/", ignored)) roots_.insert(entry.path().filename().string());
  roots_.insert(kNoFolder + 1);  // what is left behind a known folder is shortened, too
  know_folder(bundle);
  if (const char* home = std::getenv("HOME")) know_folder(home);
  know_run(run);
  for (const std::string_view system : kSystemRoots) roots_.erase(std::string(system));
  if (redacted.environment) {
    CommandVariables found(variables_);
    found.look(run.workload.command);
    for (const PassRecord& pass : run.provenance.passes) found.look(pass.argv);
  }
  for (std::string& host : hosts_) host = lower_case(host);
  longest_first(hosts_);
  longest_first(folders_);
  longest_first(variables_);
}

void TextRedaction::know_folder(const fs::path& folder) {
  const std::string text = folder.lexically_normal().string();
  if (!folder.is_absolute() || text.size() < 2) return;
  const std::string root = text.substr(1, text.find('/', 1) - 1);
  if (is_system_root(root)) return;
  roots_.insert(root);
  const std::string plain = text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
  if (plain.find('/', 1) != kNowhere) folders_.push_back(plain);  // /workspace alone tells nothing
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

void TextRedaction::know_roots_of(std::string_view text) {
  if (!paths_) return;
  for (std::size_t at = text.find('/'); at != kNowhere; at = text.find('/', at + 1)) {
    const std::string_view root = root_at(text, at);
    if (root.empty() || roots_.contains(root) || is_system_root(root) || !may_begin_path(text, at)) continue;
    const std::string_view path = text.substr(at, end_of_path(text, at) - at);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const bool file = std::any_of(std::begin(kFileEndings), std::end(kFileEndings), [&](std::string_view ending) {
      const std::size_t dot = name.find(ending);  // also libx.so.3 and run.py:17
      return dot != kNowhere && dot > 0 && (dot + ending.size() == name.size() || !is_alnum(name[dot + ending.size()]));
    });
    if (file && !not_paths_.contains(path)) roots_.insert(std::string(root));
  }
}

bool TextRedaction::holds_variable(std::string_view bytes) const {
  return std::any_of(variables_.begin(), variables_.end(), [&](const std::string& each) { return bytes.find(each) != kNowhere; });
}

std::string TextRedaction::apply(std::string_view text) const {
  std::string out(text);
  for (const std::string& variable : variables_)
    out = replaced(out, out, variable, fmt::format("{}={}", variable.substr(0, variable.find('=')), orchestrator::kMaskedValue));
  out = without_hosts(out);
  if (!paths_) return out;
  for (const std::string& folder : folders_) out = replaced(out, out, folder, kNoFolder);
  return without_paths(out);
}

std::string TextRedaction::without_hosts(std::string_view text) const {
  std::string out(text);
  if (host_)
    for (const std::string& host : hosts_) out = replaced(out, lower_case(out), host, kNoHost);
  return out;
}

// Behind the path that begins at this separator. A letter that may or may not belong to a name does where a separator follows it, unless
// another path begins there: "/home/me/lr=0.1/x" is one path, "/home/me/a:/home/me/b" is two.
std::size_t TextRedaction::end_of_path(std::string_view text, std::size_t at) const {
  std::size_t end = at;
  while (end < text.size()) {
    if (const std::size_t separator = separator_length(text, end); separator > 0) {
      end += separator;
    } else if (is_name_letter(text[end])) {
      ++end;
    } else {
      std::size_t next = end;
      while (next < text.size() && may_be_in_name(text[next])) ++next;
      if (separator_length(text, next) == 0) break;
      const std::string_view root = root_at(text, next);
      const bool begins_another = is_one_of(text[next - 1], "=,:([{'&") && (roots_.contains(root) || is_system_root(root));
      if (begins_another && text[end - 1] != '/') break;
      end = next;
    }
  }
  return end;
}

bool TextRedaction::is_path(std::string_view text, std::size_t at) const {
  const std::string_view root = root_at(text, at);
  if (root.empty() || !roots_.contains(root) || !may_begin_path(text, at)) return false;
  const std::string_view path = text.substr(at, end_of_path(text, at) - at);
  const std::size_t second = separator_length(path, 0) + root.size();
  return second + separator_length(path, second) < path.size() && !not_paths_.contains(path);  // "/home/" tells nothing
}

std::string TextRedaction::without_paths(std::string_view text) const {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find('/'); at != kNowhere; at = text.find('/', at)) {
    const std::size_t begin = at > done && text[at - 1] == '\\' ? at - 1 : at;
    if (!is_path(text, begin)) {
      at += std::max<std::size_t>(separator_length(text, at), 1);
      continue;
    }
    const std::size_t end = end_of_path(text, begin);
    const bool url = text.substr(0, begin).ends_with("file:") && separator_length(text, begin) == 3;
    out.append(text.substr(done, begin - done)).append(url ? "//" : "").append(last_name_only(text.substr(begin, end - begin)));
    done = at = end;
  }
  return out.append(text.substr(done));
}

}  // namespace nl::runs

#include "servers/mcp/run_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/error.h"
#include "model/input_bounds.h"
#include "runs/ledger/ledger.h"
#include "servers/confine.h"

namespace nl::servers::mcp {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kRunPrefix = "nl-stage://run/", kBundlePrefix = "nl-stage://bundle/";
constexpr std::string_view kRunJson = "run.json", kFindings = "findings";
constexpr std::uintmax_t kMostFileBytes = 16 << 20;

struct KnownFile {
  std::string_view name, mime_type, what;
};
// No others: a bundle has captures, logs and the configuration too.
constexpr auto kFiles = std::to_array<KnownFile>({{kRunJson, "application/json", "everything that was measured and concluded"},
                                                  {kFindings, "application/json", "the findings of run.json"},
                                                  {"report.md", "text/markdown", "the report for engineers"},
                                                  {"stakeholder_summary.md", "text/markdown", "the summary for managers"},
                                                  {"kernels.md", "text/markdown", "every kernel"}});
constexpr std::array<std::string_view, 2> kListed = {"report.md", kRunJson};

const KnownFile* known_file(std::string_view name) {
  const auto found = std::find_if(kFiles.begin(), kFiles.end(), [name](const KnownFile& file) { return file.name == name; });
  return found == kFiles.end() ? nullptr : found;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "a%20b" → "a b"
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : digit_of(text[i + 2]);
    out += low < 0 ? text[i] : static_cast<char>(high * 16 + low);
    if (low >= 0) i += 2;
  }
  return out;
}

struct Address {
  bool in_ledger = false;
  std::string place;  // a run as the ledger names it, or the folder of a bundle
  const KnownFile* file = nullptr;
  std::string pointer;  // into run.json; empty: all of it
};

std::optional<Address> address_of(const std::string& uri) {
  Address address;
  std::string_view rest = uri;
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    address.pointer = decoded(rest.substr(hash + 1));
    rest = rest.substr(0, hash);
  }
  address.in_ledger = rest.starts_with(kRunPrefix);
  if (!address.in_ledger && !rest.starts_with(kBundlePrefix)) return std::nullopt;
  rest.remove_prefix(address.in_ledger ? kRunPrefix.size() : kBundlePrefix.size());
  const std::size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  address.place = decoded(rest.substr(0, slash));
  address.file = known_file(rest.substr(slash + 1));
  return address.file == nullptr ? std::nullopt : std::optional(std::move(address));
}

std::optional<std::string> file_text(const fs::path& file) {
  std::error_code failed;
  if (!fs::is_regular_file(file, failed)) return std::nullopt;
  if (fs::file_size(file, failed) > kMostFileBytes)
    throw Error(ErrorKind::kInput, fmt::format("the file is larger than {} MB", kMostFileBytes >> 20), file.filename().string(),
                "ask for a part of it with the tool `query`");
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return in.bad() ? std::nullopt : std::optional(std::move(text));
}

bool is_of_run_json(const KnownFile& file) { return file.name == kRunJson || file.name == kFindings; }

// A part of run.json; none where it has no such part.
std::optional<std::string> part_of(const std::string& run_json, const Address& address) {
  const std::string pointer = address.file->name == kFindings ? "/findings" + address.pointer : address.pointer;
  if (pointer.empty()) return run_json;
  try {
    return nlohmann::ordered_json::parse(json_within_bounds(run_json, std::string(kRunJson)))
        .at(nlohmann::ordered_json::json_pointer(pointer))
        .dump(1);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<ResourceTemplate> RunResources::templates() const {
  std::vector<ResourceTemplate> templates;
  for (const KnownFile& file : kFiles)
    templates.push_back({fmt::format("{}{{run}}/{}", kRunPrefix, file.name), std::string(file.name),
                         fmt::format("{} of a run of the ledger: its id, or a name as the tools take it", file.what),
                         std::string(file.mime_type)});
  templates.push_back({fmt::format("{}{{run}}/{}#{{pointer}}", kRunPrefix, kRunJson), "part of run.json",
                       "a part of run.json by its JSON pointer, such as /findings/0 or /stages", "application/json"});
  templates.push_back({fmt::format("{}{{+path}}/{}", kBundlePrefix, kRunJson), "run.json of a bundle",
                       "the same files of a bundle that no ledger knows, by its path below the server's root", "application/json"});
  return templates;
}

std::vector<Resource> RunResources::list(std::size_t from, std::size_t most) {
  if (orchestrator::ledger_is_off(ledger_)) return {};
  const std::string location = orchestrator::ledger_location(ledger_);
  std::vector<runs::LedgerEntry> entries;
  try {
    entries = runs::Ledger::open(location, runs::database::Absent::kRefuse).query({.limit = (from + most) / kListed.size() + 1});
  } catch (const Error& error) {
    if (error.kind != ErrorKind::kInput) throw;  // there is no ledger yet
  }
  std::vector<Resource> all;
  for (const runs::LedgerEntry& entry : entries)
    for (const std::string_view name : kListed)
      all.push_back({fmt::format("{}{}/{}", kRunPrefix, entry.run_id, name), fmt::format("{} of {}", name, entry.run_id),
                     fmt::format("{}, {}: {}", entry.name, entry.created_at, name), std::string(known_file(name)->mime_type)});
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(from, all.size())));
  if (all.size() > most) all.resize(most);
  return all;
}

std::optional<ResourceText> RunResources::read(const std::string& uri) {
  const auto address = address_of(uri);
  if (!address || (address->in_ledger && orchestrator::ledger_is_off(ledger_))) return std::nullopt;
  const std::string name(is_of_run_json(*address->file) ? kRunJson : address->file->name);
  std::optional<std::string> text;
  if (address->in_ledger) {
    runs::Ledger ledger = runs::Ledger::open(orchestrator::ledger_location(ledger_), runs::database::Absent::kRefuse);
    const runs::LedgerEntry entry = ledger.resolve(address->place);
    text = is_of_run_json(*address->file) ? std::optional(ledger.run_json(entry.run_id)) : file_text(entry.bundle / name);
  } else {
    text = file_text(within_root(root_, address->place + "/" + name));
  }
  if (text && is_of_run_json(*address->file)) text = part_of(*text, *address);
  if (!text) return std::nullopt;
  return ResourceText{std::string(address->file->mime_type), std::move(*text)};
}

}  // namespace nl::servers::mcp

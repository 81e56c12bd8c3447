#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "model/text_table.h"
#include "model/visible_text.h"
#include "runs/ledger/entry_json.h"
#include "runs/ledger/ledger.h"

// What the ledger has.
namespace nl::cli {
namespace {

using runs::entry_json;

std::string joined_tags(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
  return text;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// "2026-11-16T17:37:57Z" → "2026-11-16 17:37"
std::string minute_of(const std::string& time) { return time.size() < 16 ? time : time.substr(0, 10) + " " + time.substr(11, 5); }

// How fast a run is, by the first of these that it has.
struct Headline {
  std::string_view key, words;  // "{}": the value
  double factor = 1;
};
constexpr Headline kHeadlines[] = {{"tpot_unprofiled_ms", "{} ms/token"},
                                   {"tpot_ms", "{} ms/token, traced"},
                                   {"inference_ms", "{} ms/inference"},
                                   {"gpu_busy_share", "GPU busy {} %", 100}};

std::string headline_text(const runs::LedgerEntry& entry) {
  for (const Headline& each : kHeadlines) {
    const auto found = entry.metrics.find(std::string(each.key));
    if (found != entry.metrics.end()) return fmt::format(fmt::runtime(each.words), three_digits(found->second * each.factor));
  }
  return "-";
}

constexpr std::size_t kTimeDigits = 15;  // "20261116-173757"

// As much of each id as tells it from the others of the list: RUN can be the beginning of an id.
std::vector<std::string> short_ids(const std::vector<runs::LedgerEntry>& entries) {
  std::vector<std::string> ids;
  for (const auto& entry : entries) {
    std::size_t length = kTimeDigits;
    const auto same = [&](const runs::LedgerEntry& other) {
      return other.run_id != entry.run_id && other.run_id.compare(0, length, entry.run_id, 0, length) == 0;
    };
    while (length < entry.run_id.size() && std::any_of(entries.begin(), entries.end(), same)) ++length;
    ids.push_back(entry.run_id.substr(0, length));
  }
  return ids;
}

using Metrics = std::vector<std::string>;

// A short id says when it was made, and stands where there is no room for the whole one.
TextTable entry_rows(const std::vector<runs::LedgerEntry>& entries, const Metrics& metrics, bool whole) {
  TextTable table{{"run", "name", "status"}, {}, {}, metrics.size()};
  if (whole) table.head.insert(table.head.begin() + 1, "made (UTC)");
  if (metrics.empty()) table.head.emplace_back("speed");
  table.texts_always_shown = table.head.size();
  table.head.insert(table.head.end(), {"model", "GPU", "tags"});
  table.numbers.resize(table.head.size(), false);
  table.numbers.resize(table.head.size() + metrics.size(), true);
  table.head.insert(table.head.end(), metrics.begin(), metrics.end());
  const auto ids = short_ids(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& entry = entries[i];
    std::vector<std::string> row = {whole ? entry.run_id : ids[i], entry.name, entry.status};
    if (whole) row.insert(row.begin() + 1, minute_of(entry.created_at));
    if (metrics.empty()) row.push_back(headline_text(entry));
    row.insert(row.end(), {or_dash(entry.model), or_dash(entry.gpu), or_dash(joined_tags(entry.tags))});
    for (const std::string& key : metrics) row.push_back(entry.metrics.contains(key) ? metric_words(key, entry.metrics.at(key)) : "-");
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::size_t first_line_width(const std::string& text) { return columns_of(text.substr(0, text.find('\n'))); }

// width: 0: as wide as it is
std::string entry_table(const std::vector<runs::LedgerEntry>& entries, const Metrics& metrics, std::size_t width) {
  const TextTable whole = entry_rows(entries, metrics, true);
  const std::string all = fitted(whole, 0).text;
  std::size_t widest = 0;
  for (std::size_t at = 0; at < all.size(); at = all.find('\n', at) + 1) widest = std::max(widest, first_line_width(all.substr(at)));
  if (width == 0 || widest <= width) return all;
  const FittedTable shown = fitted(entry_rows(entries, metrics, false), width);
  return shown.text + (shown.left_out.empty()
                           ? ""
                           : wrapped(fmt::format("not shown for lack of room: {}", fmt::join(shown.left_out, ", ")), width, 0, 0) + "\n");
}

struct LsFlags : FilterFlags {
  std::size_t limit = 20;
  bool names = false, metric_names = false, json = false;
};

// For the completion of a shell, which would take other letters for its own.
bool is_plain(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || std::string_view("._-+@%=:~/").find(static_cast<char>(letter)) != std::string_view::npos;
  });
}

constexpr std::size_t kProposedRuns = 100;  // the newest: a shell that proposes all of a hundred thousand is of no use

// What RUN can be, a word a line: ids, names and tags of the newest runs.
std::set<std::string> names_of_runs(runs::Ledger& ledger) {
  std::set<std::string> names;
  for (const runs::LedgerEntry& entry : ledger.query({.limit = kProposedRuns})) {
    names.insert({entry.run_id, entry.name});
    for (const std::string& tag : entry.tags) names.insert("tag:" + tag);
  }
  return names;
}

// The metrics of the newest runs; to look at those of all takes seconds.
std::set<std::string> names_of_metrics(runs::Ledger& ledger) {
  constexpr std::size_t kRuns = 5;
  std::set<std::string> names;
  for (const runs::LedgerEntry& entry : ledger.query({.limit = kRuns}))
    for (const auto& [key, value] : ledger.metrics(entry.run_id)) names.insert(key);
  return names;
}

// Called by completions, on each key: without a ledger there is nothing to say.
int propose(const LsFlags& flags) {
  std::set<std::string> words;
  try {
    runs::Ledger ledger = open_ledger(flags.ledger);
    words = flags.names ? names_of_runs(ledger) : names_of_metrics(ledger);
  } catch (const Error&) {
  }
  std::erase_if(words, [](const std::string& word) { return !is_plain(word); });
  if (flags.json) write_json({{"words", words}});
  else
    for (const std::string& word : words) write_out("{}\n", word);
  return 0;
}

// "No runs.", and where to look further.
std::string none_found(runs::Ledger& ledger, runs::LedgerFilter filter) {
  if (filter.parts) return "No runs.";
  filter.parts = true;
  filter.limit = 1;
  return ledger.query(filter).empty() ? "No runs." : "No runs but the rounds of try and bisect: --all lists them.";
}

int list_runs(const LsFlags& flags) {
  if (flags.names || flags.metric_names) return propose(flags);
  runs::LedgerFilter filter = filter_of(flags);
  filter.limit = flags.limit == 0 || flags.json ? flags.limit : flags.limit + 1;  // one more tells whether there are more
  runs::Ledger ledger = open_ledger(flags.ledger);
  if (!flags.json && filter.metrics.empty())
    for (const Headline& each : kHeadlines) filter.metrics.emplace_back(each.key);
  auto entries = ledger.query(filter);
  if (flags.json) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& entry : entries) list.push_back(entry_json(entry));
    write_json({{"runs", list}});
    return 0;
  }
  const bool more = flags.limit > 0 && entries.size() > flags.limit;
  if (more) entries.pop_back();
  if (entries.empty()) write_out("{}\n", none_found(ledger, filter));
  else write_text(entry_table(entries, flags.filter.metrics, line_width()));
  if (more) write_out("There are more: --limit 0 lists all.\n");
  std::fflush(stdout);
  return 0;
}

}  // namespace

void add_ls(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<LsFlags>();
  CLI::App* verb = app.add_subcommand("ls", "List and search the runs of the ledger, the newest first");
  verb->add_option("words", flags->words,
                   "words, or beginnings of words, of names, model, GPU, command, kernels, findings, tags or notes; all must be there");
  add_filter_flags(*verb, *flags);
  verb->add_option("--metric", flags->filter.metrics, "show this metric (nl-stage gate --list names them); repeatable")
      ->allow_extra_args(false)
      ->type_name("METRIC");
  verb->add_flag("--names", flags->names, "print what RUN can be, a word a line: for completions")->group("");
  verb->add_flag("--metric-names", flags->metric_names, "print the metrics of the newest runs, likewise")->group("");
  verb->add_option("-n,--limit", flags->limit, "at most so many; 0: all")->capture_default_str();
  verb->add_flag("--json", flags->json, "print {runs: [{run_id, created_at, name, mode, status, model …, tags, metrics}]}");
  verb->footer(
      "Examples:\n"
      "  nl-stage ls\n"
      "  nl-stage ls llama --gpu H200 --since 7d --tag release\n"
      "  nl-stage ls flash_fwd --metric tpot_ms --metric stage.decode_step.unprofiled_ms\n"
      "  nl-stage ls --status failed --limit 0 --json\n"
      "The exit status is 3 if there is no ledger, or it is damaged or newer than this nl-stage.");
  verb->callback([flags, &action] { action = [flags] { return list_runs(*flags); }; });
}

}  // namespace nl::cli

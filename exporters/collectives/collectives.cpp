#include "exporters/collectives/collectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/collectives/sentences.h"
#include "exporters/report/text/document.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "model/visible_text.h"

namespace nl::exporters {
namespace collectives {
namespace {

using namespace report;

constexpr std::size_t kMostRows = 40;  // --json has all

const char* state_text(CallState state) {
  switch (state) {
    case CallState::kScheduled: return "scheduled";
    case CallState::kStarted: return "started";
    case CallState::kCompleted: return "completed";
  }
  return kNoValue;
}

const char* timing_text(TimingSource source) {
  switch (source) {
    case TimingSource::kUnknown: return kNoValue;
    case TimingSource::kGpuKernel: return "kernel, by the GPU";
    case TimingSource::kCpuKernel: return "kernel, by the CPU";
    case TimingSource::kCpuCall: return "call, by the CPU";
  }
  return kNoValue;
}

std::string or_dash(std::string text) { return text.empty() ? std::string(kNoValue) : text; }

void add(Table table, Blocks& blocks) {
  if (table.rows.empty()) return;
  blocks.push_back(Heading{table.label});
  if (table.rows.size() > kMostRows) table.text_rows = kMostRows, table.text_note = "--json has all rows.";
  blocks.push_back(std::move(table));
}

Table waited_for_table(const FlightReport& report) {
  Table table{"Ranks that others wait for",
              {{"Rank", kRight}, {"Waited for by"}, {"Waits for"}, {"Last recorded call"}, {"State"}, {"From"}}};
  for (const WaitedFor& each : report.waited_for)
    table.rows.push_back({std::to_string(each.rank), rank_numbers(each.by), rank_numbers(each.waits_for),
                          !each.has_dump           ? "no dump"
                          : each.last_kind.empty() ? "none"
                                                   : fmt::format("{} #{}, group {}", each.last_kind, each.last_sequence, each.last_group),
                          each.last_kind.empty() ? kNoValue : state_text(each.last_state), or_dash(site_text(each.last_stack))});
  return table;
}

Table waits_table(const FlightReport& report) {
  Table table{"Calls that are not done",
              {{"Group"},
               {"Call"},
               {"#", kRight},
               {"Started on"},
               {"Scheduled on"},
               {"Completed on"},
               {"Not called by"},
               {"No dump of"},
               {"Not known of"},
               {"From"}}};
  for (const GroupReport& group : report.groups) {
    if (!group.wait) continue;
    const GroupWait& wait = *group.wait;
    table.rows.push_back({group_text(group.group), wait.form.kind, std::to_string(wait.sequence), rank_numbers(wait.started),
                          rank_numbers(wait.scheduled), rank_numbers(wait.completed), rank_numbers(wait.not_called),
                          rank_numbers(wait.no_dump), rank_numbers(wait.unknown), or_dash(site_text(wait.stack))});
  }
  return table;
}

Table mismatch_table(const FlightReport& report) {
  Table table{"The first calls that differ", {{"Group"}, {"#", kRight}, {"Ranks"}, {"Call"}, {"Gives"}, {"Takes"}, {"Types"}, {"From"}}};
  for (const GroupReport& group : report.groups) {
    if (!group.mismatch) continue;
    for (const MismatchSide& side : group.mismatch->sides)
      table.rows.push_back({group_text(group.group), std::to_string(group.mismatch->sequence), rank_numbers(side.ranks), side.form.kind,
                            sizes_text(side.form.inputs), sizes_text(side.form.outputs), or_dash(join(side.form.input_dtypes)),
                            or_dash(site_text(side.stack))});
  }
  return table;
}

// "17" where all ranks have it, else "16 to 17".
std::string range_text(const GroupReport& group, std::optional<std::uint64_t> MemberState::* number) {
  std::optional<std::uint64_t> least, most;
  bool none = false;
  for (const MemberState& member : group.members) {
    if (!member.has_dump) continue;
    const auto& value = member.*number;
    if (!value) none = true;
    else least = std::min(least.value_or(*value), *value), most = std::max(most.value_or(*value), *value);
  }
  if (!most) return kNoValue;
  return fmt::format("{}{}", *least == *most ? std::to_string(*most) : fmt::format("{} to {}", *least, *most), none ? ", some none" : "");
}

Table groups_table(const FlightReport& report) {
  Table table{"Last calls of the groups", texts({"Group", "Ranks"}) + numbers({"Dumps", "Called", "Started", "Completed"})};
  for (const GroupReport& group : report.groups) {
    const auto dumps = std::count_if(group.members.begin(), group.members.end(), [](const MemberState& member) { return member.has_dump; });
    table.rows.push_back({group_text(group.group), rank_numbers(group.group.ranks), std::to_string(dumps),
                          range_text(group, &MemberState::called), range_text(group, &MemberState::started),
                          range_text(group, &MemberState::completed)});
  }
  return table;
}

Table peers_table(const FlightReport& report) {
  Table table{"Sends and receives that are not done", {{"Rank", kRight}, {"Call"}, {"#", kRight}, {"State"}, {"Other end"}, {"From"}}};
  for (const PeerWait& wait : report.peers)
    table.rows.push_back({std::to_string(wait.rank), fmt::format("{} rank {}", wait.sends ? "send to" : "receive from", wait.peer),
                          std::to_string(wait.sequence), state_text(wait.state),
                          !wait.peer_has_dump ? "no dump"
                          : !wait.peer_called ? "not known"
                          : *wait.peer_called ? "called"
                                              : "not called",
                          or_dash(site_text(wait.stack))});
  return table;
}

List list_of_sentences(const std::vector<std::string>& sentences) {
  List list;
  for (const std::string& text : sentences) list.items.push_back({Text(text)});
  return list;
}

void add_sentences(const std::vector<std::string>& sentences, Blocks& blocks) {
  for (const std::string& text : sentences) blocks.push_back(Paragraph{text});
}

void add_flight(const FlightReport& report, Document& document) {
  add_sentences(flight_sentences(report), document.lead);
  if (const auto notes = flight_notes(report); !notes.empty()) document.lead.push_back(list_of_sentences(notes));
  Section calls{"", "", "What the dumps of the flight recorder have"};
  for (Table table : {mismatch_table(report), waited_for_table(report), waits_table(report), peers_table(report), groups_table(report)})
    add(std::move(table), calls.blocks);
  if (!calls.blocks.empty()) document.sections.push_back(std::move(calls));
}

std::string us_or_dash(double us) { return us_text(us * 1000); }

Row speed_row(const CollectiveSpeed& speed) {
  const auto by_median = [](const RankSpeed& a, const RankSpeed& b) { return a.median_us < b.median_us; };
  const auto [least, most] = std::minmax_element(speed.by_rank.begin(), speed.by_rank.end(), by_median);
  const auto last = std::max_element(speed.by_rank.begin(), speed.by_rank.end(),
                                     [](const RankSpeed& a, const RankSpeed& b) { return a.shortest < b.shortest; });
  std::uint64_t calls = 0;
  for (const RankSpeed& rank : speed.by_rank) calls = std::max(calls, rank.calls);
  return {
      visible_line(speed.name.empty() ? speed.communicator : speed.name),
      speed.kind,
      bytes_text(static_cast<double>(speed.size_bytes)),
      speed.absent == 0 ? std::to_string(speed.by_rank.size()) : fmt::format("{} of {}", speed.by_rank.size(), speed.ranks),
      count_text(calls),
      fmt::format("{} ({})", us_or_dash(least->median_us), least->rank),
      fmt::format("{} ({})", us_or_dash(most->median_us), most->rank),
      signed_percent(spread_of(speed)),
      fmt::format("{} to {}", three_digits(most->bus_gbs), three_digits(least->bus_gbs)),
      speed.calls_of_all > 0 && last->shortest > 0
          ? fmt::format("{} ({})", share_text(static_cast<double>(last->shortest) / static_cast<double>(speed.calls_of_all)), last->rank)
          : std::string(kNoValue),
      timing_text(speed.source)};
}

void add_inspector(const CollectiveReport& report, Document& document) {
  Section speeds{"", "", "What NCCL Inspector timed"};
  add_sentences(inspector_sentences(report), speeds.blocks);
  Table table{
      "Times of collectives, with the rank in brackets",
      texts({"Communicator", "Collective"}) +
          numbers({"Size", "Ranks", "Calls", "Shortest median, µs", "Longest median, µs", "Spread", "Bus, GB/s", "Most often shortest"}) +
          texts({"Timed"})};
  for (const CollectiveSpeed& speed : report.speeds) table.rows.push_back(speed_row(speed));
  add(std::move(table), speeds.blocks);
  speeds.blocks.push_back(Paragraph{
      "A rank that comes last has the shortest time: those of the others include their wait for it. Ranks are those of the communicator."});
  document.sections.push_back(std::move(speeds));
}

}  // namespace

Document document_of(const CollectiveReport& report) {
  Document document{"Collectives", "", {}, {}, {}, false};
  if (report.flight) add_flight(*report.flight, document);
  if (report.inspector_files > 0) add_inspector(report, document);
  return document;
}

}  // namespace collectives

std::string collectives_markdown(const CollectiveReport& report) { return markdown(collectives::document_of(report)); }
std::string collectives_text(const CollectiveReport& report, std::size_t width) {
  return terminal_text(collectives::document_of(report), width);
}

}  // namespace nl::exporters

#include <algorithm>

#include "exporters/perfetto/packets.h"
#include "exporters/perfetto/proto.h"
#include "exporters/report/html/html.h"
#include "model/words.h"

namespace nl::exporters::perfetto {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::size_t kMaxHeadBytes = 128;  // of an event, without its arguments
constexpr std::uint64_t kSequence = 1;

constexpr const char* kCategoryNames[] = {"range", "api", "kernel", "copy", "graph", "mark", "nl-stage"};
constexpr const char* kArgNames[] = {"kernel",  "grid",         "block",           "registers", "shared_bytes", "correlation", "bytes",
                                     "payload", "never_closed", "ended_by_thread", "merged",    "memory",       "text"};

std::string describing(const Message& track) {
  return Message().number(packet::kSequenceId, kSequence).message(packet::kTrackDescriptor, track).bytes();
}

std::uint64_t unsigned_ns(Ns time_ns) { return static_cast<std::uint64_t>(std::max<Ns>(time_ns, 0)); }

void add(std::string& args, const Message& annotation) { args += Message().message(event::kAnnotation, annotation).bytes(); }

Message named(Arg arg) { return Message().number(annotation::kNameId, static_cast<std::uint64_t>(arg)); }

}  // namespace

Packets::Packets(const PerfettoSink& sink, const StringPool& strings)
    : sink_(sink), strings_(strings), names_{interned::kNames, std::vector<bool>(strings.size()), {}},
      texts_{interned::kTexts, std::vector<bool>(strings.size()), {}}, buffer_(kBufferBytes) {
  Message names;
  std::uint64_t id = 0;
  for (const char* category : kCategoryNames)
    names.message(interned::kCategories, Message().number(interned::kId, ++id).text(interned::kText, category));
  id = 0;
  for (const char* arg : kArgNames)
    names.message(interned::kAnnotationNames, Message().number(interned::kId, ++id).text(interned::kText, arg));
  send(Message()
           .number(packet::kSequenceId, kSequence)
           .number(packet::kSequenceFlags, packet::kStateCleared)
           .message(packet::kInternedData, names)
           .number(packet::kFirstOnSequence, 1)
           .bytes());
}

void Packets::clock(std::int64_t utc_start_ns) {
  const auto at = [](unsigned id, std::uint64_t time) { return Message().number(clocks::kId, id).number(clocks::kTimestamp, time); };
  Message snapshot;
  snapshot.message(clocks::kClocks, at(clocks::kBoottime, 0));
  snapshot.message(clocks::kClocks, at(clocks::kRealtime, static_cast<std::uint64_t>(utc_start_ns)));
  send(Message().number(packet::kSequenceId, kSequence).message(packet::kClockSnapshot, snapshot).bytes());
}

Track Packets::process(std::uint32_t pid, std::string_view name) {
  const Message process = Message().number(descriptor::kProcessPid, pid).text(descriptor::kProcessName, html::utf8(name));
  send(describing(Message().number(descriptor::kUuid, ++last_track_).message(descriptor::kProcess, process)));
  return last_track_;
}

Track Packets::thread(std::uint32_t pid, std::uint32_t tid, std::string_view name) {
  Message thread = Message().number(descriptor::kThreadPid, pid).number(descriptor::kThreadTid, tid);
  if (!name.empty()) thread.text(descriptor::kThreadName, html::utf8(name));
  send(describing(Message().number(descriptor::kUuid, ++last_track_).message(descriptor::kThread, thread)));
  return last_track_;
}

Track Packets::track(std::string_view name, Track parent) {
  Message track = Message().number(descriptor::kUuid, ++last_track_).text(descriptor::kName, html::utf8(name));
  if (parent != 0) track.number(descriptor::kParent, parent);
  send(describing(track));
  return last_track_;
}

Track Packets::counter(std::string_view name, std::optional<MetricUnit> unit, Track parent) {
  Message counter;
  if (!unit) counter.number(descriptor::kUnit, descriptor::kUnitCount);
  else if (unit == MetricUnit::kBytes) counter.number(descriptor::kUnit, descriptor::kUnitBytes);
  else counter.text(descriptor::kUnitName, key_of(*unit));
  Message track = Message().number(descriptor::kUuid, ++last_track_).text(descriptor::kName, html::utf8(name));
  if (parent != 0) track.number(descriptor::kParent, parent);
  send(describing(track.message(descriptor::kCounter, counter)));
  return last_track_;
}

std::uint64_t Packets::name(StringId id) { return intern(names_, id); }
std::uint64_t Packets::name(std::string_view text) { return intern(names_, text); }
std::uint64_t Packets::text(StringId id) { return intern(texts_, id); }
std::uint64_t Packets::text(std::string_view text) { return intern(texts_, text); }

std::uint64_t Packets::intern(Pool& pool, StringId id) {
  if (id.value >= pool.sent.size()) return intern(pool, std::string_view());
  if (!pool.sent[id.value]) {
    pool.sent[id.value] = true;
    send_interned(pool.field, id.value + std::uint64_t{1}, strings_[id]);
  }
  return id.value + std::uint64_t{1};
}

std::uint64_t Packets::intern(Pool& pool, std::string_view text) {
  if (const auto found = pool.others.find(text); found != pool.others.end()) return found->second;
  const std::uint64_t id = pool.sent.size() + pool.others.size() + 1;
  pool.others.emplace(text, id);
  send_interned(pool.field, id, text);
  return id;
}

void Packets::send_interned(unsigned field, std::uint64_t id, std::string_view text) {
  const Message entry = Message().number(interned::kId, id).text(interned::kText, html::utf8(text));
  send(Message().number(packet::kSequenceId, kSequence).message(packet::kInternedData, Message().message(field, entry)).bytes());
}

void Packets::begin(const Event& event) {
  ++events_;
  put_event(event::kSliceBegin, event);
}

void Packets::instant(const Event& event) {
  ++events_;
  put_event(event::kInstant, event);
}

void Packets::put_event(unsigned type, const Event& event) {
  char body[kMaxHeadBytes];
  char* end = put_number(body, event::kType, type);
  end = put_number(end, event::kTrack, event.track);
  end = put_number(end, event::kCategoryId, static_cast<std::uint64_t>(event.category));
  end = put_number(end, event::kNameId, event.name);
  if (event.flow != 0) end = put_fixed64(end, event::kFlow, event.flow);
  if (event.terminating_flow != 0) end = put_fixed64(end, event::kTerminatingFlow, event.terminating_flow);
  const auto body_bytes = static_cast<std::size_t>(end - body);
  char head[kMaxHeadBytes];
  char* head_end = put_number(head, packet::kTimestamp, unsigned_ns(event.time_ns));
  head_end = put_number(head_end, packet::kSequenceId, kSequence);
  head_end = put_number(head_end, packet::kSequenceFlags, packet::kNeedsState);
  head_end = put_length(head_end, packet::kTrackEvent, body_bytes + event.args.size());
  const auto head_bytes = static_cast<std::size_t>(head_end - head);
  const std::size_t total = head_bytes + body_bytes + event.args.size();
  char* out = room(total + 16);
  char* const start = out;
  out = put_length(out, trace::kPacket, total);
  std::memcpy(out, head, head_bytes);
  std::memcpy(out + head_bytes, body, body_bytes);
  std::copy(event.args.begin(), event.args.end(), out + head_bytes + body_bytes);
  used_ += static_cast<std::size_t>(out - start) + total;
}

void Packets::end(Track track, Ns time_ns) {
  char body[kMaxHeadBytes];
  char* end = put_number(body, packet::kTimestamp, unsigned_ns(time_ns));
  end = put_number(end, packet::kSequenceId, kSequence);
  char inner[32];
  char* inner_end = put_number(put_number(inner, event::kType, event::kSliceEnd), event::kTrack, track);
  end = put_length(end, packet::kTrackEvent, static_cast<std::size_t>(inner_end - inner));
  end = std::copy(inner, inner_end, end);
  send({body, static_cast<std::size_t>(end - body)});
}

void Packets::count(Track track, Ns time_ns, std::int64_t value) {
  put_count(track, time_ns, [&](char* end) { return put_number(end, event::kCounterValue, static_cast<std::uint64_t>(value)); });
}

void Packets::count(Track track, Ns time_ns, double value) {
  put_count(track, time_ns, [&](char* end) { return put_fixed64(end, event::kDoubleCounterValue, std::bit_cast<std::uint64_t>(value)); });
}

template <class PutValue>
void Packets::put_count(Track track, Ns time_ns, PutValue put_value) {
  char inner[64];
  const char* end = put_value(put_number(put_number(inner, event::kType, event::kCounter), event::kTrack, track));
  send(Message()
           .number(packet::kTimestamp, unsigned_ns(time_ns))
           .number(packet::kSequenceId, kSequence)
           .text(packet::kTrackEvent, {inner, static_cast<std::size_t>(end - inner)})
           .bytes());
}

void Packets::send(std::string_view packet) {
  char* out = room(packet.size() + 16);
  char* const start = out;
  out = put_length(out, trace::kPacket, packet.size());
  out = std::copy(packet.begin(), packet.end(), out);
  used_ += static_cast<std::size_t>(out - start);
}

char* Packets::room(std::size_t bytes) {
  if (buffer_.size() - used_ < bytes) {
    finish();
    if (buffer_.size() < bytes) buffer_.resize(bytes);
  }
  return buffer_.data() + used_;
}

void Packets::finish() {
  if (used_ > 0) sink_({buffer_.data(), used_});
  used_ = 0;
}

void add_arg(std::string& args, Arg arg, std::uint64_t value) { add(args, named(arg).number(annotation::kUint, value)); }

void add_signed_arg(std::string& args, Arg arg, std::int64_t value) {
  add(args, named(arg).number(annotation::kInt, static_cast<std::uint64_t>(value)));
}

void add_text_arg(std::string& args, Arg arg, std::uint64_t text_id) { add(args, named(arg).number(annotation::kTextId, text_id)); }

}  // namespace nl::exporters::perfetto

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/perfetto/perfetto.h"
#include "model/metrics.h"
#include "model/strings.h"
#include "model/time.h"

namespace nl::exporters::perfetto {

using Track = std::uint64_t;  // Perfetto calls it a uuid

enum class Category : std::uint8_t { kRange = 1, kApi, kKernel, kCopy, kGraph, kMark, kNote };
enum class Arg : std::uint8_t {
  kKernel = 1,
  kGrid,
  kBlock,
  kRegisters,
  kSharedBytes,
  kCorrelation,
  kBytes,
  kPayload,
  kOpen,
  kEndedByThread,
  kMerged,
  kMemory,
  kText,
};

// Writes packets: one sequence, every name once. Events may come in any order of time; those of one track and one
// instant are kept in the order given.
class Packets {
 public:
  // Names of the trace are numbered as in its pool; others get the numbers after them.
  Packets(const PerfettoSink& sink, const StringPool& strings);

  void clock(std::int64_t utc_start_ns);
  Track process(std::uint32_t pid, std::string_view name);
  Track thread(std::uint32_t pid, std::uint32_t tid, std::string_view name);
  Track track(std::string_view name, Track parent);                                    // parent 0: none
  Track counter(std::string_view name, std::optional<MetricUnit> unit, Track parent);  // no unit: it counts things

  std::uint64_t name(StringId id);
  std::uint64_t name(std::string_view text);
  std::uint64_t text(StringId id);
  std::uint64_t text(std::string_view text);

  struct Event {
    Track track = 0;
    Ns time_ns = 0;
    Category category = Category::kRange;
    std::uint64_t name = 0;
    std::uint64_t flow = 0;              // an arrow begins here
    std::uint64_t terminating_flow = 0;  // and ends here
    std::string_view args;               // as encoded below
  };
  void begin(const Event& event);
  void end(Track track, Ns time_ns);
  void instant(const Event& event);
  void count(Track track, Ns time_ns, std::int64_t value);
  void count(Track track, Ns time_ns, double value);
  void finish();

  std::uint64_t events() const { return events_; }

 private:
  struct Pool {  // one of Perfetto's tables of interned texts
    unsigned field;
    std::vector<bool> sent;  // of the trace's strings
    std::map<std::string, std::uint64_t, std::less<>> others;
  };
  std::uint64_t intern(Pool& pool, StringId id);
  std::uint64_t intern(Pool& pool, std::string_view text);
  void send_interned(unsigned field, std::uint64_t id, std::string_view text);
  void send(std::string_view packet);
  void put_event(unsigned type, const Event& event);
  template <class PutValue>
  void put_count(Track track, Ns time_ns, PutValue put_value);
  char* room(std::size_t bytes);

  const PerfettoSink& sink_;
  const StringPool& strings_;
  Pool names_, texts_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  Track last_track_ = 0;
  std::uint64_t events_ = 0;
};

// One argument of a slice, encoded, to be joined with others.
void add_arg(std::string& args, Arg arg, std::uint64_t value);
void add_signed_arg(std::string& args, Arg arg, std::int64_t value);
void add_text_arg(std::string& args, Arg arg, std::uint64_t text_id);

}  // namespace nl::exporters::perfetto

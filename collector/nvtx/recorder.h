#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collector/string_table.h"

// What the halves of the collector record with. Every call is thread-safe, survives fork without exec
// (the child goes on in a file of its own), never throws and never waits for another thread, except where
// a thread needs a new chunk or meets a text for the first time.
namespace nl::collector {

// Opens this process's file in NL_STAGE_TRACE_DIR. Called any number of times; true while recording works.
bool start_recording();

// kForGood: the handle is good for the life of the process and of its forks. kPassing: for the next record only.
enum class Keep { kForGood, kPassing };

// nullptr where it cannot be recorded.
const Text* intern(const char* text, Keep keep);
const Text* intern(const wchar_t* text, Keep keep);

struct EventText {
  const Text* name;    // nullptr: a range without a name
  const Text* domain;  // nullptr: the default domain
};
using Payload = std::optional<std::int64_t>;

int record_push(EventText text, Payload payload);  // the depth before it, in its domain, on this thread
int record_pop(const Text* domain);
void record_mark(EventText text, Payload payload);
std::uint64_t record_start(EventText text, Payload payload);
void record_end(std::uint64_t range);
void record_thread_name(std::uint32_t tid, const Text* name);

// For the GPU half: what this thread is about to wait for.
void record_wait_stream(std::uint32_t context, std::uint32_t stream);
// That this thread made a node of a CUDA graph, or cloned it from another; original 0: not cloned.
void record_graph_node(std::uint64_t node, std::uint64_t original);

// That this thread is about to launch; `what` as trace_format::Launch has it.
void record_launch(std::uint32_t what);

// For the GPU half: told of a range just before it begins and just after it ended, on its thread.
struct RangeListener {
  void (*begins)(EventText text, std::uint64_t range);     // range 0: pushed
  void (*ended)(const Text* domain, std::uint64_t range);  // of a start: the domain is not known
};
void listen_to_ranges(const RangeListener* listener);
void listen_to_marks(void (*marked)(EventText text));  // the same of a mark

// For the GPU half: a whole record, into chunks of its own. One thread at a time, and not after a fork.
bool append_gpu_record(const void* record, std::size_t bytes);
std::int64_t now_ns();  // CLOCK_MONOTONIC

// A recorder keeps a ring: the newest files of a process, and nothing of what was before.
struct RingHooks {
  void (*process_began)();  // on the first thread that records something in it
  void (*file_full)();      // time for begin_next_file(); on any thread, again and again
};
struct RingPlan {
  const RingHooks* hooks = nullptr;  // nullptr: no ring
  const char* folder = nullptr;
  std::uint32_t files = 0, most_chunks = 0;
};
RingPlan plan_ring();  // record/recording.cpp; where that is not built, record/none.cpp

// All threads go on in another file, in `window_folder`, or with nullptr in the ring's. False: it cannot be made, and nothing is recorded.
bool begin_next_file(const char* window_folder);
void link_past_files(const char* folder);
void remove_past_files();  // at the end of the program; nothing is recorded after it
bool is_recording();       // false: the file could not grow

}  // namespace nl::collector

#include "collector/nvtx/recorder.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "collector/host_program.h"
#include "collector/lock.h"
#include "collector/trace_file.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

using namespace trace_format;

constexpr int kNoTracking = -2;  // NVTX_NO_PUSH_POP_TRACKING

// Texts of a ring are those of one file: marks of servers have a new text each time, and memory would grow with them. Their numbers have
// this bit and the generation, so that one of an earlier file is known.
constexpr std::uint32_t kPassing = 0x80000000, kPassingGenerations = 0x7F;
std::uint32_t passing_number(std::uint32_t generation) { return kPassing | (generation & kPassingGenerations) << 24; }

struct ThreadState {
  Chunk chunk;
  std::uint32_t generation;  // of the file that the chunk belongs to; 0: none yet
  bool busy;                 // a signal handler that interrupts us here is not recorded
  std::uint32_t domain_count;
  struct {
    const Text* domain;
    int depth;
  } depths[16];
  const Text* cache[64];  // texts seen last, by hash
};

struct Recorder {
  pthread_mutex_t strings_mutex = PTHREAD_MUTEX_INITIALIZER;  // taken before file_mutex
  pthread_mutex_t file_mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_key_t thread_exit{};
  StringTable strings;     // for good
  StringTable passing[2];  // of a ring: of the file in hand, and of the one before, which a thread may still read
  TraceFile file;
  Chunk gpu_chunk;
  std::uint32_t gpu_generation = 1;
  std::uint32_t strings_generation = 1;      // whose file the strings were written to
  std::atomic<std::uint32_t> generation{1};  // of the file: one more after every fork, and for every next file of a ring
  pid_t pid = 0;
  const RingHooks* ring = nullptr;  // nullptr: one file, with all that there is
  std::atomic<std::uint64_t> next_range{1};
  std::atomic<bool> active{false};
  std::atomic<const RangeListener*> listener{nullptr};
  std::atomic<void (*)(EventText)> mark_listener{nullptr};
};

constinit Recorder recorder;
constinit thread_local ThreadState thread_state{};

// The head is stored last and at once: until then the reader sees the end of the chunk.
void put(Chunk& chunk, const void* record, std::size_t bytes) {
  std::byte* at = chunk.data + chunk.used;
  const auto* from = static_cast<const std::byte*>(record);
  std::memcpy(at + sizeof(Head), from + sizeof(Head), bytes - sizeof(Head));
  std::uint64_t head;
  std::memcpy(&head, from, sizeof head);
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at)).store(head, std::memory_order_release);
  chunk.used += static_cast<std::uint32_t>(bytes);
}

// In place of the one in hand. Of another generation there is none: its numbers of texts are others.
bool replace(Chunk& chunk, bool (TraceFile::*acquire)(Chunk& chunk), ThreadStart& start, std::uint32_t generation) {
  if (chunk.data != nullptr) munmap(chunk.data, kChunkBytes);
  chunk = {};
  Lock lock(recorder.file_mutex);
  if (!recorder.active.load(std::memory_order_relaxed) || recorder.generation.load(std::memory_order_relaxed) != generation) return false;
  if (!(recorder.file.*acquire)(chunk)) {
    recorder.active.store(false, std::memory_order_relaxed);
    return false;
  }
  start.sequence = recorder.file.next_sequence();
  return true;
}

bool next_chunk(ThreadState& thread) {
  ThreadStart start{{Kind::kThreadStart, sizeof start, 0}, 0, static_cast<std::uint32_t>(gettid()), 0, {}};
  const bool good = replace(thread.chunk, &TraceFile::acquire, start, thread.generation);
  if (recorder.ring != nullptr && (!good || recorder.file.wants_next())) recorder.ring->file_full();
  if (!good) return false;
  prctl(PR_GET_NAME, start.name);
  put(thread.chunk, &start, sizeof start);
  pthread_setspecific(recorder.thread_exit, &thread);
  return true;
}

bool next_gpu_chunk(std::uint32_t generation) {
  ThreadStart start{{Kind::kThreadStart, sizeof start, 0}, 0, 0, 0, "gpu"};
  if (!replace(recorder.gpu_chunk, &TraceFile::acquire_fresh, start, generation)) return false;
  recorder.gpu_generation = generation;
  put(recorder.gpu_chunk, &start, sizeof start);
  return true;
}

bool append(ThreadState& thread, const void* record, std::size_t bytes) {
  bool fits = thread.chunk.data != nullptr && thread.chunk.used + bytes <= kChunkBytes;
  if (!fits && !next_chunk(thread)) return false;
  put(thread.chunk, record, bytes);
  return true;
}

bool append_string(ThreadState& thread, const Text& text) {
  alignas(8) std::byte buffer[sizeof(String) + kMaxStringBytes + 8] = {};
  String record{};
  std::size_t bytes = (sizeof record + text.length + 7) & ~std::size_t{7};
  record.head = {Kind::kString, static_cast<std::uint16_t>(bytes), text.id};
  record.length = text.length;
  std::memcpy(buffer, &record, sizeof record);
  std::memcpy(buffer + sizeof record, text.data, text.length);
  return append(thread, buffer, bytes);
}

void begin_passing(std::uint32_t generation) {
  std::swap(recorder.passing[0], recorder.passing[1]);
  recorder.passing[0].clear();
  recorder.passing[0].number_from(passing_number(generation));
}

// The first event of a thread in another file, which is a child's after fork or the next one of a ring: the chunk in hand is of the one
// before, and the strings known so far are not in it. Under the strings' lock, so that the generation stays.
bool enter_generation(ThreadState& thread) {
  const std::uint32_t generation = recorder.generation.load(std::memory_order_relaxed);
  if (thread.generation == generation) return true;
  if (thread.chunk.data != nullptr) munmap(thread.chunk.data, kChunkBytes);
  thread.chunk = {};
  thread.generation = generation;
  if (recorder.ring != nullptr) std::memset(thread.cache, 0, sizeof thread.cache);
  if (recorder.strings_generation == generation) return true;
  recorder.strings_generation = generation;
  if (recorder.ring != nullptr) begin_passing(generation);
  for (std::uint32_t i = 0; i < recorder.strings.size(); ++i)
    if (!append_string(thread, recorder.strings[i])) return false;
  return true;
}

bool catch_up(ThreadState& thread) {
  Lock lock(recorder.strings_mutex);
  return enter_generation(thread);
}

// A child of a fork has no threads but the one that goes on.
void meet_process() {
  if (recorder.ring == nullptr || recorder.pid == getpid()) return;
  recorder.pid = getpid();
  recorder.ring->process_began();
}

// What every call does first: nothing is recorded where recording has failed, or inside itself.
class Entry {
 public:
  Entry() : thread_(thread_state), errno_(errno) {
    if (thread_.busy || !recorder.active.load(std::memory_order_relaxed)) return;
    thread_.busy = true;
    std::uint32_t generation = recorder.generation.load(std::memory_order_relaxed);
    ready_ = true;
    if (thread_.generation != generation) {
      meet_process();
      ready_ = catch_up(thread_);
    }
    if (!ready_) thread_.busy = false;
  }
  ~Entry() {
    if (ready_) thread_.busy = false;
    errno = errno_;  // the program's
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  explicit operator bool() const { return ready_; }
  ThreadState& thread() { return thread_; }

 private:
  ThreadState& thread_;
  int errno_;
  bool ready_ = false;
};

// Out of line: nearly every text is among those that the thread has seen last.
[[gnu::noinline, gnu::cold]] const Text* intern_slowly(ThreadState& thread, std::uint64_t hash, const char* text, std::size_t length,
                                                       Keep keep) {
  Lock lock(recorder.strings_mutex);
  if (!enter_generation(thread)) return nullptr;
  if (const Text* known = recorder.strings.find(hash, text, length)) return known;
  StringTable& table = keep == Keep::kPassing && recorder.ring != nullptr ? recorder.passing[0] : recorder.strings;
  if (const Text* known = table.find(hash, text, length)) return known;
  const Text* added = table.add(hash, text, length);
  // Written before another thread can use its number, so that no record refers to a lost string.
  if (added != nullptr && !append_string(thread, *added)) return nullptr;
  return added;
}

// The number of a text in the file in hand. Another file may have begun since it was interned.
std::uint32_t number_of(ThreadState& thread, const Text* text) {
  if (text == nullptr) return 0;
  const bool passes = (text->id & kPassing) != 0;
  if (!passes || (text->id & ~0xFFFFFFU) == passing_number(thread.generation)) return text->id;
  const Text* again = intern_slowly(thread, text->hash, text->data, text->length, Keep::kPassing);
  return again != nullptr ? again->id : 0;
}

// `make` writes the record with the numbers of the file in hand; once more where another file began meanwhile.
template <typename Make>
void append_made(ThreadState& thread, Make make) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint32_t generation = thread.generation;
    const auto [record, bytes] = make();
    if (thread.generation == generation && append(thread, record, bytes)) return;
    if (thread.generation == recorder.generation.load(std::memory_order_relaxed) && thread.generation == generation) return;
    if (!catch_up(thread)) return;
  }
}

template <typename Record>
void append_plain(ThreadState& thread, const Record& record) {
  append_made(thread, [&] { return std::pair<const void*, std::size_t>(&record, sizeof record); });
}

int* depth_of(ThreadState& thread, const Text* domain) {
  for (std::uint32_t i = 0; i < thread.domain_count; ++i)
    if (thread.depths[i].domain == domain) return &thread.depths[i].depth;
  if (thread.domain_count == std::size(thread.depths)) return nullptr;
  thread.depths[thread.domain_count] = {domain, 0};
  return &thread.depths[thread.domain_count++].depth;
}

void leave_thread(void* state) {
  auto& thread = *static_cast<ThreadState*>(state);
  if (thread.chunk.data == nullptr) return;
  Lock lock(recorder.file_mutex);
  if (thread.generation != recorder.generation.load(std::memory_order_relaxed)) {
    munmap(thread.chunk.data, kChunkBytes);
    thread.chunk = {};
    return;
  }
  recorder.file.release(thread.chunk);
  thread.chunk = {};
}

void before_fork() {
  pthread_mutex_lock(&recorder.strings_mutex);
  pthread_mutex_lock(&recorder.file_mutex);
}

void after_fork_in_parent() {
  pthread_mutex_unlock(&recorder.file_mutex);
  pthread_mutex_unlock(&recorder.strings_mutex);
}

// The child opens its file at its first event: most children exec at once and have none.
void after_fork_in_child() {
  recorder.generation.fetch_add(1, std::memory_order_relaxed);
  recorder.file.forget();
  after_fork_in_parent();
}

void start_once() {
  remember_stderr();
  if (pthread_key_create(&recorder.thread_exit, leave_thread) != 0) return;
  const RingPlan plan = plan_ring();
  if (!recorder.file.set_folder(plan.hooks != nullptr ? plan.folder : std::getenv("NL_STAGE_TRACE_DIR"))) return;
  if (plan.hooks != nullptr) recorder.file.keep_ring(plan.files, plan.most_chunks);
  if (!recorder.file.open()) return;
  recorder.ring = plan.hooks;
  recorder.passing[0].number_from(passing_number(1));
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  recorder.active.store(true, std::memory_order_relaxed);
  meet_process();
}

// A whole record of events that may carry a payload.
template <typename Record>
struct WithPayload {
  Record record;
  std::int64_t payload;
};

template <typename Record>
void append_event(ThreadState& thread, Kind kind, EventText text, Payload payload, WithPayload<Record> whole) {
  std::size_t bytes = payload ? sizeof whole : sizeof whole.record;
  whole.record.has_payload = payload.has_value();
  whole.payload = payload.value_or(0);
  append_made(thread, [&] {
    whole.record.head = {kind, static_cast<std::uint16_t>(bytes), number_of(thread, text.name)};
    whole.record.domain = number_of(thread, text.domain);
    // Last before the record: what we do ourselves stays outside of the range.
    whole.record.time_ns = now_ns();
    return std::pair<const void*, std::size_t>(&whole, bytes);
  });
}

int append_pop(const Text* domain, std::int64_t time_ns) {
  Entry entry;
  if (!entry) return kNoTracking;
  Pop pop{{Kind::kPop, sizeof(Pop), 0}, time_ns};
  append_made(entry.thread(), [&] {
    pop.head.id = number_of(entry.thread(), domain);
    return std::pair<const void*, std::size_t>(&pop, sizeof pop);
  });
  int* depth = depth_of(entry.thread(), domain);
  return depth != nullptr && *depth > 0 ? --*depth : kNoTracking;
}

void append_end(std::uint64_t range, std::int64_t time_ns) {
  Entry entry;
  if (!entry) return;
  append_plain(entry.thread(), End{{Kind::kEnd, sizeof(End), 0}, time_ns, range});
}

}  // namespace

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool start_recording() {
  pthread_once(&recorder.once, start_once);
  return recorder.active.load(std::memory_order_relaxed);
}

const Text* intern(const char* text, Keep keep) {
  Entry entry;
  if (!entry || text == nullptr) return nullptr;
  std::size_t length = strnlen(text, kMaxStringBytes + 1);
  if (length > kMaxStringBytes)  // cut between characters, not inside one
    for (length = kMaxStringBytes; length > 0 && (text[length] & 0xC0) == 0x80;) --length;
  std::uint64_t hash = hash_text(text, length);
  const Text*& cached = entry.thread().cache[hash % std::size(entry.thread().cache)];
  if (cached != nullptr && same_text(*cached, hash, text, length)) return cached;
  const Text* found = intern_slowly(entry.thread(), hash, text, length, keep);
  if (found != nullptr) cached = found;
  return found;
}

const Text* intern(const wchar_t* text, Keep keep) {
  if (text == nullptr) return nullptr;
  char utf8[kMaxStringBytes + 1];
  std::size_t length = 0;
  for (; *text != L'\0' && length + 4 <= kMaxStringBytes; ++text) {
    auto c = static_cast<std::uint32_t>(*text);
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
    if (c < 0x80) {
      utf8[length++] = static_cast<char>(c);
      continue;
    }
    int tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    utf8[length++] = static_cast<char>((0xFF00 >> (tail + 1) & 0xFF) | (c >> (6 * tail)));
    while (tail-- > 0) utf8[length++] = static_cast<char>(0x80 | (c >> (6 * tail) & 0x3F));
  }
  utf8[length] = '\0';
  return intern(utf8, keep);
}

void listen_to_ranges(const RangeListener* listener) { recorder.listener.store(listener, std::memory_order_release); }

void listen_to_marks(void (*marked)(EventText text)) { recorder.mark_listener.store(marked, std::memory_order_release); }

int record_push(EventText text, Payload payload) {
  const RangeListener* listener = recorder.listener.load(std::memory_order_acquire);
  if (listener != nullptr) listener->begins(text, 0);
  Entry entry;
  if (!entry) return kNoTracking;
  int* depth = depth_of(entry.thread(), text.domain);
  append_event<Event>(entry.thread(), Kind::kPush, text, payload, {});
  return depth != nullptr ? (*depth)++ : kNoTracking;
}

int record_pop(const Text* domain) {
  int depth = append_pop(domain, now_ns());
  const RangeListener* listener = recorder.listener.load(std::memory_order_acquire);
  if (listener != nullptr) listener->ended(domain, 0);
  return depth;
}

void record_mark(EventText text, Payload payload) {
  if (auto marked = recorder.mark_listener.load(std::memory_order_acquire); marked != nullptr) marked(text);
  Entry entry;
  if (entry) append_event<Event>(entry.thread(), Kind::kMark, text, payload, {});
}

std::uint64_t record_start(EventText text, Payload payload) {
  std::uint64_t range = recorder.next_range.fetch_add(1, std::memory_order_relaxed);
  const RangeListener* listener = recorder.listener.load(std::memory_order_acquire);
  if (listener != nullptr) listener->begins(text, range);
  Entry entry;
  if (!entry) {
    if (listener != nullptr) listener->ended(nullptr, range);
    return 0;
  }
  WithPayload<Start> whole{};
  whole.record.range = range;
  append_event<Start>(entry.thread(), Kind::kStart, text, payload, whole);
  return whole.record.range;
}

void record_end(std::uint64_t range) {
  append_end(range, now_ns());
  if (range == 0) return;  // no range: a start that failed
  const RangeListener* listener = recorder.listener.load(std::memory_order_acquire);
  if (listener != nullptr) listener->ended(nullptr, range);
}

void record_thread_name(std::uint32_t tid, const Text* name) {
  Entry entry;
  if (entry) append_plain(entry.thread(), ThreadName{{Kind::kThreadName, sizeof(ThreadName), number_of(entry.thread(), name)}, tid, 0});
}

void record_wait_stream(std::uint32_t context, std::uint32_t stream) {
  WaitStream record{{Kind::kWaitStream, sizeof(WaitStream), stream}, now_ns(), context, 0};
  Entry entry;
  if (entry) append_plain(entry.thread(), record);
}

void record_graph_node(std::uint64_t node, std::uint64_t original) {
  GraphNode record{{Kind::kGraphNode, sizeof(GraphNode), 0}, now_ns(), node, original};
  Entry entry;
  if (entry) append_plain(entry.thread(), record);
}

void record_launch(std::uint32_t what) {
  Launch record{{Kind::kLaunch, sizeof(Launch), what}, now_ns()};
  Entry entry;
  if (entry) append_plain(entry.thread(), record);
}

bool begin_next_file(const char* window_folder) {
  {
    Lock strings(recorder.strings_mutex);
    Lock file(recorder.file_mutex);
    const bool good = recorder.file.begin_next(window_folder);
    recorder.generation.fetch_add(1, std::memory_order_relaxed);
    recorder.active.store(good, std::memory_order_relaxed);
    if (!good) return false;
  }
  return static_cast<bool>(Entry());  // here, so that the program's threads find the strings written
}

void link_past_files(const char* folder) {
  Lock lock(recorder.file_mutex);
  recorder.file.link_kept(folder);
}

void remove_past_files() {
  Lock lock(recorder.file_mutex);
  recorder.active.store(false, std::memory_order_relaxed);
  recorder.file.remove_ring();
}

bool is_recording() { return recorder.active.load(std::memory_order_relaxed); }

bool append_gpu_record(const void* record, std::size_t bytes) {
  if (bytes < sizeof(Head) || bytes > kChunkBytes - sizeof(ThreadStart)) return false;
  if (!recorder.active.load(std::memory_order_relaxed)) return false;
  const std::uint32_t generation = recorder.generation.load(std::memory_order_relaxed);
  bool fits = recorder.gpu_chunk.data != nullptr && recorder.gpu_generation == generation && recorder.gpu_chunk.used + bytes <= kChunkBytes;
  if (!fits && !next_gpu_chunk(generation)) return false;
  put(recorder.gpu_chunk, record, bytes);
  return true;
}

}  // namespace nl::collector

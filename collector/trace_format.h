#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

// The file that the injected collector writes, one per process, and parsers/collector_trace reads.
//
// A file is a row of chunks of kChunkBytes; the first begins with the FileHeader. One thread at a time
// owns a chunk and appends records to it, beginning with a ThreadStart that says whose they are; a chunk
// left by a thread that ended may be taken over by another, with a ThreadStart of its own. Fresh space is
// zero, and the eight bytes of a record's head are stored last, at once: so a head of zero ends a chunk,
// and a process that is killed loses no more than the record that each thread was writing.
//
// All numbers are little-endian; records are multiples of eight bytes. Readers skip kinds they do not know.
namespace nl::trace_format {

static_assert(std::endian::native == std::endian::little);

inline constexpr char kMagic[8] = {'N', 'L', 'T', 'R', 'A', 'C', 'E', '\n'};
inline constexpr std::uint32_t kVersion = 1;
// A multiple of every page size in use (4, 16 and 64 KiB), because chunks are mapped one by one.
inline constexpr std::uint32_t kChunkBytes = 64 * 1024;
inline constexpr std::size_t kMaxStringBytes = 4096;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t chunk_bytes;
  std::uint32_t pid;
  std::int64_t monotonic_ns;  // CLOCK_MONOTONIC and
  std::int64_t realtime_ns;   // CLOCK_REALTIME of one moment, when the file was made
  char collector_version[16];
  char process_name[64];      // the base name of the executable
  std::uint64_t unused;
};
static_assert(sizeof(FileHeader) == 128);

enum class Kind : std::uint16_t {
  kThreadStart = 1,
  kString = 2,
  kPush = 3,
  kPop = 4,
  kMark = 5,
  kStart = 6,
  kEnd = 7,
  kThreadName = 8,
};

struct Head {
  Kind kind;
  std::uint16_t bytes;  // of the whole record
  std::uint32_t id;     // a string or domain; a domain is the string of its name, 0 the default one
};
static_assert(sizeof(Head) == 8);

struct ThreadStart {
  Head head;
  std::uint64_t sequence;  // orders the pieces of one thread that lie in several chunks
  std::uint32_t tid;
  std::uint32_t unused;
  char name[16];           // as the kernel knows it
};

struct String {            // head.id: its number; the text follows
  Head head;
  std::uint32_t length;
  std::uint32_t unused;
};

struct Event {             // a push or a mark; head.id: its name. The payload follows where there is one
  Head head;
  std::int64_t time_ns;    // CLOCK_MONOTONIC
  std::uint32_t domain;
  std::uint32_t has_payload;
};

struct Pop {               // head.id: the domain
  Head head;
  std::int64_t time_ns;
};

struct Start {             // head.id: its name. The payload follows where there is one
  Head head;
  std::int64_t time_ns;
  std::uint32_t domain;
  std::uint32_t has_payload;
  std::uint64_t range;     // unique in the process
};

struct End {
  Head head;
  std::int64_t time_ns;
  std::uint64_t range;
};

struct ThreadName {        // head.id: the name
  Head head;
  std::uint32_t tid;
  std::uint32_t unused;
};

}  // namespace nl::trace_format

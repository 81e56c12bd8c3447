#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// As much of the protobuf wire format as a Perfetto trace needs, written by hand. The field numbers are those of
// Perfetto's protos/perfetto/trace/trace_packet.proto and of the files named below; they never change there.
namespace nl::exporters::perfetto {

namespace trace {
enum : unsigned { kPacket = 1 };
}
namespace packet {  // trace_packet.proto
enum : unsigned {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
  kFirstOnSequence = 87,
};
inline constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace clocks {
enum : unsigned { kClocks = 1, kPrimary = 2, kId = 1, kTimestamp = 2, kRealtime = 1, kBoottime = 6 };
}  // namespace clocks
namespace descriptor {  // track_event/track_descriptor.proto, process_, thread_ and counter_descriptor.proto
enum : unsigned { kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8 };
enum : unsigned { kProcessPid = 1, kProcessName = 6, kThreadPid = 1, kThreadTid = 2, kThreadName = 5, kUnit = 3, kUnitName = 6 };
enum : unsigned { kUnitCount = 2, kUnitBytes = 3 };
}  // namespace descriptor
namespace event {  // track_event/track_event.proto
enum : unsigned {
  kCategoryId = 3,
  kAnnotation = 4,
  kType = 9,
  kNameId = 10,
  kTrack = 11,
  kCounterValue = 30,
  kDoubleCounterValue = 44,
  kFlow = 47,
  kTerminatingFlow = 48,
};
enum : unsigned { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
}  // namespace event
namespace annotation {
enum : unsigned { kNameId = 1, kUint = 3, kInt = 4, kText = 6, kTextId = 17 };
}  // namespace annotation
namespace interned {
enum : unsigned { kCategories = 1, kNames = 2, kAnnotationNames = 3, kTexts = 29, kId = 1, kText = 2 };
}  // namespace interned

inline char* put_varint(char* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}
inline char* put_number(char* out, unsigned field, std::uint64_t value) { return put_varint(put_varint(out, field << 3), value); }
inline char* put_fixed64(char* out, unsigned field, std::uint64_t value) {
  static_assert(std::endian::native == std::endian::little);
  out = put_varint(out, field << 3 | 1);
  std::memcpy(out, &value, 8);
  return out + 8;
}
inline char* put_length(char* out, unsigned field, std::size_t length) { return put_varint(put_varint(out, field << 3 | 2), length); }

// A message of any length; events, of which there are millions, are put together without one.
class Message {
 public:
  Message& number(unsigned field, std::uint64_t value) {
    char room[16];
    bytes_.append(room, static_cast<std::size_t>(put_number(room, field, value) - room));
    return *this;
  }
  Message& text(unsigned field, std::string_view text) {
    char room[16];
    bytes_.append(room, static_cast<std::size_t>(put_length(room, field, text.size()) - room));
    bytes_ += text;
    return *this;
  }
  Message& message(unsigned field, const Message& inner) { return text(field, inner.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace nl::exporters::perfetto

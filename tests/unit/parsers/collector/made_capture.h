#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/files.h"
#include "tests/unit/parsers/collector/counter_file.h"
#include "tests/unit/parsers/collector/packed_records.h"

// A capture of two processes with a record of every kind in it, and no number twice where it need not be.
namespace nl::test {

inline void set_header(CounterFile& file, const char* process_name, const char* collector_version, std::int64_t realtime_ns) {
  trace_format::FileHeader header;
  std::memcpy(&header, file.bytes.data(), sizeof header);
  std::strcpy(header.process_name, process_name);
  std::strcpy(header.collector_version, collector_version);
  header.realtime_ns = realtime_ns;
  std::memcpy(file.bytes.data(), &header, sizeof header);
}

inline void add_session(CounterFile& file, trace_format::CallChoice calls, bool waits_by_calls) {
  file.add(trace_format::Kind::kGpuSession, trace_format::GpuSession{{}, 0, static_cast<std::uint32_t>(calls), waits_by_calls}, 26);
}

inline void add_device(CounterFile& file, std::uint32_t id, std::uint8_t uuid, const std::string& name) {
  trace_format::Device device{};
  device.memory_bytes = 101 + id;
  device.bandwidth_bytes_per_s = 201 + id;
  device.clock_hz = 301 + id;
  device.l2_bytes = 401 + id;
  device.sm_count = 501 + id;
  device.compute_major = 9;
  device.compute_minor = 1 + id;
  for (std::size_t i = 0; i < sizeof device.uuid; ++i) device.uuid[i] = static_cast<std::uint8_t>(uuid + i);
  device.name_length = static_cast<std::uint32_t>(name.size());
  file.add(trace_format::Kind::kDevice, device, id, name);
}

inline void add_block(CounterFile& file, std::int64_t base_ns, const std::string& records) {
  file.add(trace_format::Kind::kGpuBlock, trace_format::GpuBlock{{}, base_ns}, 0, records);
}

inline void add_node(CounterFile& file, std::int64_t time_ns, std::uint64_t node, std::uint64_t original = 0) {
  file.add(trace_format::Kind::kGraphNode, trace_format::GraphNode{{}, time_ns, node, original}, 0);
}

// Began first, at 500. Its waits are the calls that waited.
inline CounterFile made_server() {
  using namespace trace_format;
  CounterFile file(200, 500);
  set_header(file, "server", "9.8.7", 5'000'500);
  file.thread(21).string(1, "LLM").string(2, "prefill").string(3, "wor\xFFker").string(4, "step");
  const std::int64_t payload = 77;
  file.add(Kind::kPush, Event{{}, 600, 1, 1}, 2, std::string(reinterpret_cast<const char*>(&payload), sizeof payload));
  file.add(Kind::kPush, Event{{}, 600, 0, 0}, 4).pop(900).pop(2000, 1);
  file.add(Kind::kMark, Event{{}, 1900, 1, 0}, 4).add(Kind::kMark, Event{{}, 700, 0, 0}, 2);
  file.add(Kind::kStart, Start{{}, 650, 1, 1, 31}, 4, std::string(reinterpret_cast<const char*>(&payload), sizeof payload));
  file.add(Kind::kThreadName, ThreadName{{}, 21, 0}, 3).add(Kind::kThreadName, ThreadName{{}, 99, 0}, 2);
  file.add(Kind::kWaitStream, WaitStream{{}, 1450, 5, 0}, 8).add(Kind::kWaitStream, WaitStream{{}, 1650, 5, 0}, kNoStream);
  add_node(file, 620, 1);                                              // of this process: no kernel of it ran
  file.thread(22).add(Kind::kEnd, End{{}, 950, 31}, 0).push(4, 1000);  // never popped
  file.thread(0);
  add_session(file, CallChoice::kWork, true);
  file.name(1, "_Z4gemmIfEvPT_i").name(2, "cudaLaunchKernel_v7000").name(3, "cudaStreamSynchronize_v3020").name(4, "cudaGetDevice_v3020");
  file.name(5, "cudaMemcpyAsync_v3020").name(6, "cudaDeviceSynchronize_v3020").name(7, "cuStreamSynchronize");
  add_device(file, 1, 0x10, "GPU one");
  add_device(file, 0, 0x20, "GPU zero");
  file.add(Kind::kContext, Context{{}, 1, 0}, 5).add(Kind::kLoss, Loss{{}, 3}, 1).add(Kind::kLoss, Loss{{}, 4}, 2);
  file.add(Kind::kClockCheck, ClockCheck{{}, 1, 2, 3}, 0);
  add_block(file, 1000,
            packed_record(Tag::kShape, {0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9}) + packed_record(Tag::kQueue, {0, 1, 5, 8}) +
                packed_record(Tag::kQueue, {1, 1, 5, 9}) + packed_record(Tag::kThread, {0, 21, 4}) + "late" +
                packed_record(Tag::kThread, {1, 23, 4}) + "cuda" + packed_record(Tag::kFunction, {0, 2, 2}) +
                packed_record(Tag::kFunction, {1, 2, 3}) + packed_record(Tag::kFunction, {2, 2, 4}) +
                packed_record(Tag::kFunction, {3, 2, 5}) + packed_record(Tag::kFunction, {4, 2, 6}) +
                packed_record(Tag::kFunction, {5, 1, 7}) + packed_record(Tag::kFunction, {6, 1, 99}));
  add_block(file, 1000,
            packed_record(Tag::kKernel, {0, 0, zigzag(300), 50, zigzag(11)}) +               // 1300, launch 11
                packed_record(Tag::kKernel, {1, 0, zigzag(200), 60, zigzag(1)}) +            // 1500, launch 12
                packed_record(Tag::kCopy, {0, 1, 1, 3, zigzag(100), 70, zigzag(1), 4096}) +  // 1600, by 13
                packed_record(Tag::kSet, {1, 4, 255, zigzag(-450), 20, zigzag(1), 512}) +    // 1150, by 14, which no call has
                packed_record(Tag::kGraph, {0, 3, zigzag(600), 30, zigzag(-3)}));            // 1750, by 11
  add_block(file, 1000,
            packed_record(Tag::kCall, {0, 0, zigzag(250), 10, zigzag(12)}) +      // 1250, launches 12
                packed_record(Tag::kCall, {0, 0, zigzag(-50), 11, zigzag(-1)}) +  // 1200, launches 11
                packed_record(Tag::kCall, {1, 3, zigzag(150), 12, zigzag(2)}) +   // 1350, copies 13
                packed_record(Tag::kCall, {0, 1, zigzag(50), 300, zigzag(7)}) +   // 1400 … 1700: waits for no stream that is known
                packed_record(Tag::kCall, {0, 5, zigzag(20), 100, zigzag(1)}) +   // 1420 … 1520: waits for stream 8
                packed_record(Tag::kCall, {0, 4, zigzag(400), 40, zigzag(1)}) +   // 1820: waits for the context
                packed_record(Tag::kCall, {0, 1, zigzag(50), 5, zigzag(1), 700}, kTagResult) +  // 1870: a wait that failed
                packed_record(Tag::kCall, {1, 1, zigzag(30), 6, zigzag(1)}) +                   // 1900: of a thread that noted nothing
                packed_record(Tag::kCall, {0, 2, zigzag(20), 7, zigzag(1)}) +                   // 1920: neither work nor wait
                packed_record(Tag::kCall, {0, 6, zigzag(20), 8, zigzag(1)}));                   // 1940: its name was lost
  file.set(4, MetricUse::kSamples, {"sm"}).samples(4, {{1500, 500, {2}}}).text(Kind::kStallReason, 1, "wait").stalls(1, {{1, 5}});
  return file;
}

// Began second, with correlations of the same numbers, its GPU 0 another one, and its waits recorded by CUPTI.
inline CounterFile made_client() {
  using namespace trace_format;
  CounterFile file(100, 1000);
  set_header(file, "client", "1.2.3", 5'001'000);
  file.thread(11).string(1, "LLM").string(2, "step").push(2, 1100, 1).pop(2100, 1);
  add_node(file, 1140, 1);
  add_node(file, 1141, 1, 7);
  file.thread(12);
  add_node(file, 1110, 7);
  file.thread(0);
  add_session(file, CallChoice::kNone, false);
  file.name(8, "_Z4gemmIfEvPT_i").name(9, "cudaGraphLaunch_v10000").name(10, "plain_\xFF");
  add_device(file, 0, 0x30, "GPU other");
  add_device(file, 2, 0x40, "GPU two");
  file.add(Kind::kContext, Context{{}, 2, 0}, 6).add(Kind::kLoss, Loss{{}, 30}, 1).note("nothing much", NoteCode::kOther);
  add_block(file, 1000,
            packed_record(Tag::kShape, {0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}) + packed_record(Tag::kShape, {1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9}) +
                packed_record(Tag::kQueue, {0, 2, 6, 8}) + packed_record(Tag::kThread, {0, 11, 0}) +
                packed_record(Tag::kFunction, {0, 2, 9}) + packed_record(Tag::kKernel, {0, 0, zigzag(350), 10, zigzag(12)}, 0) +  // 1350
                packed_record(Tag::kKernel, {1, zigzag(-150), 20, zigzag(-1), zigzag(1), 2}, kTagSamePlace | kTagGraphNode) +     // 1200
                packed_record(Tag::kCopy, {2, 3, 1, zigzag(350), 15, zigzag(0), 64}, kTagSamePlace) +  // 1550, to pageable memory
                packed_record(Tag::kGraph, {4, zigzag(-250), 30, zigzag(0)}, kTagSamePlace) +          // 1300
                packed_record(Tag::kCall, {0, 0, zigzag(120), 25, zigzag(11)}) +                       // 1120
                packed_record(Tag::kSync, {3, 6, 8, 5, zigzag(480), 10, zigzag(9)}) +                  // 1600: for the stream
                packed_record(Tag::kSync, {1, 6, 8, 6, zigzag(-300), 20, zigzag(1)}));                 // 1300: for an event
  file.set(4, MetricUse::kSamples, {"sm"}).samples(4, {{1400, 300, {1}}}).text(Kind::kStallReason, 2, "barrier").stalls(8, {{2, 6}}, 1);
  return file;
}

inline std::vector<std::filesystem::path> write_made_capture(const Folder& folder) {
  return {folder.file("client", made_client().whole()), folder.file("server", made_server().whole())};
}

}  // namespace nl::test

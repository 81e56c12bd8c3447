// The GPU half in real processes: the injected library loads a libcupti that stands in for the real one, and
// what it recorded is read back. What only a GPU can show is in tests/manual/cupti_runs.
#include <algorithm>
#include <fstream>
#include <set>

#include "exporters/nsys_sqlite/nsys_sqlite.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"
#include "tests/unit/remark_texts.h"
#include "tests/unit/told_trace.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::exporters;
using namespace nl::test;

namespace {

std::string name_of(const Trace& trace, const Kernel& kernel) { return trace.strings[trace.shapes[kernel.shape].name]; }

bool has_note(const Trace& trace, const std::string& part) {
  return std::any_of(trace.stats.notes.begin(), trace.stats.notes.end(),
                     [&](const Remark& note) { return text_of(note).find(part) != std::string::npos; });
}

std::uint64_t file_bytes(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& file : trace_files(folder)) bytes += std::filesystem::file_size(file);
  return bytes;
}

}  // namespace

TEST_CASE("kernels, copies, sets, calls and waits come back beside the ranges") {
  ScratchFolder folder;
  Outcome outcome = run_gpu({"everything"}, folder.path());
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err.empty());
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK((trace.has_kernel_data && trace.has_api_data && trace.has_mem_data && trace.has_range_data));
  REQUIRE(trace.kernels.size() == 6);
  CHECK(name_of(trace, trace.kernels[0]) == "void gemm<128>(float const*, float const*, float*, int)");
  CHECK(trace.strings[trace.shapes[trace.kernels[0].shape].short_name] == "gemm");
  CHECK(trace.strings[trace.shapes[trace.kernels[0].shape].mangled_name] == "_Z4gemmILi128EEvPKfS1_Pfi");
  KernelShape shape = trace.shapes[trace.kernels[0].shape];
  CHECK(shape.grid == Dim3{16, 1, 1});
  CHECK(shape.block == Dim3{128, 1, 1});
  CHECK(shape.registers_per_thread == 32);
  CHECK(shape.static_shared_bytes == 512);
  CHECK(shape.dynamic_shared_bytes == 1024);
  CHECK(trace.kernels[0].duration_ns == 1500);
  CHECK(trace.queues[trace.kernels[0].queue].stream == 7);
  CHECK(trace.queues[trace.kernels[1].queue].stream == 9);
  for (std::size_t i : {2, 3, 4}) CHECK(trace.kernels[i].in_graph);
  CHECK_FALSE(trace.kernels[1].in_graph);
  CHECK(name_of(trace, trace.kernels[5]).empty());

  REQUIRE(trace.mem_ops.size() == 3);
  CHECK(trace.mem_ops[0].kind == MemOpKind::kHostToDevice);
  CHECK(trace.mem_ops[0].bytes == 4096);
  CHECK(trace.mem_ops[1].kind == MemOpKind::kPeerToPeer);
  CHECK(trace.mem_ops[2].kind == MemOpKind::kMemset);
  CHECK(trace.mem_ops[2].dst_kind == 3);
  REQUIRE(trace.syncs.size() == 1);
  CHECK(trace.syncs[0].kind == SyncKind::kContext);
  CHECK(trace.syncs[0].end_ns - trace.syncs[0].start_ns == 7000);  // as long as the call that waited
  CHECK(trace.syncs[0].where.stream == 0xFFFFFFFF);
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].name == "NVIDIA Fake H200");
  CHECK(trace.devices[0].bandwidth_bytes_per_s == 4'814'304'000'000);
  CHECK(trace.devices[0].clock_hz == 1'980'000'000);
  CHECK(trace.devices[0].uuid == "10111213-1415-1617-1819-1a1b1c1d1e1f");
}

TEST_CASE("a kernel has the call that launched it, on the thread and inside the range where it was made") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"everything"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  auto prefill = ranges_named(trace, "LLM", "prefill");
  auto steps = ranges_named(trace, "LLM", "decode_step");
  REQUIRE((prefill.size() == 1 && steps.size() == 3 && trace.kernels.size() == 6));
  auto inside = [&](const Kernel& kernel, const Range& range) {
    REQUIRE(kernel.api != kNone);
    const ApiCall& call = trace.api_calls[kernel.api];
    CHECK(trace.strings[call.name] == "cudaLaunchKernel");
    return call.thread == range.thread && range.start_ns <= call.start_ns && call.start_ns <= range.end_ns;
  };
  CHECK((inside(trace.kernels[0], prefill[0]) && inside(trace.kernels[1], prefill[0])));
  for (std::size_t i = 0; i < 3; ++i) CHECK(inside(trace.kernels[2 + i], steps[i]));
  CHECK_FALSE(inside(trace.kernels[5], prefill[0]));
  for (const MemOp& op : trace.mem_ops) CHECK(op.api != kNone);
  CHECK(has_note(trace, "no kernel starts before the call that launched it (nearest: 2.0 us)"));
}

TEST_CASE("copies between GPUs are recorded from when there can be any: a second GPU, or memory of another one's") {
  for (const char* opened : {"0", "1"}) {
    ScratchFolder folder;
    REQUIRE(run_gpu({"peer-copies", opened}, folder.path()).exit_status == 0);
    Trace trace = read_folder(folder.path());
    REQUIRE(trace.mem_ops.size() == 2);
    CHECK(trace.mem_ops[0].kind == MemOpKind::kPeerToPeer);
    CHECK((trace.mem_ops[0].bytes == 1024 && trace.mem_ops[1].bytes == 2048));
  }
}

TEST_CASE("where CUPTI describes no GPU, the driver is asked") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"launches", "10"}, folder.path(), {{"FAKE_CUDA", NL_BUILD_ROOT "/tests/unit/collector/libfake_cuda.so"}}).exit_status ==
          0);
  Trace trace = read_folder(folder.path());
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].name == "NVIDIA Driver H200");
  CHECK(trace.devices[0].sm_count == 132);
  CHECK(trace.devices[0].clock_hz == 1'980'000'000);
  CHECK(trace.devices[0].l2_bytes == 62'914'560);
  CHECK(trace.devices[0].bandwidth_bytes_per_s == 2ULL * 3'133'000'000 * 768);
  CHECK(trace.devices[0].compute_major == 9);
  CHECK(trace.devices[0].compute_minor == 3);
  CHECK(trace.devices[0].memory_bytes == 150'109'880'320);
  CHECK(trace.devices[0].uuid == "abababab-abab-abab-abab-abababababab");
}

TEST_CASE("many launches over many buffers are all there, in few bytes") {
  ScratchFolder folder;
  constexpr int kCount = 60000;
  REQUIRE(run_gpu({"launches", std::to_string(kCount)}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.kernels.size() == kCount);
  bool linked = true, ordered = true;
  for (std::size_t i = 0; i < kCount; ++i) {
    const Kernel& kernel = trace.kernels[i];
    linked = linked && kernel.api != kNone && kernel.start_ns == trace.api_calls[kernel.api].start_ns + 2000;
    ordered = ordered && trace.shapes[kernel.shape].grid.x == 8 + i % 3 &&
              trace.strings[trace.shapes[kernel.shape].short_name] == (i % 2 == 0 ? "gemm" : "rms_norm");
  }
  CHECK(linked);
  CHECK(ordered);
  CHECK(trace.shapes.size() == 6);
  // The target is 64 bytes for a kernel with its call; one chunk is the threads' own.
  CHECK(file_bytes(folder.path()) < kCount * 24 + 2 * 64 * 1024);
}

TEST_CASE("functions that neither start work nor wait are recorded only where asked for") {
  auto names = [](const char* choice, const char* fake) {
    ScratchFolder folder;
    REQUIRE(run_gpu({"launches", "100"}, folder.path(), {{"NL_STAGE_CUDA_CALLS", choice}, {"NL_STAGE_CUPTI", fake}, {"FAKE_CUPTI", fake}})
                .exit_status == 0);
    Trace trace = read_folder(folder.path());
    CHECK(trace.kernels.size() == 100);
    std::set<std::string> found;
    for (const ApiStat& stat : trace.api_stats) found.insert(trace.strings[stat.name]);
    return found;
  };
  CHECK(names("work", kFakeCupti) == std::set<std::string>{"cudaLaunchKernel"});
  CHECK(names("all", kFakeCupti) == std::set<std::string>{"cudaLaunchKernel"});  // cudaGetDevice is noise
  CHECK(names("none", kFakeCupti).empty());
  CHECK(names("work", kFakeOldCupti) == std::set<std::string>{"cudaLaunchKernel"});
}

TEST_CASE("a CUPTI of CUDA 11.8 has another clock: its times are turned into ours") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"everything"}, folder.path(), {{"NL_STAGE_CUPTI", kFakeOldCupti}, {"FAKE_CUPTI", kFakeOldCupti}}).exit_status == 0);
  Trace trace = read_folder(folder.path());
  REQUIRE(trace.kernels.size() == 6);
  auto prefill = ranges_named(trace, "LLM", "prefill");
  REQUIRE(prefill.size() == 1);
  const ApiCall& call = trace.api_calls[trace.kernels[0].api];
  // CLOCK_REALTIME is decades away; what is left is the reading of two clocks one after the other.
  CHECK(call.start_ns > prefill[0].start_ns - 1'000'000);
  CHECK(call.start_ns < prefill[0].end_ns + 1'000'000);
}

TEST_CASE("_exit, SIGKILL and SIGTERM lose what was not flushed yet, and nothing else") {
  for (auto [mode, status] : {std::pair("exit-now", 3), std::pair("kill", 128 + 9), std::pair("terminate", 128 + 15)}) {
    ScratchFolder folder;
    REQUIRE(run_gpu({mode, "5000"}, folder.path()).exit_status == status);
    Trace trace = read_folder(folder.path());
    CHECK(trace.stats.rows_damaged.empty());
    CHECK(trace.kernels.size() >= 5000);
    CHECK(trace.kernels.size() <= 5003);
  }
}

TEST_CASE("cudaDeviceReset does not take the records with it") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"reset", "100"}, folder.path(), {{"NL_STAGE_FLUSH_MS", "60000"}}).exit_status == 0);
  CHECK(read_folder(folder.path()).kernels.size() == 100);
}

TEST_CASE("a child that forks without exec records ranges and no kernels; the parent goes on") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"fork", "100"}, folder.path()).exit_status == 0);
  CHECK(trace_files(folder.path()).size() == 2);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.kernels.size() == 200);
  CHECK(trace.marks.size() == 2);
  for (const Kernel& kernel : trace.kernels) CHECK(trace.queues[kernel.queue].process == 0);
}

TEST_CASE("work that had not ended is counted, and the rest of its buffer kept") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"unfinished", "100"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.kernels.size() == 101);
  CHECK(texts_of(trace.stats.rows_damaged).at("GPU record without its times: the work was under way when the process ended") == 1);
}

TEST_CASE("where all buffers are out, CUPTI's count of what it dropped is kept") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"launches", "3000"}, folder.path(),
                  {{"NL_STAGE_GPU_BUFFERS", "1"},
                   {"NL_STAGE_GPU_BUFFER_KB", "64"},
                   {"FAKE_CUPTI_NEVER_READY", "1"},
                   {"NL_STAGE_FLUSH_MS", "60000"}})
              .exit_status == 0);
  Trace trace = read_folder(folder.path());
  std::uint64_t dropped = texts_of(trace.stats.rows_damaged).at("GPU record that CUPTI dropped, because its buffers were full");
  CHECK(dropped + trace.kernels.size() + trace.stats.rows_read.at("CUDA calls") == 6000);
  CHECK(trace.kernels.size() > 100);
}

TEST_CASE("another CUPTI client is named, and the ranges are recorded all the same") {
  for (const char* fake : {kFakeCupti, kFakeOldCupti}) {
    ScratchFolder folder;
    Outcome outcome =
        run_gpu({"everything"}, folder.path(), {{"FAKE_CUPTI_HOLDER", "CUPTI for Kineto"}, {"NL_STAGE_CUPTI", fake}, {"FAKE_CUPTI", fake}});
    CHECK(outcome.exit_status == 0);
    CHECK(outcome.err.find("nl-stage collector: another CUPTI client holds this process") == 0);
    if (fake == kFakeCupti) CHECK(outcome.err.find("(CUPTI for Kineto)") != std::string::npos);
    Trace trace = read_folder(folder.path());
    CHECK_FALSE(trace.has_kernel_data);
    CHECK(has_note(trace, "another CUPTI client holds this process"));
    CHECK(ranges_named(trace, "LLM", "prefill").size() == 1);
  }
}

TEST_CASE("where CUPTI takes no buffers the ranges are recorded, and why there are no kernels") {
  ScratchFolder folder;
  CHECK(run_gpu({"everything"}, folder.path(), {{"FAKE_CUPTI_NO_BUFFERS", "1"}}).exit_status == 0);
  const Trace trace = read_folder(folder.path());
  CHECK(trace.kernels.empty());
  CHECK(has_note(trace, "there is no memory for CUPTI's buffers"));
  CHECK(ranges_named(trace, "LLM", "prefill").size() == 1);
}

TEST_CASE("without a libcupti the ranges are recorded, and why there are no kernels") {
  ScratchFolder folder;
  Outcome outcome = run_gpu({"everything"}, folder.path(), {{"NL_STAGE_CUPTI", "/nowhere/libcupti.so.13"}});
  CHECK(outcome.exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK_FALSE(trace.has_kernel_data);
  CHECK(has_note(trace, "kernels, copies and CUDA calls are not recorded: /nowhere/libcupti.so.13"));
  CHECK(ranges_named(trace, "LLM", "decode_step").size() == 3);
}

TEST_CASE("a place without a libcupti, or with something else in it, is named") {
  const std::string other = NL_BUILD_ROOT "/tests/unit/collector/libfake_cuda.so",
                    lost = "nl-stage collector: kernels, copies and CUDA calls are not recorded: ";
  ScratchFolder folder;
  const auto said = [&](const std::string& place) { return run_gpu({"launches", "10"}, folder.path(), {{"NL_STAGE_CUPTI", place}}).err; };
  CHECK(said(folder.path().string()) == lost + "no libcupti in " + folder.path().string() + "\n");
  CHECK(said(other) == lost + other + " lacks functions that CUDA 11.8 and later have\n");
}

TEST_CASE("libcupti is found in the process, in CUDA's folders and in Python's") {
  auto found = [](const std::filesystem::path& library, const Environment& environment) {
    ScratchFolder folder;
    Environment all{{"NL_STAGE_CUPTI", ""}, {"FAKE_CUPTI", library.string()}};
    all.insert(all.end(), environment.begin(), environment.end());
    REQUIRE(run_gpu({"launches", "10"}, folder.path(), all).exit_status == 0);
    return read_folder(folder.path()).kernels.size() == 10;
  };
  ScratchFolder root;
  for (const char* place : {"loaded", "cuda/extras/CUPTI/lib64", "env/lib/python3.12/site-packages/nvidia/cuda_cupti/lib"}) {
    std::filesystem::create_directories(root.path() / place);
    std::filesystem::copy_file(kFakeCupti, root.path() / place / "libcupti.so.12");
  }
  // Loaded by the program before, as PyTorch does.
  CHECK(found(root.path() / "loaded/libcupti.so.12", {}));
  // The program's own copy has another name, so that only the search finds the one that works.
  std::filesystem::path cuda = root.path() / "cuda/extras/CUPTI/lib64/libcupti.so.12";
  std::filesystem::create_hard_link(cuda, root.path() / "cuda/own.so");
  CHECK(found(root.path() / "cuda/own.so", {{"CUDA_HOME", (root.path() / "cuda").string()}}));
  std::filesystem::path wheel = root.path() / "env/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12";
  std::filesystem::create_hard_link(wheel, root.path() / "env/own.so");
  CHECK(found(root.path() / "env/own.so", {{"CUDA_HOME", ""}, {"VIRTUAL_ENV", (root.path() / "env").string()}}));
}

TEST_CASE("libcupti is found wherever CUDA and Python's packages put it, and under each of its names") {
  // `own`: the program's own copy, of a name that is not libcupti's.
  const auto found = [](const char* variable, const std::string& place, const std::string& library, const std::string& own = "own.so") {
    ScratchFolder root, folder;
    for (const std::string& file : {place + "/" + library, own}) std::filesystem::create_directories((root.path() / file).parent_path());
    std::filesystem::copy_file(kFakeCupti, root.path() / place / library);
    std::filesystem::create_hard_link(root.path() / place / library, root.path() / own);
    Environment environment{{"FAKE_CUPTI", (root.path() / own).string()}};
    for (const char* none : {"NL_STAGE_CUPTI", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"}) environment.push_back({none, ""});
    environment.push_back({variable, root.path().string()});
    REQUIRE(run_gpu({"launches", "10"}, folder.path(), environment).exit_status == 0);
    return read_folder(folder.path()).kernels.size() == 10;
  };
  CHECK(found("CUDA_HOME", "lib64", "libcupti.so.13"));
  CHECK(found("CUDA_PATH", "lib", "libcupti.so.11.8"));
  CHECK(found("CUDA_PATH", "targets/sbsa-linux/lib", "libcupti.so.12"));
  CHECK(found("VIRTUAL_ENV", "lib/python3.12/site-packages/nvidia/cu13/lib", "libcupti.so.13"));
  CHECK(found("CONDA_PREFIX", "lib", "libcupti.so.12"));
  CHECK(found("NL_STAGE_CUPTI", ".", "libcupti.so.12"));
  CHECK(found("NL_STAGE_CUPTI", "extras/CUPTI/lib64", "libcupti.so.12"));
  CHECK(found("UNUSED", "site-packages/nvidia/cuda_cupti/lib", "libcupti.so.12", "site-packages/torch/own.so"));
  CHECK(found("UNUSED", "dist-packages/nvidia/cu13/lib", "libcupti.so.13", "dist-packages/torch/own.so"));
}

TEST_CASE("a CUPTI client that gives no name is told by what is loaded") {
  ScratchFolder folder;
  const std::string kineto = (folder.path() / "libkineto.so.1").string();
  std::filesystem::copy_file(kFakeCupti, kineto);
  const Outcome outcome =
      run_gpu({"everything"}, folder.path(), {{"FAKE_CUPTI_HOLDER", ""}, {"NL_STAGE_CUPTI", kineto}, {"FAKE_CUPTI", kineto}});
  CHECK(outcome.err ==
        "nl-stage collector: another CUPTI client holds this process (it gives no name; loaded: libkineto.so.1): kernels, copies and CUDA "
        "calls are not recorded. Run without that profiler, or let nl-stage use nsys\n");
}

TEST_CASE("a folder that cannot be written is said once, and the program goes on") {
  ScratchFolder folder;
  Outcome outcome = run_gpu({"launches", "1000"}, folder.path() / "absent");
  CHECK(outcome.exit_status == 0);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.find("cannot use folder") != std::string::npos);
}

TEST_CASE("a thread that outlives main does no harm") {
  for (int round = 0; round < 3; ++round) {
    ScratchFolder folder;
    REQUIRE(run_gpu({"outlive"}, folder.path()).exit_status == 0);
    Trace trace = read_folder(folder.path());
    CHECK(trace.stats.rows_damaged.empty());
    REQUIRE(trace.kernels.size() > 10);
    REQUIRE(trace.kernels[0].api != kNone);
    CHECK(trace.threads[trace.api_calls[trace.kernels[0].api].thread].name == "gpu_program");  // it lives still when it is asked for
  }
}

TEST_CASE("where all calls are recorded, waits are CUPTI's own records") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"everything"}, folder.path(), {{"NL_STAGE_CUDA_CALLS", "all"}}).exit_status == 0);
  Trace trace = read_folder(folder.path());
  REQUIRE(trace.syncs.size() == 1);
  CHECK(trace.syncs[0].kind == SyncKind::kContext);
  CHECK(trace.syncs[0].end_ns - trace.syncs[0].start_ns == 6900);
}

TEST_CASE("calls that wait for a stream say which") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"waits"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  std::vector<std::uint32_t> streams;
  for (const SyncWait& wait : trace.syncs) {
    CHECK(wait.kind == SyncKind::kStream);
    if (wait.where.stream != 0xFFFFFFFF) CHECK((wait.where.context == 1 && wait.where.device == 0));
    streams.push_back(wait.where.stream);
  }
  CHECK(streams == std::vector<std::uint32_t>{9, 7, 7, 0xFFFFFFFF, 9, 7, 11});  // one of them CUPTI did not know
  CHECK(trace.api_calls.size() >= streams.size() + 1);                          // that of the wait that failed, too
  // The kernel of stream 11 ends 3.5 us after its launch began, which took 0.9; the wait after that takes 5 and more.
  REQUIRE(trace.clock);
  REQUIRE(trace.clock->wait_slack_ns);
  CHECK(*trace.clock->wait_slack_ns >= 900 + 5000 - 3500);
  CHECK(*trace.clock->wait_slack_ns < 1'000'000'000);  // a busy machine may stop it in between
}

TEST_CASE("where CUPTI cannot say which stream a call waits for, it stays open") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"waits"}, folder.path(), {{"NL_STAGE_CUPTI", kFakeOldCupti}, {"FAKE_CUPTI", kFakeOldCupti}}).exit_status == 0);
  Trace trace = read_folder(folder.path());
  REQUIRE(trace.syncs.size() == 7);
  for (const SyncWait& wait : trace.syncs) CHECK(wait.where.stream == 0xFFFFFFFF);
}

TEST_CASE("calls of several threads are theirs") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"threads", "500"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.kernels.size() == 1000);
  std::map<std::uint32_t, int> launches;
  for (const Kernel& kernel : trace.kernels) ++launches[static_cast<std::uint32_t>(trace.api_calls[kernel.api].thread)];
  REQUIRE(launches.size() == 2);
  for (auto [thread, count] : launches) {
    CHECK(count == 500);
    CHECK(trace.threads[thread].tid != trace.processes[0].pid);
  }
}

TEST_CASE("what the GPU half allocated is still reachable at the exit") {
  for (std::vector<std::string> mode : {std::vector<std::string>{"everything"}, {"threads", "3000"}, {"names"}}) {
    ScratchFolder folder;
    Outcome outcome = run_gpu(mode, folder.path(), kLeakCheck);
    INFO(mode[0] << ": " << outcome.err);
    CHECK(outcome.exit_status == 0);
    CHECK(outcome.err.empty());
  }
}

TEST_CASE("a name whose memory was used again is a new name; a very long one is kept") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"names"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  REQUIRE(trace.kernels.size() == 4);
  CHECK(name_of(trace, trace.kernels[0]).size() == 9002);
  CHECK(name_of(trace, trace.kernels[1]) == "first_kernel");
  CHECK(name_of(trace, trace.kernels[2]) == "first_kernel_and_more");
  CHECK(name_of(trace, trace.kernels[3]) == "second");
}

TEST_CASE("more launch configurations than are remembered are still told apart") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"shapes", "20000"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  REQUIRE(trace.kernels.size() == 20000);
  bool right = true;
  for (std::size_t i = 0; i < 20000; ++i) right = right && trace.shapes[trace.kernels[i].shape].grid.x == i + 1;
  CHECK(right);
}

TEST_CASE("a recorded GPU trace cut at any byte gives the records before it") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"everything"}, folder.path()).exit_status == 0);
  std::filesystem::path whole = trace_files(folder.path()).at(0);
  std::string bytes = read_text(whole);
  std::filesystem::path cut = folder.path() / "cut";
  std::filesystem::copy_file(whole, cut);
  std::size_t before = read_collector_traces({whole}).kernels.size();
  CHECK(before == 6);
  bool shrinking = true;
  for (std::size_t length = bytes.size(); length-- > 0;) {
    if (!in_use(bytes, length) && length % 4096 != 1) continue;
    std::filesystem::resize_file(cut, length);
    Trace trace = read_collector_traces({cut});
    shrinking = shrinking && trace.kernels.size() <= before;
    before = trace.kernels.size();
  }
  CHECK(shrinking);
  CHECK(before == 0);
}

TEST_CASE("a recorded GPU trace with any byte changed is read without harm") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"everything"}, folder.path()).exit_status == 0);
  std::filesystem::path whole = trace_files(folder.path()).at(0), spoilt = folder.path() / "spoilt";
  std::string bytes = read_text(whole);
  std::size_t most = 0;
  for (std::size_t at = 128; at < bytes.size(); ++at) {  // past the header, whose faults are errors
    if (bytes[at] == 0 && at % 4096 != 0) continue;
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ (at % 2 == 0 ? 0xFF : 0x41));
    std::filesystem::remove(spoilt);  // some file systems wait for the disk where a file is emptied and written anew
    std::ofstream(spoilt, std::ios::binary) << other;
    most = std::max(most, read_collector_traces({spoilt}).kernels.size());
  }
  CHECK(most <= 7);  // a byte cannot make more than it spoils
  CHECK(most > 0);
}

TEST_CASE("the collector's trace as an nsys export reads back as the same trace") {
  for (std::vector<std::string> mode : {std::vector<std::string>{"everything"}, {"threads", "200"}, {"fork", "100"}}) {
    ScratchFolder folder;
    REQUIRE(run_gpu(mode, folder.path()).exit_status == 0);
    write_nsys_sqlite(read_collector_traces(trace_files(folder.path()), CallRows::kAll), folder.path() / "run.sqlite");
    CHECK(difference(read_folder(folder.path()), read_nsys_sqlite(folder.path() / "run.sqlite")) == "");
  }
}

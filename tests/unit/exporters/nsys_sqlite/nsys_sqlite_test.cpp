// A trace written as an nsys export and read back is the same trace, and nsys itself prints the same reports.
#include "exporters/nsys_sqlite/nsys_sqlite.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "model/error.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/told_trace.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::exporters;
using namespace nl::test;

namespace {

const std::filesystem::path kFixtures(NL_FIXTURES);

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
  pclose(pipe);
  return text;
}

}  // namespace

TEST_CASE("captures of a GPU are the same after a trip through our export") {
  for (const char* fixture : {"h200-llama/nsys.sqlite", "h200-probe/probe_node.sqlite", "h200-probe/probe_graph.sqlite"}) {
    if (!std::filesystem::exists(kFixtures / fixture)) continue;
    Folder folder;
    Trace all = read_nsys_sqlite(kFixtures / fixture, {.all_calls = true});
    write_nsys_sqlite(all, folder.path / "ours.sqlite");
    CHECK(difference(all, read_nsys_sqlite(folder.path / "ours.sqlite", {.all_calls = true})) == "");
    CHECK(difference(read_nsys_sqlite(kFixtures / fixture), read_nsys_sqlite(folder.path / "ours.sqlite")) == "");
    CHECK(all.kernels.size() + all.graph_runs.size() > 10);
  }
}

TEST_CASE("ranges without a GPU make the trip too") {
  Folder folder;
  Trace trace = read_nsys_sqlite(kFixtures / "crafted/ranges.sqlite");
  write_nsys_sqlite(trace, folder.path / "ours.sqlite");
  Trace back = read_nsys_sqlite(folder.path / "ours.sqlite");
  CHECK(difference(trace, back) == "");
  CHECK_FALSE(back.ranges.empty());
}

TEST_CASE("a capture that could record and met nothing says so") {
  Folder folder;
  Trace trace;
  trace.has_kernel_data = trace.has_api_data = trace.has_mem_data = true;
  write_nsys_sqlite(trace, folder.path / "ours.sqlite");
  Trace back = read_nsys_sqlite(folder.path / "ours.sqlite");
  CHECK((back.has_kernel_data && back.has_api_data && back.has_mem_data));
  CHECK_FALSE(back.has_range_data);
  CHECK(back.kernels.empty());
}

TEST_CASE("memory kinds are CUPTI's in the trace and nsys' in the export") {
  Trace trace = read_nsys_sqlite(kFixtures / "h200-llama/nsys.sqlite");
  // The first is cudaMemcpyAsync of a tensor from pageable memory to the device: nsys' 0 and 2, CUPTI's 1 and 3.
  REQUIRE_FALSE(trace.mem_ops.empty());
  CHECK(trace.mem_ops[0].kind == MemOpKind::kHostToDevice);
  CHECK(trace.mem_ops[0].src_kind == 1);
  CHECK(trace.mem_ops[0].dst_kind == 3);
}

TEST_CASE("a file that cannot be written is an error with its path") {
  Folder folder;
  try {
    write_nsys_sqlite(Trace{}, folder.path / "absent" / "ours.sqlite");
    FAIL("it was written");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kOutput);
    CHECK(error.where == (folder.path / "absent" / "ours.sqlite").string());
    CHECK(std::string(error.what()).find("unable to open database file") != std::string::npos);
  }
}

TEST_CASE("nsys stats prints of our export what it prints of its own") {
  const char* nsys = std::getenv("NL_STAGE_TEST_NSYS");
  if (nsys == nullptr || *nsys == '\0') NL_SKIP("no nsys (NL_STAGE_TEST_NSYS)");
  Folder folder;
  std::filesystem::copy_file(kFixtures / "h200-llama/nsys.sqlite", folder.path / "theirs.sqlite");
  write_nsys_sqlite(read_nsys_sqlite(folder.path / "theirs.sqlite", {.all_calls = true}), folder.path / "ours.sqlite");
  auto report = [&](const std::string& name, const char* file) {
    return output_of("cd '" + folder.path.string() + "' && '" + nsys + "' stats -q -r " + name + " --format csv " + file + " 2>&1");
  };
  // Reports of nsys 2022.4, the version that Debian packages; cudaapitrace is not among them, because it prints
  // the versions of functions, which a trace does not keep.
  for (const char* name : {"gpukernsum", "cudaapisum", "gpumemtimesum", "gpumemsizesum", "gputrace", "gpusum", "nvtxsum", "nvtxkernsum",
                           "nvtxgpuproj", "kernexecsum", "apigpusum", "kernexectrace", "nvtxpptrace"}) {
    std::string theirs = report(name, "theirs.sqlite"), ours = report(name, "ours.sqlite");
    INFO(name << "\n" << ours.substr(0, 600) << "\n--- theirs\n" << theirs.substr(0, 600));
    CHECK((ours == theirs));
    CHECK(theirs.find('\n') < theirs.size() - 1);  // more than a head line
  }
}

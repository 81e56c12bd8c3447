#include <cstring>
#include <fstream>

#include "collector/trace_format.h"
#include "model/error.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/collector/trace_header.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
namespace format = nl::trace_format;
using nl::test::Folder, nl::test::trace_header;

namespace {

Trace read_header_of(const format::FileHeader& header) {
  Folder folder;
  std::ofstream(folder / "file", std::ios::binary).write(reinterpret_cast<const char*>(&header), sizeof header);
  return parsers::read_collector_traces({folder / "file"});
}

bool header_cut(const Trace& trace) { return test::texts_of(trace.stats.rows_damaged).count("file ends inside its header") > 0; }

}  // namespace

TEST_CASE("collector trace: one wrong byte of the magic makes it another file, also where the byte is zero") {
  CHECK_FALSE(header_cut(read_header_of(trace_header())));
  for (std::size_t i = 0; i < sizeof format::kMagic; ++i)
    for (const char wrong : {'\0', '~'}) {
      format::FileHeader header = trace_header();
      header.magic[i] = wrong;
      CAPTURE(i, wrong);
      CHECK_THROWS_AS(read_header_of(header), Error);
    }
}

TEST_CASE("collector trace: a magic of zeros alone is a header that was never written") {
  format::FileHeader header = trace_header();
  std::memset(header.magic, 0, sizeof header.magic);
  CHECK(header_cut(read_header_of(header)));
}

TEST_CASE("collector trace: each number of the header is checked") {
  const auto refused = [](auto change) {
    format::FileHeader header = trace_header();
    change(header);
    CHECK_THROWS_AS(read_header_of(header), Error);
  };
  refused([](auto& header) { ++header.version; });
  refused([](auto& header) { header.version = 0; });
  refused([](auto& header) { ++header.chunk_bytes; });
  refused([](auto& header) { --header.header_bytes; });
  refused([](auto& header) { header.header_bytes = header.chunk_bytes + 1; });
  refused([](auto& header) { header.monotonic_ns = -1; });
}

TEST_CASE("collector trace: the name of the process without reading on, and none of a file that cannot be read") {
  Folder folder;
  format::FileHeader header = trace_header();
  std::strcpy(header.process_name, "python3");
  const auto named = [&] {
    std::ofstream(folder / "file", std::ios::binary).write(reinterpret_cast<const char*>(&header), sizeof header);
    return parsers::process_name_of(folder / "file");
  };
  CHECK(named() == "python3");
  std::memset(header.process_name, 'p', sizeof header.process_name);
  CHECK(named() == std::string(sizeof header.process_name, 'p'));
  header.version = 99;
  CHECK(named() == "");
  CHECK(parsers::process_name_of(folder / "none") == "");
}

// Built without libarchive.
#include "model/error.h"
#include "runs/archive/tar.h"
#include "tests/catch.h"

using namespace nl;

namespace {

template <typename Tar>
void check_refused() {
  try {
    Tar tar("runs.nlz");
    FAIL("made");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kTool);
    CHECK(error.message == "this nl-stage was built without libarchive");
    CHECK(error.fix == "install libarchive-dev and build it again with -Darchive=enabled");
  }
}

}  // namespace

TEST_CASE("archive: without libarchive the way to get it is said") {
  check_refused<runs::TarWriter>();
  check_refused<runs::TarReader>();
}

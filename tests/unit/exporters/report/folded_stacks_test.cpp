#include "exporters/report/reports.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

// The format of flamegraph.pl and speedscope: frames with semicolons between them, a blank, the count.
using namespace nl;
using nl::exporters::folded_stacks;

TEST_CASE("folded stacks: the stage, then the frames from the outermost on, then the samples") {
  Run run;
  run.host.emplace();
  run.host->frames = {{{"main", "/home/me/run.py", "__main__", 3, 1, ""}, HostWork::kOther},
                      {{"step", "/home/me/run.py", "__main__", 9, 8, ""}, HostWork::kOther}};
  run.host->stacks = {{"decode_step", {0, 1}, 12}, {"prefill", {0}, 1}};
  CHECK(folded_stacks(run) == "decode_step;main (run.py:3);step (run.py:9) 12\nprefill;main (run.py:3) 1\n");
}

TEST_CASE("folded stacks: no name can end a frame or pass for a count") {
  Run run;
  run.host.emplace();
  run.host->frames = {{{"a;b", "x;y.py", "", 1, 0, ""}, HostWork::kOther},
                      {{"operator new(unsigned long) 7", "", "", 0, 0, ""}, HostWork::kOther},
                      {{"line\nbreak\t", "/usr/lib/my lib.so", "", 0, 0, ""}, HostWork::kOther},
                      {{"", "", "", 0, 0, ""}, HostWork::kOther}};
  run.host->stacks = {{"my stage;1", {0, 1, 2, 3}, 5}};
  CHECK(folded_stacks(run) == "my_stage:1;a:b (x:y.py:1);operator_new(unsigned_long)_7;line_break_ (my_lib.so);(no name) 5\n");
}

TEST_CASE("folded stacks: nothing without samples, and frames that are not there are passed over") {
  CHECK(folded_stacks(Run()).empty());
  Run run;
  run.host.emplace();
  CHECK(folded_stacks(run).empty());
  run.host->stacks = {{"prefill", {4}, 2}};
  CHECK(folded_stacks(run) == "prefill 2\n");
  CHECK(nl::test::count(folded_stacks(nl::test::host_run()), "\n") == 13);
}

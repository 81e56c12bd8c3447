#include "servers/http/prometheus.h"

#include "tests/catch.h"

using namespace nl::servers::http;

TEST_CASE("serve metrics: labels are escaped") {
  CHECK(label_value("a\"b\\c\nd") == "a\\\"b\\\\c\\nd");
  CHECK(label_value("\xff") == "\xEF\xBF\xBD");
}

TEST_CASE("serve metrics: a stage is a label") {
  CHECK(family_of("tpot_ms").family == "nl_stage_run_tpot_ms");
  CHECK(family_of("tpot_ms").labels.empty());
  CHECK(family_of("stage.decode_step.median_ms").family == "nl_stage_run_stage_median_ms");
  CHECK(family_of("stage.decode_step.median_ms").labels == Labels{{"stage", "decode_step"}});
  CHECK(family_of("stage.a.b.median_ms").labels == Labels{{"stage", "a.b"}});
  CHECK(family_of("stage.").family == "nl_stage_run_stage_");
}

TEST_CASE("serve metrics: the lines of a family stand together, below its type") {
  Exposition out;
  out.add("b_ms", "gauge", "of b", {{"model", "x"}}, 1.5);
  out.add("a_total", "counter", "of a", {}, 2);
  out.add("b_ms", "gauge", "of b", {{"model", "y"}}, 2.5);
  CHECK(out.text() ==
        "# HELP a_total of a\n# TYPE a_total counter\na_total 2\n"
        "# HELP b_ms of b\n# TYPE b_ms gauge\nb_ms{model=\"x\"} 1.5\nb_ms{model=\"y\"} 2.5\n");
}

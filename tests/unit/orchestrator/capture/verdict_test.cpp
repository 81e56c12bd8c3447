#include "orchestrator/capture/verdict.h"

#include <csignal>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tests/catch.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

// The statuses of docs/exit-status.md that a run may end with.
const std::map<std::string, ErrorKind> kStatuses = {{"interrupted", ErrorKind::kInterrupted},
                                                    {"8", ErrorKind::kOutput},
                                                    {"1", ErrorKind::kInternal},
                                                    {"7", ErrorKind::kTimeout},
                                                    {"5", ErrorKind::kWorkload},
                                                    {"4", ErrorKind::kTool},
                                                    {"3", ErrorKind::kInput},
                                                    {"6", ErrorKind::kCapture}};

// Sample: Where several things went wrong, the gravest decides: interrupted, then 8, 1, 7, 5, 4, 3, 6.
std::vector<ErrorKind> documented_order() {
  std::ifstream page(NL_SOURCE_ROOT "/docs/exit-status.md");
  std::stringstream text;
  text << page.rdbuf();
  std::smatch found;
  const std::string all = text.str();
  REQUIRE(std::regex_search(all, found, std::regex("decides: ([^.]*)\\.")));
  const std::string list = found[1];
  const std::regex status("interrupted|[0-9]+");
  std::vector<ErrorKind> order;
  for (std::sregex_iterator word(list.begin(), list.end(), status), end; word != end; ++word) {
    INFO(word->str());
    REQUIRE(kStatuses.contains(word->str()));
    order.push_back(kStatuses.at(word->str()));
  }
  return order;
}

std::optional<ErrorKind> failure_of(ErrorKind first, ErrorKind second) {
  Verdict verdict;
  for (const ErrorKind kind : {first, second})
    kind == ErrorKind::kInterrupted ? verdict.interrupted(SIGINT) : verdict.add(nl::Error(kind, "trouble"));
  CHECK(verdict.problems().size() == (first == second && first == ErrorKind::kInterrupted ? 1 : 2));
  return verdict.failure();
}

}  // namespace

TEST_CASE("what is only worth knowing fails nothing") {
  Verdict verdict;
  verdict.add(Code::kNoStages, {"decode"});
  CHECK(verdict.problems().size() == 1);
  CHECK_FALSE(verdict.failure());
  CHECK(status_of(verdict.problems(), true) == RunStatus::kComplete);
  verdict.add(Code::kCountersDenied, {"ncu"});
  CHECK(verdict.failure() == ErrorKind::kTool);  // by the table of words
}

TEST_CASE("of two troubles the graver decides, in the order that docs/exit-status.md promises") {
  const std::vector<ErrorKind> order = documented_order();
  REQUIRE(order.size() == kStatuses.size());
  for (std::size_t graver = 0; graver < order.size(); ++graver)
    for (std::size_t other = graver; other < order.size(); ++other) {
      INFO(graver << " against " << other << " of the documented order");
      CHECK(failure_of(order[graver], order[other]) == order[graver]);
      CHECK(failure_of(order[other], order[graver]) == order[graver]);
    }
}

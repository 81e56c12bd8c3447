#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "orchestrator/config/config.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace nl::test {

// Programs that say their version and know every option, and an NVML with one H200: found wherever the tests run.
inline orchestrator::ToolOptions fake_tools(const FakeTree& tree) {
  orchestrator::ToolOptions tools;
  tools.nsys = tree.program("tools/nsys", "#!/bin/sh\n[ \"$1\" = --version ] && echo 'NVIDIA Nsight Systems version 2025.3.1.0'\nexit 0\n");
  tools.ncu = tree.program("tools/ncu", "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Version 2025.2.0.0 (build 1)'\nexit 0\n");
  tools.nvml = std::string(NL_BUILD_ROOT) + "/tests/unit/orchestrator/libfake_nvml.so";
  tools.collector = tree.write("tools/libnl_collector.so", "never loaded");
  return tools;
}

// An environment variable, as long as this lives.
class SetVariable {
 public:
  SetVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~SetVariable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace nl::test

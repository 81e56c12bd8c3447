#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "orchestrator/doctor/checks.h"
#include "orchestrator/doctor/doctor.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace nl::test {

inline constexpr std::uint64_t kMiB = 1024 * 1024;

// A healthy machine, which a test makes sick.
struct Machine {
  Machine() {
    host.root = tree.root();
    host.env["TMPDIR"] = tree.root() / "tmp";
    std::filesystem::create_directories(tree.root() / "tmp");
    host.space = [this](const std::filesystem::path&) { return std::optional(space); };
    host.writable = [this](const std::filesystem::path& path) { return path != read_only; };
    host.start = [this](const orchestrator::ProcessSpec& spec) { return start(spec); };
    tools.nsys.emplace();
    tools.nsys->path = tools.nsys->found_at = "/opt/nsight/target-linux-x64/nsys";
    tools.nsys->version = {2025, 3, 1};
    tools.nsys->found_by = "PATH";
    tools.nsys->importer = "/opt/nsight/host-linux-x64/QdstrmImporter";
    tools.ncu = tools.nsys;
    tools.gpus = {"NVIDIA H200"};
    tools.collector = "/lib/libnl_collector.so";
  }
  // The trial capture: leaves a report where the machine is healthy.
  orchestrator::ProcessResult start(const orchestrator::ProcessSpec& spec) {
    orchestrator::ProcessResult result;
    const std::string option = "--output=";
    for (const auto& word : spec.argv)
      if (makes_report && word.starts_with(option)) std::ofstream(word.substr(option.size()) + ".nsys-rep") << "x";
    if (!makes_report) result.stderr_text = "Importer error status: An unknown error occurred.\nmore\n";
    return result;
  }
  void capabilities(const std::string& effective) { tree.write("proc/self/status", "Name:\tx\nCapEff:\t" + effective + "\nSeccomp:\t2\n"); }

  FakeTree tree;
  orchestrator::Host host;
  orchestrator::Toolset tools;
  orchestrator::Config config;
  orchestrator::FileSpace space{8192 * kMiB, 16384 * kMiB};
  std::filesystem::path read_only = "/none";
  bool makes_report = true;
};

}  // namespace nl::test

#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/machine/tools.h"
#include "orchestrator/machine/tools_host.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace nl::test {

inline std::string help_text(const std::string& name) { return read_file(std::filesystem::path(NL_FIXTURES) / "help" / name); }

// A machine whose programs answer as the real ones do, without any being started.
struct FakeHost {
  FakeHost() {
    host.root = tree.root();
    host.architecture = "x86_64";
    host.cache = tree.root() / "cache";
    host.program_folder = tree.root() / "app/bin";
    host.ask_nvml = [](const std::filesystem::path&) { return orchestrator::GpuInventory{{}, {}, "no library"}; };
    host.space = [](const std::filesystem::path&) { return std::nullopt; };
    host.writable = [](const std::filesystem::path&) { return true; };
    host.start = [this](const orchestrator::ProcessSpec& spec) { return answer(spec); };
  }

  orchestrator::ProcessResult answer(const orchestrator::ProcessSpec& spec) {
    started.push_back(spec);
    orchestrator::ProcessResult result;
    const std::string program = std::filesystem::path(spec.argv[0]).filename();
    if (broken.count(spec.argv[0])) {
      result.exit_status = 1;
      return result;
    }
    if (spec.env.count("LD_TRACE_LOADED_OBJECTS")) {
      for (const auto& library : missing)
        if (!std::filesystem::exists(library_path(spec) / library)) result.stdout_text += "\t" + library + " => not found\n";
      return result;
    }
    if (program == "ncu")
      result.stdout_text = spec.argv[1] == "--version" ? "Copyright (c) 2018-2025 NVIDIA Corporation\nVersion 2025.3.1.0 (build 1)\n"
                                                       : help_text("ncu-2025.3.1.txt");
    else if (spec.argv[1] == "profile") result.stdout_text = help_text("nsys-2025.3.1-profile.txt");
    else if (spec.argv[1] == "export") result.stdout_text = help_text("nsys-2025.3.1-export.txt");
    else result.stdout_text = "NVIDIA Nsight Systems version 2025.3.1.0\n";
    return result;
  }

  static std::filesystem::path library_path(const orchestrator::ProcessSpec& spec) {
    const auto found = spec.env.find("LD_LIBRARY_PATH");
    return found == spec.env.end() ? std::filesystem::path("/nonexistent")
                                   : std::filesystem::path(found->second.substr(0, found->second.find(':')));
  }

  orchestrator::Toolset find(const orchestrator::ToolOptions& options = {}) { return orchestrator::find_tools(options, host); }

  FakeTree tree;
  orchestrator::Host host;
  std::set<std::string> broken;
  std::vector<std::string> missing;
  std::vector<orchestrator::ProcessSpec> started;
};

}  // namespace nl::test

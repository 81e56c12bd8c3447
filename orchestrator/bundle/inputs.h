#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/config/config.h"

// The input files of a workload, as inputs.yaml has them.
namespace nl::orchestrator {

struct Input {
  std::string path;                         // as configured
  std::optional<std::uint64_t> size_bytes;  // nothing: it was not looked at
  std::string sha256;                       // empty: not known
  std::optional<std::size_t> files;         // of a folder
};

// workload.inputs as they are now, hashed; paths are relative to where the workload is started. A folder's digest is that
// of its listing, as `find . -xtype f | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum` prints it. Error(kConfig) where one is not
// there, before any is hashed; Ctrl-C ends us.
std::vector<Input> read_inputs(const WorkloadOptions& workload);

// Their names alone, for captures that were made elsewhere.
std::vector<Input> name_inputs(const WorkloadOptions& workload);

// {count, inputs: [{path, size_bytes, sha256, files}]}
std::string inputs_yaml(const std::vector<Input>& inputs);

}  // namespace nl::orchestrator

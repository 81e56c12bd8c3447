#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "model/input_bounds.h"
#include "orchestrator/bundle/bundle.h"

// Small files by which the processes of a job tell each other how they are doing: whole, or not there.
namespace nl::runs::slurm {

// Throws nlohmann::json::exception where it is none.
inline nlohmann::json read_json_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return nlohmann::json::parse(json_within_bounds(text, file.string()));
}

inline void write_json_file(const std::filesystem::path& file, const nlohmann::ordered_json& json) {
  std::filesystem::create_directories(file.parent_path());
  orchestrator::write_file_whole(file, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace nl::runs::slurm

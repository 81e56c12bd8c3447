#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/words.h"

// Remarks as people read them.
namespace nl::test {

inline std::vector<std::string> texts_of(const std::vector<Remark>& remarks) {
  std::vector<std::string> texts;
  for (const Remark& remark : remarks) texts.push_back(line_of(remark));
  return texts;
}

inline std::map<std::string, std::uint64_t> texts_of(const DamagedRows& damaged) {
  std::map<std::string, std::uint64_t> texts;
  for (const auto& [damage, rows] : damaged) texts[line_of(damage)] += rows;
  return texts;
}

}  // namespace nl::test

#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace nl::parsers {

// Correlation id → index of the API call, of one process. Ids are nearly consecutive, so they are kept as
// bits of blocks of 64: a million launches among three million calls take less than a megabyte to find.
class CorrelationMap {
 public:
  CorrelationMap() : blocks_(16) {}
  void insert(std::uint32_t correlation);  // kNone is passed over
  bool contains(std::uint32_t correlation) const;

  // After the last insert().
  void seal();
  // Ignores a correlation that is not one of the keys. False where it has a call already; the first one stays.
  bool set(std::uint32_t correlation, std::uint32_t call);
  std::uint32_t call_of(std::uint32_t correlation) const;  // kNone where there is none

 private:
  struct Block {
    std::uint32_t number = 0;      // correlation / 64
    std::uint32_t first_call = 0;  // where the calls of its bits are
    std::uint64_t bits = 0;        // 0: free
  };
  std::size_t place_of(std::uint32_t number) const;
  void grow();
  std::uint32_t* slot_of(std::uint32_t correlation);

  std::vector<Block> blocks_;  // a hash table; its size is a power of two
  std::size_t used_ = 0;
  std::vector<std::uint32_t> calls_;
};

// Where no calls are read: no work has one.
void forget_launches(Trace& trace);

// The GPU work of a trace by the (process, correlation) of the call that launched it. While the tables are
// read, `api` of a kernel, copy or graph run holds its correlation id; link() turns it into the index.
class Launches {
 public:
  // `any_process`: the export does not say whose the GPU rows are.
  Launches(const Trace& trace, bool any_process);
  const CorrelationMap* of_process(std::uint32_t process) const;
  // How many calls had the (process, correlation) of an earlier one.
  std::uint64_t link(Trace& trace);

 private:
  CorrelationMap* map_of(std::uint32_t process);
  std::vector<CorrelationMap> maps_;
  bool any_process_;
};

}  // namespace nl::parsers

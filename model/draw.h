#pragma once

#include <cstddef>
#include <cstdint>

namespace nl {

// splitmix64. The distributions of the standard library differ between its makers; this one is said here in full.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }

  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(bits() % count);
  }  // the bias of the remainder is under count ÷ 2^64

 private:
  std::uint64_t state_;
};

}  // namespace nl

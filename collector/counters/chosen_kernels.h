#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/string_table.h"

namespace nl::collector {

// Which launches are to be measured: some of each shape of the kernels that a file names.
class ChosenKernels {
 public:
  enum Pass : unsigned { kInPlace = 0, kReplayed = 1 };

  struct Shape {
    const Text* name;
    std::uint32_t grid[3], block[3], device;
    std::uint8_t left[2];  // launches still to be measured, by Pass
    std::uint8_t failures;
  };

  // A file with one mangled name a line (peer_kernels.h: some are left out), and how many launches of each shape to
  // measure in place and replayed. False: no names.
  bool read(const char* path, unsigned in_place, unsigned replayed);

  // Whether the kernel is one of the chosen; any thread may ask.
  bool named(const char* mangled) const;
  // The shape of a launch; nullptr where the kernel is not chosen, or there are more shapes than can be kept.
  Shape* find(const char* mangled, const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3], std::uint32_t device);

  // Which pass to measure this launch in; false: none. Changing the pass takes a tenth of a second, so the
  // current pass goes on until it has nothing more to measure. A shape is measured once in both passes before it is
  // measured twice in one, because a short program may have no more launches.
  bool wanted(const Shape& shape, Pass& pass);
  Pass pass() const { return pass_; }
  void measured(Shape& shape, Pass pass);
  static void failed(Shape& shape);  // after three times it is left alone

 private:
  static constexpr std::size_t kMaxShapes = 4096;  // a power of two
  static Pass other(Pass pass) { return pass == kInPlace ? kReplayed : kInPlace; }
  bool has_work(const Shape& shape, Pass pass) const;
  bool any_work(Pass pass) const;

  StringTable names_;
  Shape shapes_[kMaxShapes] = {};
  std::size_t count_ = 0;
  unsigned launches_[2] = {1, 0};  // of each shape, by Pass
  Pass pass_ = kInPlace;
  std::size_t idle_ = 0;  // chosen launches in a row of which none was measured
};

}  // namespace nl::collector

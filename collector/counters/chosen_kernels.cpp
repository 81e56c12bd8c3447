#include "collector/counters/chosen_kernels.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "collector/counters/peer_kernels.h"

namespace nl::collector {

bool ChosenKernels::read(const char* path, unsigned in_place, unsigned replayed) {
  launches_[kInPlace] = in_place;
  launches_[kReplayed] = replayed;
  std::FILE* file = path != nullptr ? std::fopen(path, "re") : nullptr;
  if (file == nullptr) return false;
  char* line = nullptr;
  std::size_t room = 0;
  for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
    std::size_t bytes = std::strcspn(line, "\r\n");
    std::uint64_t hash = hash_text(line, bytes);
    line[bytes] = '\0';
    if (bytes > 0 && !talks_to_peers(line) && names_.find(hash, line, bytes) == nullptr) names_.add(hash, line, bytes);
  }
  std::free(line);
  std::fclose(file);
  return names_.size() > 0;
}

bool ChosenKernels::named(const char* mangled) const {
  if (mangled == nullptr) return false;
  std::size_t length = std::strlen(mangled);
  return names_.find(hash_text(mangled, length), mangled, length) != nullptr;
}

ChosenKernels::Shape* ChosenKernels::find(const char* mangled, const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3],
                                          std::uint32_t device) {
  std::size_t length = std::strlen(mangled);
  std::uint64_t hash = hash_text(mangled, length);
  const Text* name = names_.find(hash, mangled, length);
  if (name == nullptr) return nullptr;
  for (std::uint32_t number : {grid[0], grid[1], grid[2], block[0], block[1], block[2], device})
    hash = (hash ^ number) * 0x9E3779B97F4A7C15ULL;
  for (std::size_t i = hash >> 32;; ++i) {
    Shape& shape = shapes_[i % kMaxShapes];
    if (shape.name == nullptr) {
      if (count_ + 1 == kMaxShapes) return nullptr;
      ++count_;
      shape = {name,
               {grid[0], grid[1], grid[2]},
               {block[0], block[1], block[2]},
               device,
               {static_cast<std::uint8_t>(launches_[kInPlace]), static_cast<std::uint8_t>(launches_[kReplayed])},
               0};
      return &shape;
    }
    if (shape.name == name && std::memcmp(shape.grid, grid, sizeof grid) == 0 && std::memcmp(shape.block, block, sizeof block) == 0 &&
        shape.device == device)
      return &shape;
  }
}

bool ChosenKernels::has_work(const Shape& shape, Pass pass) const {
  auto begun = [&](Pass some) { return launches_[some] == 0 || shape.left[some] < launches_[some]; };
  return shape.left[pass] > 0 && (!begun(pass) || begun(other(pass)));
}

bool ChosenKernels::any_work(Pass pass) const {
  for (const Shape& shape : shapes_)
    if (shape.name != nullptr && has_work(shape, pass)) return true;
  return false;
}

bool ChosenKernels::wanted(const Shape& shape, Pass& pass) {
  ++idle_;
  if (!has_work(shape, pass_)) {
    if (idle_ <= count_) return false;  // each known shape may have come by once since
    idle_ = 0;
    if (!any_work(other(pass_))) return false;
    pass_ = other(pass_);
    if (!has_work(shape, pass_)) return false;
  }
  pass = pass_;
  return true;
}

void ChosenKernels::measured(Shape& shape, Pass pass) {
  --shape.left[pass];
  idle_ = 0;
}

void ChosenKernels::failed(Shape& shape) {
  if (++shape.failures == 3) shape.left[kInPlace] = shape.left[kReplayed] = 0;
}

}  // namespace nl::collector

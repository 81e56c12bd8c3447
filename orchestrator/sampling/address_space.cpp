#include "orchestrator/sampling/address_space.h"

#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>

namespace nl::orchestrator::sampling {
namespace {

constexpr std::size_t kMaxImages = 4096, kMaxMappings = 16'384;
constexpr std::string_view kVdso = "[vdso]";

// The kernel gives all processes the same code; ours is in our own memory.
std::unique_ptr<ImageBytes> own_vdso() {
  const auto* start = reinterpret_cast<const unsigned char*>(getauxval(AT_SYSINFO_EHDR));  // NOLINT: that is how the kernel hands it over
  if (start == nullptr) return nullptr;
  Elf64_Ehdr header;
  std::memcpy(&header, start, sizeof header);
  const std::uint64_t sections_end = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  constexpr std::uint64_t kMostBytes = 1 << 16;
  if (sections_end > kMostBytes) return nullptr;
  return std::make_unique<ImageBytes>(std::span(start, static_cast<std::size_t>(sections_end)));
}

}  // namespace

std::uint32_t Images::number_of(std::string_view file) {
  if (const auto known = numbers_.find(file); known != numbers_.end()) return known->second;
  if (images_.empty()) images_.push_back({{"[other]", nullptr, nullptr}, true});  // what comes when there are too many
  if (images_.size() >= kMaxImages) return 0;
  const auto number = static_cast<std::uint32_t>(images_.size());
  numbers_.emplace(file, number);
  images_.push_back({{std::string(file), nullptr, nullptr}, false});
  return number;
}

Image& Images::operator[](std::uint32_t number) {
  Entry& entry = images_[number];
  if (entry.opened) return entry.image;
  entry.opened = true;
  const bool file = entry.image.file.starts_with('/') && !entry.image.file.starts_with("//");
  auto bytes = entry.image.file == kVdso ? own_vdso() : file ? ImageBytes::open(entry.image.file) : nullptr;
  entry.image.elf = ElfImage::open(std::move(bytes), machine_);
  if (entry.image.elf) entry.image.unwind = std::make_unique<UnwindTable>(*entry.image.elf);
  return entry.image;
}

void AddressSpace::map(const Mapping& mapping) {
  if (mapping.start >= mapping.end) return;
  auto next = mappings_.upper_bound(mapping.start);
  if (next != mappings_.begin()) --next;
  while (next != mappings_.end() && next->second.start < mapping.end) {
    const Mapping old = next->second;
    if (old.end <= mapping.start) {
      ++next;
      continue;
    }
    next = mappings_.erase(next);
    if (old.start < mapping.start) mappings_[old.start] = {old.start, mapping.start, old.file_offset, old.image};
    if (old.end > mapping.end) {
      mappings_[mapping.end] = {mapping.end, old.end, old.file_offset + (mapping.end - old.start), old.image};
      break;
    }
  }
  if (mappings_.size() < kMaxMappings) mappings_[mapping.start] = mapping;
}

const Mapping* AddressSpace::at(std::uint64_t address) const {
  auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return nullptr;
  const Mapping& found = (--after)->second;
  return address < found.end ? &found : nullptr;
}

}  // namespace nl::orchestrator::sampling

#include "orchestrator/sampling/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace nl::orchestrator::sampling {
namespace {

constexpr std::size_t kMaxHeaders = 512;
constexpr std::uint64_t kMaxSections = 100'000, kMaxSymbols = 4'000'000;

bool is_own(const Elf64_Ehdr& header, const Machine& machine) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == machine.elf_machine && header.e_phentsize == sizeof(Elf64_Phdr);
}

bool is_function(const Elf64_Sym& symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
}

}  // namespace

std::unique_ptr<ElfImage> ElfImage::open(std::unique_ptr<ImageBytes> bytes, const Machine& machine) {
  if (!bytes) return nullptr;
  std::unique_ptr<ElfImage> image(new ElfImage(std::move(bytes)));
  return image->read_segments(machine) ? std::move(image) : nullptr;
}

bool ElfImage::read_segments(const Machine& machine) {
  Elf64_Ehdr header;
  if (!bytes_->read(0, header) || !is_own(header, machine)) return false;
  for (std::size_t i = 0; i < std::min<std::size_t>(header.e_phnum, kMaxHeaders); ++i) {
    Elf64_Phdr segment;
    if (!bytes_->read(header.e_phoff + i * sizeof segment, segment)) return false;
    if (segment.p_type == PT_LOAD)
      segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz, (segment.p_flags & PF_X) != 0});
    if (segment.p_type == PT_GNU_EH_FRAME) unwind_header_ = segment.p_vaddr;
  }
  return !segments_.empty();
}

std::optional<std::uint64_t> ElfImage::offset_of(std::uint64_t address) const {
  for (const Segment& segment : segments_)
    if (address >= segment.address && address - segment.address < segment.bytes) return segment.offset + (address - segment.address);
  return std::nullopt;
}

std::optional<std::uint64_t> ElfImage::code_address(std::uint64_t offset) const {
  for (const Segment& segment : segments_)
    if (segment.code && offset >= segment.offset && offset - segment.offset < segment.bytes)
      return segment.address + (offset - segment.offset);
  return std::nullopt;
}

// .symtab where there is one: it has the functions that are not exported too.
void ElfImage::read_symbols() {
  std::vector<Symbol>& out = symbols_.emplace();
  Elf64_Ehdr header;
  if (!bytes_->read(0, header) || header.e_shentsize != sizeof(Elf64_Shdr)) return;
  std::vector<Elf64_Shdr> sections(std::min<std::uint64_t>(header.e_shnum, kMaxSections));
  if (!bytes_->read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return;
  for (const auto wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const Elf64_Shdr& table : sections) {
      if (table.sh_type != static_cast<Elf64_Word>(wanted) || table.sh_link >= sections.size()) continue;
      const Elf64_Shdr& names = sections[table.sh_link];
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(table.sh_size / sizeof(Elf64_Sym), kMaxSymbols); ++i) {
        Elf64_Sym symbol;
        if (!bytes_->read(table.sh_offset + i * sizeof symbol, symbol)) break;
        if (is_function(symbol) && symbol.st_name < names.sh_size)
          out.push_back({symbol.st_value, symbol.st_size, names.sh_offset + symbol.st_name, ELF64_ST_BIND(symbol.st_info) != STB_LOCAL});
      }
    }
    if (!out.empty()) break;
  }
  // Of several names of one place the exported one is what people know.
  std::sort(out.begin(), out.end(), [](const Symbol& a, const Symbol& b) {
    return std::tuple(a.address, a.global, b.name) < std::tuple(b.address, b.global, a.name);
  });
}

// Symbols of hand-written code may have no size: then the next one ends it.
std::string ElfImage::function_at(std::uint64_t address) {
  if (!symbols_) read_symbols();
  auto after = std::upper_bound(symbols_->begin(), symbols_->end(), address,
                                [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  if (after == symbols_->begin()) return {};
  const Symbol& found = *--after;
  if (found.bytes != 0 && address - found.address >= found.bytes) return {};
  return bytes_->text(found.name);
}

}  // namespace nl::orchestrator::sampling

// SPDX-License-Identifier: Apache-2.0
// A bounds-checked reader of ELF64 tables. Every structure is copied out of the image, so alignment
// does not matter.
#include "base/elf_symbols.h"

#include <elf.h>

#include <cstring>

namespace mxnet {
namespace {

using Image = std::span<const unsigned char>;

// Copies the `index`-th T of the table at `offset`; false when it does not lie wholly in the image.
template <class T>
bool read_at(Image image, uint64_t offset, uint64_t index, T& out) noexcept {
  uint64_t start = 0;
  if (__builtin_mul_overflow(index, uint64_t{sizeof(T)}, &start) ||
      __builtin_add_overflow(start, offset, &start) || start > image.size() ||
      image.size() - start < sizeof(T)) {
    return false;
  }
  std::memcpy(&out, image.data() + start, sizeof(T));
  return true;
}

bool read_header(Image image, Elf64_Ehdr& header) noexcept {
  return read_at(image, 0, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
}

// The text at `offset` of a string table, empty unless it ends inside the table.
std::string_view string_at(Image image, const Elf64_Shdr& table, uint64_t offset) noexcept {
  if (table.sh_offset > image.size() || table.sh_size > image.size() - table.sh_offset ||
      offset >= table.sh_size) {
    return {};
  }
  const auto* begin = reinterpret_cast<const char*>(image.data() + table.sh_offset + offset);
  const auto* end = static_cast<const char*>(std::memchr(begin, 0, table.sh_size - offset));
  return end == nullptr ? std::string_view{} : std::string_view(begin, end - begin);
}

ElfSymbol search(Image image, const Elf64_Ehdr& header, const Elf64_Shdr& table,
                 uint64_t address) noexcept {
  Elf64_Shdr strings;
  if (!read_at(image, header.e_shoff, table.sh_link, strings)) return {};
  ElfSymbol best;
  Elf64_Sym symbol;
  const uint64_t count = table.sh_size / sizeof(symbol);
  for (uint64_t i = 0; i < count && read_at(image, table.sh_offset, i, symbol); ++i) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    if (address < symbol.st_value || address - symbol.st_value >= symbol.st_size) continue;
    best.name = string_at(image, strings, symbol.st_name);
    best.offset = address - symbol.st_value;
    break;  // functions do not overlap; aliases of one address are equally good
  }
  return best;
}

}  // namespace

uint64_t elf_address_of(Image image, uint64_t file_offset) noexcept {
  Elf64_Ehdr header;
  if (!read_header(image, header)) return ~uint64_t{0};
  Elf64_Phdr segment;
  for (unsigned i = 0; i < header.e_phnum && read_at(image, header.e_phoff, i, segment); ++i) {
    if (segment.p_type == PT_LOAD && file_offset >= segment.p_offset &&
        file_offset - segment.p_offset < segment.p_filesz) {
      return segment.p_vaddr + (file_offset - segment.p_offset);
    }
  }
  return ~uint64_t{0};
}

ElfSymbol find_elf_symbol(Image image, uint64_t address) noexcept {
  Elf64_Ehdr header;
  if (!read_header(image, header)) return {};
  for (const uint32_t wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    Elf64_Shdr section;
    for (unsigned i = 0; i < header.e_shnum && read_at(image, header.e_shoff, i, section); ++i) {
      if (section.sh_type != wanted) continue;
      const ElfSymbol found = search(image, header, section, address);
      if (!found.name.empty()) return found;
    }
  }
  return {};
}

}  // namespace mxnet

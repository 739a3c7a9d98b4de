// SPDX-License-Identifier: Apache-2.0
// Looks a function up in the bytes of an ELF file. dladdr sees only exported names and most of ours
// are hidden; the file's own symbol table knows them. Neither allocates nor locks, so that a signal
// handler may use it.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace mxnet {

struct ElfSymbol {
  std::string_view name;  // as mangled; points into the image
  uint64_t offset = 0;    // of the address from the function's start
};

// The virtual address that the byte at `file_offset` is loaded at (before relocation), or ~0 when
// it is not loaded.
uint64_t elf_address_of(std::span<const unsigned char> image, uint64_t file_offset) noexcept;

// The function that holds `address`; .symtab first, .dynsym where it was stripped. An empty name
// when there is none. Any bytes are accepted: a damaged file gives no symbol.
ElfSymbol find_elf_symbol(std::span<const unsigned char> image, uint64_t address) noexcept;

}  // namespace mxnet

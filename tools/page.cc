// SPDX-License-Identifier: Apache-2.0
// Printing a generated page, and telling whether the one in docs/ is today's.
#include "page.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace mxnet {
namespace {

int check(const char* program, const char* path, const std::string& page) {
  std::ifstream file(path);
  std::stringstream expected(page);
  std::string have, want;
  for (int line = 1;; ++line) {
    const bool more_have = static_cast<bool>(std::getline(file, have));
    const bool more_want = static_cast<bool>(std::getline(expected, want));
    if (!more_have && !more_want) return 0;
    if (more_have == more_want && have == want) continue;
    std::fprintf(stderr, "%s:%d differs from the source; run %s > %s\n  page:   %s\n  source: %s\n",
                 path, line, program, path, more_have ? have.c_str() : "(end)",
                 more_want ? want.c_str() : "(end)");
    return 1;
  }
}

}  // namespace

std::string table_cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\\|");
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text[at] = ' ';
  return text;
}

int print_or_check(int argc, char** argv, const std::string& page) {
  if (argc == 3 && std::strcmp(argv[1], "--check") == 0) return check(argv[0], argv[2], page);
  if (argc != 1) {
    std::fprintf(stderr, "usage: %s [--check FILE]\n", argv[0]);
    return 2;
  }
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}

}  // namespace mxnet

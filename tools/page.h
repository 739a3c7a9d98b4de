// SPDX-License-Identifier: Apache-2.0
// What programs share that print a page of docs/ from the tables in the source.
#pragma once
#include <string>

namespace mxnet {

// `text` as it may stand in a cell of a markdown table.
std::string table_cell(std::string text);

// The main function of such a program: prints the page, or with `--check FILE` compares it with the
// file, names the first line that differs, and returns 1 if one does.
int print_or_check(int argc, char** argv, const std::string& page);

}  // namespace mxnet

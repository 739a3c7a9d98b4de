// SPDX-License-Identifier: Apache-2.0
// What a path names here, and where a file belongs that appears whole: what writes one beside and
// renames it asks here.
#pragma once
#include <string>
#include <string_view>

namespace mxnet {

// Of a plain path or a file:// one; throws Error(kNotImplemented) for another scheme (s3://,
// hdfs://). `tag` names the subsystem that complains.
std::string local_path(const std::string& uri, const char* tag);

struct Destination {
  std::string path;  // behind links; the last of them may lead to a file that is not there yet
  bool exists;
  // False: no name at all, links that go round, a pipe, a device, or a file that a process holds
  // open (/dev/stdout), to be opened as it is. Who has it open would not see what took its place.
  bool replaceable;
};
Destination destination_of(std::string path);

// A name in the same folder, short enough for it whatever the name of the file is.
std::string name_beside(const std::string& path, std::string_view ending);

// Gives the file `fd` owner and permissions of the one at `path`. Where that is refused those of a
// new file will do.
void take_over_rights(const std::string& path, int fd) noexcept;

}  // namespace mxnet

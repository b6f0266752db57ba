// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Files.h.
#include "tools/verbs/Files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace fovea::verbs {

bool readFile(const std::string &path, std::string &bytes, std::string &error) {
  bool standard = path == "-";
  FILE *file = standard ? stdin : std::fopen(path.c_str(), "rbe");
  bool good = file != nullptr;
  bytes.clear();
  char chunk[1 << 16];
  while (good) {
    size_t count = std::fread(chunk, 1, sizeof(chunk), file);
    bytes.append(chunk, count);
    good = !std::ferror(file);
    if (count < sizeof(chunk))
      break;
  }
  int code = errno;
  if (file && !standard)
    std::fclose(file);
  if (!good)
    error = (standard ? "standard input" : path) + ": cannot be read: " + std::strerror(code);
  return good;
}

} // namespace fovea::verbs

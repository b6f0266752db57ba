// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code for another family of processors, run by qemu on memory that it shares with this process.
#ifndef FOVEA_TEST_GRID_REMOTEPROCESS_H
#define FOVEA_TEST_GRID_REMOTEPROCESS_H

#include "test/grid/remote/Request.h"
#include <map>
#include <optional>
#include <string>

namespace mlir::fovea {

class RemoteProcess {
public:
  /// The one of this process, started when it is first asked for; null if qemu or the program that
  /// it runs (scripts/setup --aarch64) is not there, or it has ended.
  static RemoteProcess *get();

  /// The answer; nothing, and `error` says why, if there is none.
  std::optional<uint64_t> ask(const ::fovea::remote::Request &request, std::string &error);

  /// Whole pages of the memory that both have, behind all that are not released.
  char *allocate(size_t bytes);
  void release(char *begin) { ends.erase(begin); }

private:
  bool start();
  int input = -1, output = -1;
  bool runs = false;
  std::map<char *, char *> ends; ///< of what is allocated
};

} // namespace mlir::fovea

#endif // FOVEA_TEST_GRID_REMOTEPROCESS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CutFiles.h. The handler calls only what may be called in one.
#include "tools/verbs/CutFiles.h"

#include "artifact/FileView.h"
#include "runtime/include/fovea/runtime.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

namespace fovea::verbs {

static const char *programName;
static void (*cleanUpBefore)();
static struct sigaction earlier;

/// Writes all, in one piece where that fits: several threads of others may write too.
static void say(const char *path) {
  static char text[2048]; // a thread's stack may be short
  const char *parts[] = {programName,
                         ": error: ",
                         path,
                         ": was cut while it was read, or its disk failed: replace files that are "
                         "in use by renaming, or read them whole first with ",
                         kNoMapping,
                         "\n"};
  size_t size = 0;
  for (const char *part : parts)
    for (; *part && size < sizeof(text); ++part)
      text[size++] = *part;
  for (const char *from = text; size > 0;) {
    ssize_t count = ::write(STDERR_FILENO, from, size);
    if (count <= 0)
      break;
    from += count;
    size -= static_cast<size_t>(count);
  }
}

static void onBusError(int, siginfo_t *info, void *) {
  const char *path = nullptr;
  if (info->si_code == BUS_ADRERR) {
    path = artifact::findMappedFile(info->si_addr); // of a model
    if (!path)
      path = fovea_find_mapped_file(info->si_addr); // of an artifact, in the runtime
  }
  if (!path) {
    // Comes again behind this handler, for whoever was there before.
    ::sigaction(SIGBUS, &earlier, nullptr);
    return;
  }
  static std::atomic_flag isTold = ATOMIC_FLAG_INIT;
  while (isTold.test_and_set())
    ::pause(); // another thread ends the program
  say(path);
  if (cleanUpBefore)
    cleanUpBefore();
  ::_exit(1);
}

void endOnCutFiles(const char *program, void (*cleanUp)()) {
  programName = program;
  cleanUpBefore = cleanUp;
  struct sigaction action = {};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGBUS, &action, &earlier);
}

} // namespace fovea::verbs

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM ends by a signal: no memory, or no thread. Neither is a fault of the compiler, nor does
// it leave enough to write a reproducer of one.
#include "tools/compile/Compile.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

/// Says why and ends; allocates nothing.
[[noreturn]] static void end(const char *message) {
  static const char begin[] = "fovea: error: ";
  for (const char *text : {begin, message, "\n"})
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0)
      break;
  fovea::compile::removeHalfWritten();
  ::_exit(static_cast<int>(fovea::compile::Outcome::InputFault));
}

static void endForMemory() { end("out of memory"); }

static void onBadAlloc(void *, const char *, bool) { endForMemory(); }

static void onFatalError(void *, const char *reason, bool) {
  if (llvm::StringRef(reason).contains("pthread_create failed"))
    end("cannot start a thread: Resource temporarily unavailable");
  // All else is a fault of the compiler, and goes on as a crash of it.
}

bool fovea::compile::isMemoryExhausted() {
  constexpr size_t kSome = 16 << 20;
  void *some = ::mmap(nullptr, kSome, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (some == MAP_FAILED)
    return true;
  ::munmap(some, kSome);
  return false;
}

void fovea::compile::removeHalfWritten() { llvm::sys::RunInterruptHandlers(); }

void fovea::compile::endOnExhaustion() {
  // LLVM sets its handlers when it first needs one; from here on it has them.
  llvm::sys::SetInterruptFunction(nullptr);
  std::set_new_handler(endForMemory);
  llvm::install_bad_alloc_error_handler(onBadAlloc);
  llvm::install_fatal_error_handler(onFatalError);
}

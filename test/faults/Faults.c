// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets one system call of a program go wrong; loaded into it by LD_PRELOAD. Calls on files that lie
// in a folder, and on what the program has in memory files of ours, are counted from 1. What the C
// library calls within itself (behind fwrite, say) is not seen.
//
//   FOVEA_FAULT_PROGRAM  the program's name; others that it starts are left alone
//   FOVEA_FAULT_FOLDER   the folder, an absolute path without links
//   FOVEA_FAULT_LOG      a file that gets a line for each counted call: its name and the path, and
//                        "!" before it where it went wrong
//   FOVEA_FAULT_AT       which call goes wrong; without it none does
//   FOVEA_FAULT          in which way:
//     ENOSPC, EIO, EDQUOT, EMFILE   it fails; a close has closed all the same
//     EINTR   a signal interrupts it, where one can
//     short   it reads or writes half
//     kill    the program is killed before it
//     cut     the file that was mapped loses all its bytes
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/// What becomes of a call.
enum { Runs, Fails, IsHalved, IsCut };
/// Which faults a call may have, beside failing and kill.
enum { CanBeInterrupted = 1, CanBeShort = 2, CanBeCut = 4 };

static const char *get(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static bool isInFolder(const char *path) {
  const char *folder = get("FOVEA_FAULT_FOLDER");
  size_t length = strlen(folder);
  return (length && strncmp(path, folder, length) == 0) || strncmp(path, "/memfd:fovea", 12) == 0;
}

static void note(const char *call, const char *path, bool isFault) {
  char line[PATH_MAX + 64];
  int size = snprintf(line, sizeof(line), "%s%s %s\n", isFault ? "!" : "", call, path);
  int log = (int)syscall(SYS_openat, AT_FDCWD, get("FOVEA_FAULT_LOG"),
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0)
    return;
  syscall(SYS_write, log, line, (size_t)size);
  syscall(SYS_close, log);
}

/// Counts a call and says what becomes of it; `errno` is set if it fails.
static int judge(const char *call, const char *path, int can) {
  static atomic_int calls;
  if (strcmp(program_invocation_short_name, get("FOVEA_FAULT_PROGRAM")) != 0 || !isInFolder(path))
    return Runs;
  int saved = errno, fate = Runs, error = 0;
  const char *what = get("FOVEA_FAULT");
  if (atomic_fetch_add(&calls, 1) + 1 == atoi(get("FOVEA_FAULT_AT"))) {
    bool isKilled = strcmp(what, "kill") == 0;
    error = strcmp(what, "ENOSPC") == 0                              ? ENOSPC
            : strcmp(what, "EIO") == 0                               ? EIO
            : strcmp(what, "EDQUOT") == 0                            ? EDQUOT
            : strcmp(what, "EMFILE") == 0                            ? EMFILE
            : strcmp(what, "EINTR") == 0 && (can & CanBeInterrupted) ? EINTR
                                                                     : 0;
    fate = error                                              ? Fails
           : strcmp(what, "short") == 0 && (can & CanBeShort) ? IsHalved
           : strcmp(what, "cut") == 0 && (can & CanBeCut)     ? IsCut
                                                              : Runs;
    note(call, path, isKilled || fate != Runs);
    if (isKilled)
      kill(getpid(), SIGKILL);
  } else {
    note(call, path, false);
  }
  errno = fate == Fails ? error : saved;
  return fate;
}

static const char *pathOf(int file, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  int saved = errno;
  long size = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  errno = saved;
  path[size < 0 ? 0 : size] = 0;
  return path;
}

static int judgeFile(const char *call, int file, int can) {
  char path[PATH_MAX];
  return judge(call, pathOf(file, path), can);
}

/// A name as a call takes it, from the root.
static int judgeName(const char *call, int folder, const char *name, int can) {
  char path[2 * PATH_MAX];
  if (name[0] == '/' || folder == AT_FDCWD)
    return judge(call, name, can);
  pathOf(folder, path);
  strcat(strcat(path, "/"), name);
  return judge(call, path, can);
}

static int openIn(int folder, const char *name, int flags, unsigned mode) {
  return judgeName("open", folder, name, CanBeInterrupted) == Fails
             ? -1
             : (int)syscall(SYS_openat, folder, name, flags, mode);
}

static unsigned modeOf(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, unsigned) : 0;
}

#define OPEN(NAME)                                                                                 \
  EXPORT int NAME(const char *name, int flags, ...) {                                              \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    unsigned mode = modeOf(flags, arguments);                                                      \
    va_end(arguments);                                                                             \
    return openIn(AT_FDCWD, name, flags, mode);                                                    \
  }
#define OPENAT(NAME)                                                                               \
  EXPORT int NAME(int folder, const char *name, int flags, ...) {                                  \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    unsigned mode = modeOf(flags, arguments);                                                      \
    va_end(arguments);                                                                             \
    return openIn(folder, name, flags, mode);                                                      \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

EXPORT int close(int file) {
  int fate = judgeFile("close", file, CanBeInterrupted), error = errno;
  long result = syscall(SYS_close, file);
  if (fate != Fails)
    return (int)result;
  errno = error;
  return -1;
}

/// Half of what was asked for, and at least something.
static size_t part(int fate, size_t size) { return fate == IsHalved ? (size + 1) / 2 : size; }

#define TRANSFER(NAME, NUMBER, CALL, DATA)                                                         \
  EXPORT ssize_t NAME(int file, DATA data, size_t size) {                                          \
    int fate = judgeFile(CALL, file, CanBeInterrupted | CanBeShort);                               \
    return fate == Fails ? -1 : syscall(NUMBER, file, data, part(fate, size));                     \
  }
#define TRANSFER_AT(NAME, NUMBER, CALL, DATA)                                                      \
  EXPORT ssize_t NAME(int file, DATA data, size_t size, off_t offset) {                            \
    int fate = judgeFile(CALL, file, CanBeInterrupted | CanBeShort);                               \
    return fate == Fails ? -1 : syscall(NUMBER, file, data, part(fate, size), offset);             \
  }
TRANSFER(read, SYS_read, "read", void *)
TRANSFER(write, SYS_write, "write", const void *)
TRANSFER_AT(pread, SYS_pread64, "pread", void *)
TRANSFER_AT(pread64, SYS_pread64, "pread", void *)
TRANSFER_AT(pwrite, SYS_pwrite64, "pwrite", const void *)
TRANSFER_AT(pwrite64, SYS_pwrite64, "pwrite", const void *)

EXPORT ssize_t writev(int file, const struct iovec *parts, int count) {
  int fate = judgeFile("writev", file, CanBeInterrupted | CanBeShort);
  if (fate == IsHalved)
    return syscall(SYS_write, file, parts->iov_base, part(fate, parts->iov_len));
  return fate == Fails ? -1 : syscall(SYS_writev, file, parts, count);
}

#define ON_FILE(NAME, NUMBER)                                                                      \
  EXPORT int NAME(int file) {                                                                      \
    return judgeFile(#NAME, file, CanBeInterrupted) == Fails ? -1 : (int)syscall(NUMBER, file);    \
  }
ON_FILE(fsync, SYS_fsync)
ON_FILE(fdatasync, SYS_fdatasync)

EXPORT int flock(int file, int operation) {
  return judgeFile("flock", file, CanBeInterrupted) == Fails
             ? -1
             : (int)syscall(SYS_flock, file, operation);
}

EXPORT int ftruncate(int file, off_t size) {
  return judgeFile("ftruncate", file, CanBeInterrupted) == Fails
             ? -1
             : (int)syscall(SYS_ftruncate, file, size);
}

EXPORT int rename(const char *from, const char *to) {
  return judge("rename", to, CanBeInterrupted) == Fails ? -1 : (int)syscall(SYS_rename, from, to);
}

EXPORT int unlink(const char *name) {
  return judge("unlink", name, 0) == Fails ? -1 : (int)syscall(SYS_unlink, name);
}

EXPORT int unlinkat(int folder, const char *name, int flags) {
  return judgeName("unlink", folder, name, 0) == Fails
             ? -1
             : (int)syscall(SYS_unlinkat, folder, name, flags);
}

static void *map(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  int fate = flags & MAP_ANONYMOUS ? Runs : judgeFile("mmap", file, CanBeCut);
  if (fate == Fails)
    return MAP_FAILED;
  long result = syscall(SYS_mmap, address, size, protection, flags, file, offset);
  char path[PATH_MAX];
  if (fate == IsCut)
    syscall(SYS_truncate, pathOf(file, path), 0L);
  return (void *)result;
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  return map(address, size, protection, flags, file, offset);
}

EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  return map(address, size, protection, flags, file, offset);
}

EXPORT int memfd_create(const char *name, unsigned flags) {
  char path[64];
  snprintf(path, sizeof(path), "/memfd:%.32s", name);
  return judge("memfd_create", path, 0) == Fails ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-grid-remote FILE: answers requests of the grid (Request.h) on its standard input. FILE is
// the number of the open file that both share as memory.
#include "test/grid/remote/Request.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace fovea::remote;

static Answer answer(const Request &request) {
  Answer result = {};
  const uint64_t *words = request.words;
  auto fail = [&](const char *why) {
    std::snprintf(result.error, sizeof(result.error), "%s", why);
  };
  auto *library = reinterpret_cast<void *>(words[0]);
  switch (request.kind) {
  case Kind::Open:
    result.word = reinterpret_cast<uint64_t>(::dlopen(request.name, RTLD_NOW | RTLD_LOCAL));
    if (!result.word)
      fail(::dlerror());
    break;
  case Kind::Close:
    result.word = ::dlclose(library) == 0;
    break;
  case Kind::Call: {
    void *function = ::dlsym(library, request.name);
    if (!function) {
      fail("no such function");
      break;
    }
    callOverPlanted(function, words + 2, static_cast<uint32_t>(words[1]));
    result.word = 1;
    break;
  }
  case Kind::Protect:
    result.word = ::mprotect(library, words[1], words[2] ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
    break;
  }
  return result;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  void *memory = ::mmap(reinterpret_cast<void *>(kAddress), kBytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE, std::atoi(argv[1]), 0);
  if (memory != reinterpret_cast<void *>(kAddress))
    return 3;
  Request request;
  while (std::fread(&request, sizeof(request), 1, stdin) == 1) {
    Answer given = answer(request);
    if (std::fwrite(&given, sizeof(given), 1, stdout) != 1 || std::fflush(stdout) != 0)
      return 4;
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fuzz target without libFuzzer, for a build without sanitizers: runs the inputs that are kept,
// and some that its mutator makes of them, always the same.
//
//   fuzz-TARGET [--mutants N] FILE|FOLDER...
#include "test/fuzz/support/Fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace fs = std::filesystem;
using namespace fovea::fuzz;

extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                                                size_t most, unsigned seed);

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
  static Random random(1);
  size_t at = random.below(size);
  if (size && random.oneIn(2))
    data[at] = static_cast<uint8_t>(random.next());
  else if (size && random.oneIn(2))
    std::memmove(data + at, data + at + 1, --size - at);
  else if (size < most)
    data[size++] = static_cast<uint8_t>(random.next());
  return size;
}

static size_t change(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator(data, size, most, seed)
                                 : LLVMFuzzerMutate(data, size, most);
}

/// Exactly as many bytes as the input has, so that tools see what is read behind them.
static void run(const std::vector<uint8_t> &input) {
  std::vector<uint8_t> exact(input.begin(), input.end());
  exact.shrink_to_fit();
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

int main(int argc, char **argv) {
  constexpr size_t most = 1 << 16;
  size_t mutants = 0, runs = 0;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--mutants" && i + 1 < argc)
      mutants = std::strtoul(argv[++i], nullptr, 10);
    else if (fs::is_directory(argv[i]))
      for (const fs::directory_entry &entry : fs::directory_iterator(argv[i]))
        files.push_back(entry.path().string());
    else
      files.emplace_back(argv[i]);
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s [--mutants N] FILE|FOLDER...\n", argv[0]);
    return 2;
  }
  std::vector<std::vector<uint8_t>> inputs;
  for (const std::string &file : files) {
    std::string content = readFile(file);
    inputs.emplace_back(content.begin(), content.end());
    run(inputs.back());
    ++runs;
  }
  for (unsigned seed = 0; seed < mutants; ++seed, ++runs) {
    std::vector<uint8_t> &input = inputs[seed % inputs.size()];
    std::vector<uint8_t> changed = input;
    changed.resize(std::max(most, changed.size()));
    changed.resize(change(changed.data(), input.size(), changed.size(), seed));
    run(changed);
    // What is far from the kept inputs is mostly refused at once.
    if (seed % 3 == 0)
      input = std::move(changed);
  }
  std::printf("%zu inputs, %zu of them kept\n", runs, files.size());
  return 0;
}

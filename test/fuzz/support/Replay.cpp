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
#include <fstream>

namespace fs = std::filesystem;
using namespace fovea::fuzz;

extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                                                size_t most, unsigned seed);

static Random numbers(0);

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
  size_t at = numbers.below(size);
  if (size && numbers.oneIn(2))
    data[at] = static_cast<uint8_t>(numbers.next());
  else if (size && numbers.oneIn(2))
    std::memmove(data + at, data + at + 1, --size - at);
  else if (size < most)
    data[size++] = static_cast<uint8_t>(numbers.next());
  return size;
}

static std::vector<uint8_t> mutantOf(const std::vector<uint8_t> &input, unsigned seed) {
  constexpr size_t most = 1 << 16;
  std::vector<uint8_t> changed = input;
  changed.resize(std::max(most, input.size()));
  numbers = Random(seed);
  changed.resize(LLVMFuzzerCustomMutator
                     ? LLVMFuzzerCustomMutator(changed.data(), input.size(), changed.size(), seed)
                     : LLVMFuzzerMutate(changed.data(), input.size(), changed.size()));
  return changed;
}

static std::vector<uint8_t> read(const std::string &file) {
  std::string content = readFile(file);
  return {content.begin(), content.end()};
}

static void writeMutants(const fs::path &folder, unsigned seed,
                         const std::vector<std::string> &files) {
  for (unsigned i = 0; i < files.size(); ++i) {
    std::vector<uint8_t> mutant = mutantOf(read(files[i]), seed + i);
    std::ofstream out(folder / std::to_string(i), std::ios::binary);
    out.write(reinterpret_cast<const char *>(mutant.data()),
              static_cast<std::streamsize>(mutant.size()));
    require(out.good(), "a mutant can be written");
  }
}

/// Exactly as many bytes as the input has, so that tools see what is read behind them.
static void run(const std::vector<uint8_t> &input) {
  std::vector<uint8_t> exact(input.begin(), input.end());
  exact.shrink_to_fit();
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

static int runAll(std::vector<std::string> files, unsigned mutants) {
  std::sort(files.begin(), files.end());
  std::vector<std::vector<uint8_t>> inputs;
  for (const std::string &file : files) {
    inputs.push_back(read(file));
    run(inputs.back());
  }
  for (unsigned seed = 0; seed < mutants; ++seed) {
    std::vector<uint8_t> &input = inputs[seed % inputs.size()];
    std::vector<uint8_t> mutant = mutantOf(input, seed);
    run(mutant);
    // What is far from the kept inputs is mostly refused at once.
    if (seed % 3 == 0)
      input = std::move(mutant);
  }
  std::printf("%zu kept inputs, %u mutants\n", files.size(), mutants);
  return 0;
}

int main(int argc, char **argv) {
  unsigned mutants = 0, seed = 0;
  std::string folder;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--mutants" && i + 1 < argc)
      mutants = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    else if (word == "--seed" && i + 1 < argc)
      seed = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    else if (word == "--write" && i + 1 < argc)
      folder = argv[++i];
    else if (fs::is_directory(argv[i]))
      for (const fs::directory_entry &entry : fs::directory_iterator(argv[i]))
        files.push_back(entry.path().string());
    else
      files.emplace_back(argv[i]);
  }
  if (files.empty()) {
    std::fprintf(stderr,
                 "usage: %s [--mutants N] FILE|FOLDER...\n"
                 "       %s --write FOLDER --seed S FILE...\n",
                 argv[0], argv[0]);
    return 2;
  }
  if (folder.empty())
    return runAll(std::move(files), mutants);
  writeMutants(folder, seed, files);
  return 0;
}

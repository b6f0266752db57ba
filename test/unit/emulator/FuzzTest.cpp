// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are hostile: damaged PTX ends in an Error or runs, and never does anything else. Damage is
// random but the same in every run.
#include "test/unit/emulator/Kernels.h"

#include <fstream>
#include <random>

namespace fovea::emulator::test {
namespace {

std::string readFile(const char *name) {
  std::ifstream in(std::string(FOVEA_PTX_DIR) + "/" + name);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Parses, decodes and runs every entry with made-up arguments.
void tryAll(const std::string &text) {
  try {
    Device device;
    auto program = device.load(Module::parse(text, "damaged.ptx"));
    for (const std::string &name : program->module().entryNames()) {
      auto kernel = device.kernel(*program, name);
      Arguments arguments;
      for (const Parameter &parameter : kernel->function->parameters) {
        std::vector<uint8_t> value(parameter.size, 0);
        uint64_t memory = device.memory().allocate(4096, parameter.name);
        device.memory().fill(memory, 1, 4096);
        std::memcpy(value.data(), &memory, std::min<size_t>(8, value.size()));
        arguments.addBytes(std::move(value));
      }
      LaunchShape shape;
      shape.block[0] = 64;
      shape.dynamicShared = 8192;
      LaunchOptions options;
      options.maxInstructions = 20000;
      device.launch(*program, name, shape, arguments, options);
    }
  } catch (const Error &error) {
    EXPECT_GT(std::strlen(error.what()), 10u);
  }
}

TEST(Fuzz, DamagedTextNeverDoesMoreThanFail) {
  std::mt19937 random(9);
  const std::string small = readFile("scale.ptx"), large = readFile("attention-mma-bf16.ptx");
  const char *words[] = {"{",
                         "}",
                         "[",
                         "]",
                         ";",
                         ",",
                         "%r1",
                         "%d1",
                         "%p1",
                         "0",
                         "-1",
                         "0xffffffffffffffff",
                         ".reg .b32 %z<99>;",
                         ".v4",
                         ".f16x2",
                         ".shared",
                         ".local",
                         "bra",
                         "ret",
                         "@%p1",
                         "|",
                         "::",
                         "\"",
                         "/*",
                         ".align 3",
                         "bar.sync 0;",
                         "_"};
  for (int i = 0; i < 3000; ++i) {
    std::string text = i % 20 ? small : large;
    for (unsigned changes = 1 + random() % 3; changes; --changes) {
      size_t at = random() % text.size();
      switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random() % 128);
        break;
      case 1:
        text.erase(at, 1 + random() % 8);
        break;
      case 2:
        text.insert(at, words[random() % std::size(words)]);
        break;
      case 3:
        text.resize(at + 1);
        break;
      default: { // one piece in another's place
        size_t from = random() % text.size();
        text.replace(at, std::min<size_t>(random() % 12, text.size() - at),
                     text.substr(from, random() % 12));
      }
      }
    }
    tryAll(text);
  }
}

} // namespace
} // namespace fovea::emulator::test

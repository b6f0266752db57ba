// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands become the words of a launch; buffers are allocated apart, so that an access beside one
// is found.
#include "test/threads/emulated/EmulatedLaunch.h"
#include "emulator/Launch.h"

namespace emulator = fovea::emulator;

std::string fovea::test::launch(const std::string &ptx, const std::string &kernel,
                                const Shape &shape, std::vector<Operand> &operands, bool late,
                                Counts *counts) {
  try {
    emulator::Device device;
    auto program = device.load(emulator::Module::parse(ptx, "kernel.ptx"));
    emulator::Arguments words;
    std::vector<uint64_t> addresses;
    for (const Operand &operand : operands) {
      uint64_t word = operand.number;
      if (operand.isBuffer) {
        word = device.memory().allocate(operand.bytes.size(),
                                        "operand " + std::to_string(addresses.size()));
        device.memory().write(word, operand.bytes.data(), operand.bytes.size());
      }
      addresses.push_back(word);
      words.add(word);
      for (uint64_t more : operand.behind)
        words.add(more);
    }
    emulator::LaunchShape grid;
    grid.grid[0] = shape.blocks;
    grid.block[0] = shape.threads;
    grid.dynamicShared = shape.sharedBytes;
    emulator::LaunchOptions options;
    options.schedule =
        late ? emulator::LaunchOptions::Schedule::Late : emulator::LaunchOptions::Schedule::Early;
    options.checkBlocks = !shape.blocksShare;
    emulator::LaunchResult result = device.launch(*program, kernel, grid, words, options);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].isBuffer)
        device.memory().read(addresses[i], operands[i].bytes.data(), operands[i].bytes.size());
    if (counts)
      *counts = {result.counters.sharedPasses, result.counters.sharedIdealPasses,
                 result.counters.globalLoadSectors, result.counters.instructions};
    return "";
  } catch (const std::exception &error) {
    return error.what();
  }
}

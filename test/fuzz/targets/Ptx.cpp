// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX: parsed, decoded, and each entry launched with made-up arguments, for a few instructions.
#include "emulator/Error.h"
#include "emulator/Kernel.h"
#include "emulator/Launch.h"
#include "emulator/Module.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/Words.h"

#include <algorithm>

using namespace fovea;
using namespace fovea::emulator;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateWords(data, size, most, seed, fuzz::ptxWords());
}

/// `%r<1000000>` as `%r<999>`: a million registers are allowed, and cost the time of a thousand
/// other inputs.
static std::string withFewRegisters(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    result += text[at];
    if (text[at] != '<')
      continue;
    size_t end = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
    if (end - at - 1 > 3 && end < text.size() && text[end] == '>') {
      result += "999";
      at = end - 1;
    }
  }
  return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    Device device;
    std::string text = withFewRegisters({reinterpret_cast<const char *>(data), size});
    std::shared_ptr<Program> program = device.load(Module::parse(std::move(text), "fuzz.ptx"));
    for (const std::string &name : program->module().entryNames()) {
      std::shared_ptr<const Kernel> kernel = device.kernel(*program, name);
      Arguments arguments;
      for (const Parameter &parameter : kernel->function->parameters) {
        std::vector<uint8_t> value(parameter.size, 0);
        uint64_t memory = device.memory().allocate(1024, parameter.name);
        device.memory().fill(memory, 1, 1024);
        if (!value.empty())
          std::memcpy(value.data(), &memory, std::min<size_t>(8, value.size()));
        arguments.addBytes(std::move(value));
      }
      LaunchShape shape;
      shape.block[0] = 33; // a whole warp, and one of a single thread
      shape.dynamicShared = 4096;
      LaunchOptions options;
      options.maxInstructions = 400;
      device.launch(*program, name, shape, arguments, options);
    }
  } catch (const Error &error) {
    fuzz::require(*error.what() != '\0', "what is refused has an error");
  }
  return 0;
}

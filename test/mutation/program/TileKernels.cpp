// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile programs of the grid as PTX, with the same calls and expected values as everywhere.
#include "mlir/AsmParser/AsmParser.h"
#include "test/grid/TileCheck.h"
#include "test/mutation/Kernels.h"
#include "test/threads/DeviceCode.h"

namespace fovea::mutation {

using mlir::fovea::Array;
using mlir::fovea::DeviceCode;
using mlir::fovea::TileCase;

/// More blocks than any call's grid has.
static constexpr uint64_t kBlocks = 100;

namespace {
struct Program {
  TileCase tile;
  const char *chip;
};
} // namespace

/// The grid's, and attention by the instructions that each architecture has for 16 bits.
static const std::vector<Program> &getPrograms() {
  static const std::vector<Program> programs = [] {
    std::vector<Program> all;
    for (const TileCase &tile : mlir::fovea::getTileCases())
      if (!tile.isOfProcessors)
        all.push_back({tile, "sm_80"});
    for (const TileCase &tile : mlir::fovea::makeHalfAttentionCases())
      for (const char *chip : {"sm_80", "sm_90a"})
        all.push_back({tile, chip});
    return all;
  }();
  return programs;
}

size_t countTileKernels() { return getPrograms().size(); }

std::string nameTileKernel(size_t i) {
  return getPrograms()[i].tile.name + " for " + getPrograms()[i].chip;
}

static Call makeCall(const DeviceCode &code, const mlir::fovea::TileCall &tile, double tolerance) {
  Call call;
  for (const test::Operand &operand : code.makeOperands("kernel", tile.before)) {
    Argument &argument = call.arguments.emplace_back();
    argument.kind = operand.isBuffer ? Argument::Buffer
                    : operand.isMap  ? Argument::Box
                                     : Argument::Number;
    argument.map = operand.map;
    argument.buffer = operand.buffer;
    argument.number = operand.number;
    argument.bytes = operand.bytes;
    argument.behind = operand.behind;
  }
  test::Shape shape = code.getShape("kernel", kBlocks);
  call.grid[0] = shape.blocks;
  call.padded = true;
  call.threads = shape.threads;
  call.sharedBytes = shape.sharedBytes;
  std::vector<mlir::Type> types;
  for (const Array &array : tile.after)
    types.push_back(mlir::parseType(array.type, &mlir::fovea::getTestContext()));
  call.check = [&tile, tolerance, types](const Results &results) -> std::string {
    size_t place = 0;
    for (size_t i = 0; i < tile.after.size(); ++i) {
      const Array &expected = tile.after[i];
      if (expected.type == "index")
        continue;
      bool written = expected.values != tile.before[i].values;
      std::string what =
          mlir::fovea::compareElements(types[i], results[place++], expected, written, tolerance);
      if (!what.empty())
        return "argument " + std::to_string(i) + ", " + what;
    }
    for (; place < results.size(); ++place)
      for (char byte : results[place])
        if (byte != 0)
          return "reported a fault";
    return "";
  };
  return call;
}

Kernel makeTileKernel(size_t i) {
  const TileCase &tile = getPrograms()[i].tile;
  Kernel kernel;
  auto code = DeviceCode::make(tile.text, getPrograms()[i].chip, /*hasLayouts=*/false);
  if (!code)
    return kernel;
  kernel.name = nameTileKernel(i);
  kernel.entry = "kernel";
  kernel.ptx = code->ptx;
  for (const mlir::fovea::TileCall &call : tile.calls)
    kernel.calls.push_back(makeCall(*code, call, tile.tolerance));
  return kernel;
}

} // namespace fovea::mutation

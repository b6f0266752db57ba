// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile programs through every lowering, against C++ in f64; each call whole and in three parts,
// which must agree to the bit. Nothing but what a program stores to may change, and nothing that
// was not written may be computed with.
#include "lowering/CPU/Passes.h"
#include "lowering/Math/Passes.h"
#include "lowering/Pipelines.h"
#include "lowering/Tile/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "test/grid/AmxEmulator.h"
#include "test/grid/NativeCode.h"
#include "test/grid/RemoteProcess.h"
#include "test/grid/TileCheck.h"
#include "llvm/TargetParser/Host.h"
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

/// A lowering of tiles, for a processor.
struct Lowering {
  const char *name, *cpu, *feature; ///< the feature that this machine must have to run it
  std::function<void(OpPassManager &)> addPasses;
  bool optimizes = true;  ///< whether LLVM does
  const char *added = ""; ///< features beside the processor's, which an emulator provides
};

/// In place of a feature: qemu runs it.
constexpr char kEmulated[] = "qemu and fovea-grid-remote";

void addVectors(OpPassManager &pm, const char *level) {
  pm.addPass(createTileToVectorsPass({level}));
  pm.addPass(createExpandMathPass({level}));
}

const Lowering kLowerings[] = {
    {"loops", "host", nullptr, [](OpPassManager &pm) { pm.addPass(createTileToLoopsPass()); },
     /*optimizes=*/false},
    {"amx", "host", "avx512bf16", [](OpPassManager &pm) { addVectors(pm, "amx"); },
     /*optimizes=*/true, /*added=*/"+amx-tile,+amx-bf16,+amx-int8"},
    {"avx512bf16", "host", "avx512bf16", [](OpPassManager &pm) { addVectors(pm, "avx512bf16"); }},
    {"avx512vnni", "host", "avx512vnni", [](OpPassManager &pm) { addVectors(pm, "avx512vnni"); }},
    {"avx512", "host", "avx512f", [](OpPassManager &pm) { addVectors(pm, "avx512"); }},
    {"avxvnni", "x86-64-v3", "avxvnni", [](OpPassManager &pm) { addVectors(pm, "avxvnni"); },
     /*optimizes=*/true, /*added=*/"+avxvnni"},
    {"avx2", "x86-64-v3", "avx2", [](OpPassManager &pm) { addVectors(pm, "avx2"); }},
    {"sse", "x86-64", nullptr, [](OpPassManager &pm) { addVectors(pm, "sse"); }},
    {"aarch64_i8mm", "aarch64-i8mm", kEmulated,
     [](OpPassManager &pm) { addVectors(pm, "aarch64-i8mm"); }},
    {"aarch64_dotprod", "aarch64-dotprod", kEmulated,
     [](OpPassManager &pm) { addVectors(pm, "aarch64-dotprod"); }},
    {"aarch64", "aarch64", kEmulated, [](OpPassManager &pm) { addVectors(pm, "aarch64"); }},
};

MLIRContext &getContext() {
  static const std::unique_ptr<MLIRContext> context = makeContext();
  return *context;
}

/// Machine code of a module of kernels.
std::unique_ptr<NativeCode> compileKernels(const std::string &text, const Lowering &lowering,
                                           std::string &error) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &getContext());
  if (!module)
    return nullptr;
  PassManager passes(&getContext());
  lowering.addPasses(passes.nest<func::FuncOp>());
  buildLLVMPipeline(passes);
  if (failed(passes.run(*module)))
    return nullptr;
  return NativeCode::make(*module, lowering.cpu, error, lowering.optimizes, lowering.added);
}

Type getType(const Array &array) { return parseType(array.type, &getContext()); }

/// What a call leaves in its buffers, byte by byte; `error` if it wrote beside them.
std::vector<std::vector<char>> run(const NativeCode &code, const TileCall &call, int64_t parts,
                                   std::string &error, Unwritten unwritten = Unwritten::NaN) {
  std::vector<GuardedMemory> memories, descriptors;
  std::vector<uintptr_t> words;
  memories.reserve(call.before.size());
  descriptors.reserve(call.before.size());
  for (const Array &array : call.before) {
    if (array.type == "index") {
      words.push_back(array.values[0]);
      continue;
    }
    Type type = getType(array);
    GuardedMemory &memory =
        memories.emplace_back(getStorageBytes(type, array.values.size()), code.isRemote());
    for (auto [i, value] : llvm::enumerate(array.values))
      putElement(memory.data() + i * getStorageBytes(type, 1), type, makeElement(type, value));
    // { allocated, aligned, offset, sizes, strides }
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    std::vector<uintptr_t> descriptor = {address, address, 0};
    descriptor.insert(descriptor.end(), array.shape.begin(), array.shape.end());
    for (size_t axis = 0; axis < array.shape.size(); ++axis) {
      uintptr_t stride = 1;
      for (size_t inner = axis + 1; inner < array.shape.size(); ++inner)
        stride *= array.shape[inner];
      descriptor.push_back(stride);
    }
    GuardedMemory &place =
        descriptors.emplace_back(descriptor.size() * sizeof(uintptr_t), code.isRemote());
    std::memcpy(place.data(), descriptor.data(), descriptor.size() * sizeof(uintptr_t));
    words.push_back(reinterpret_cast<uintptr_t>(place.data()));
  }
  // Arguments that a function does not have are not looked at.
  constexpr size_t kMost = 8;
  if (words.size() + 2 > kMost) {
    error = "too many arguments";
    return {};
  }
  for (int64_t part = 0; part < parts; ++part) {
    std::vector<uintptr_t> all = words;
    all.push_back(part);
    all.push_back(parts);
    if (!code.call("_mlir_ciface_kernel", all, unwritten, error))
      return {};
  }
  std::vector<std::vector<char>> results;
  auto memory = memories.begin();
  for (const Array &array : call.before) {
    if (array.type == "index")
      continue;
    if (!memory->isIntact())
      error = "wrote outside of a buffer";
    size_t bytes = getStorageBytes(getType(array), array.values.size());
    results.emplace_back(memory->data(), memory->data() + bytes);
    ++memory;
  }
  return results;
}

class TileGrid : public testing::TestWithParam<std::tuple<size_t, size_t>> {};

TEST_P(TileGrid, agreesWithTheReference) {
  const Lowering &lowering = kLowerings[std::get<0>(GetParam())];
  const TileCase &tile = getTileCases()[std::get<1>(GetParam())];
  if (lowering.feature == kEmulated && !RemoteProcess::get())
    GTEST_SKIP() << "there is no " << lowering.feature << " (scripts/setup --aarch64)";
  if (lowering.feature && lowering.feature != kEmulated &&
      !llvm::sys::getHostCPUFeatures().lookup(lowering.feature))
    GTEST_SKIP() << "this machine has no " << lowering.feature;
  if (*lowering.added)
    test::provideAmx();
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
    ADD_FAILURE() << diagnostic.str();
    return success();
  });
  std::string error;
  std::unique_ptr<NativeCode> code = compileKernels(tile.text, lowering, error);
  ASSERT_TRUE(code) << error << tile.text;
  for (auto [number, call] : llvm::enumerate(tile.calls)) {
    SCOPED_TRACE("call " + std::to_string(number));
    (void)metDenormals();
    auto whole = run(*code, call, 1, error);
    ASSERT_EQ(error, "");
    bool hasDenormals = metDenormals(); // of its own
    size_t place = 0;
    for (auto [i, expected] : llvm::enumerate(call.after)) {
      if (expected.type == "index")
        continue;
      bool written = expected.values != call.before[i].values;
      ASSERT_EQ(
          compareElements(getType(expected), whole[place++], expected, written, tile.tolerance), "")
          << "argument " << i;
    }
    for (Unwritten unwritten : {Unwritten::Infinity, Unwritten::Denormal}) {
      (void)metDenormals();
      auto inParts = run(*code, call, 3, error, unwritten);
      // The first call may have met some by chance: a scalar conversion to f16 converts what else
      // lies in its register.
      ASSERT_LE(metDenormals(), hasDenormals) << "computes with what nobody has written";
      ASSERT_TRUE(inParts == whole)
          << "depends on the number of parts, or on what nobody has written";
      ASSERT_EQ(error, "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TileGrid,
                         testing::Combine(testing::Range<size_t>(0, std::size(kLowerings)),
                                          testing::Range<size_t>(0, getTileCases().size())),
                         [](const testing::TestParamInfo<std::tuple<size_t, size_t>> &info) {
                           return std::string(kLowerings[std::get<0>(info.param)].name) + "_" +
                                  getTileCases()[std::get<1>(info.param)].name;
                         });

} // namespace

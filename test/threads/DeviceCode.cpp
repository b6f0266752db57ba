// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipelines of a GPU, and operands as words.
#include "test/threads/DeviceCode.h"
#include "lowering/Entries/Entries.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "test/grid/NativeCode.h"
#include "test/grid/TileCheck.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

MLIRContext &mlir::fovea::getTestContext() {
  static const std::unique_ptr<MLIRContext> context = makeContext();
  return *context;
}

std::unique_ptr<DeviceCode> DeviceCode::make(const std::string &text, const std::string &chip,
                                             bool hasLayouts, bool tensorCores) {
  MLIRContext &context = getTestContext();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    ADD_FAILURE() << diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return nullptr;
  (*module)->setAttr(FoveaDialect::kTargetAttr, TargetAttr::get(&context, chip, 1, 255));
  auto code = std::make_unique<DeviceCode>();
  code->chip = chip;
  for (auto function : module->getOps<func::FuncOp>()) {
    Kernel &kernel = code->kernels[function.getName().str()];
    kernel.arguments.assign(function.getArgumentTypes().begin(), function.getArgumentTypes().end());
    kernel.mayFault =
        function.walk([](FaultOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }
  PassManager passes(&context);
  passes.addPass(createOutlineDevicePass());
  if (hasLayouts) {
    OpPassManager &device = passes.nest<gpu::GPUModuleOp>();
    device.addNestedPass<func::FuncOp>(createInsertBarriersPass());
    device.addPass(createTileToThreadsPass());
  } else {
    buildThreadsPipeline(passes, *findChip(chip), tensorCores);
  }
  buildNvvmPipeline(passes);
  if (failed(passes.run(*module)))
    return nullptr;
  gpu::GPUModuleOp device = *module->getOps<gpu::GPUModuleOp>().begin();
  for (Operation &op : *device.getBody())
    if (auto found = code->kernels.find(SymbolTable::getSymbolName(&op).str());
        found != code->kernels.end()) {
      found->second.threads = getThreads(&op);
      found->second.sharedBytes = getSharedBytes(&op);
      found->second.persistent = op.hasAttr(FoveaDialect::kPersistentAttr);
      if (auto maps = op.getAttrOfType<ArrayAttr>(FoveaDialect::kTensorMapsAttr))
        llvm::append_range(found->second.maps, maps.getAsRange<tile::TensorMapAttr>());
    }
  if (failed(emitPtx(device, chip, code->ptx)))
    return nullptr;
  return code;
}

std::string mlir::fovea::writeElementwise(const std::string &name, const std::string &body,
                                          const std::string &in, const std::string &out) {
  return fill(R"mlir(
func.func private @$NAME(%x: memref<?x$I>, %y: memref<?x$O>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x$I>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?x$I>
    $BODY
    memref.store %r, %y[%i] : memref<?x$O>
  }
  return
})mlir",
              {{"NAME", name}, {"BODY", body}, {"I", in}, {"O", out}});
}

static Type getElementType(const Array &array) { return parseType(array.type, &getTestContext()); }

/// By what a map's attribute says, told apart from what the host's code makes of it.
static ::fovea::test::Operand makeMap(tile::TensorMapAttr map,
                                      const std::vector<Array> &arguments) {
  const Array &array = arguments[map.getOperand()];
  Type type = getElementType(array);
  ::fovea::test::Operand operand;
  operand.isMap = true;
  operand.buffer = map.getOperand();
  operand.map.rank = array.shape.size();
  operand.map.element = type.isF16() ? FOVEA_MAP_F16 : FOVEA_MAP_BF16;
  operand.map.swizzle = map.getSwizzle();
  int64_t bytes = 2;
  for (int64_t i = 0, axis = array.shape.size() - 1; axis >= 0; ++i, --axis) {
    operand.map.sizes[i] = array.shape[axis];
    if (axis == map.getAxis() && map.getLength() >= 0)
      operand.map.sizes[i] = static_cast<int64_t>(arguments[map.getLength()].values[0]);
    operand.map.sizes[i] = std::max<int64_t>(operand.map.sizes[i], 1);
    operand.map.box[i] = axis == map.getAxis() ? map.getRows() : 1;
    if (i > 0)
      operand.map.strides[i - 1] = bytes;
    bytes *= array.shape[axis];
  }
  operand.map.box[0] = map.getColumns();
  return operand;
}

std::vector<::fovea::test::Operand>
DeviceCode::makeOperands(const std::string &name, const std::vector<Array> &arguments) const {
  const Kernel &kernel = kernels.at(name);
  std::vector<::fovea::test::Operand> operands;
  for (const auto &[array, argument] : llvm::zip(arguments, kernel.arguments)) {
    ::fovea::test::Operand &operand = operands.emplace_back();
    if (array.type == "index") {
      operand.number = static_cast<int64_t>(array.values[0]);
      continue;
    }
    Type type = getElementType(array);
    operand.isBuffer = true;
    operand.bytes.resize(getStorageBytes(type, array.values.size()));
    for (auto [i, value] : llvm::enumerate(array.values))
      putElement(operand.bytes.data() + i * getStorageBytes(type, 1), type,
                 makeElement(type, value));
    auto buffer = cast<MemRefType>(argument);
    for (int64_t axis = 0; axis < buffer.getRank(); ++axis)
      if (buffer.isDynamicDim(axis))
        operand.behind.push_back(array.shape[axis]);
  }
  if (kernel.mayFault) {
    ::fovea::test::Operand &word = operands.emplace_back();
    word.isBuffer = true;
    word.bytes.resize(8);
    word.behind.push_back(7);
  }
  for (tile::TensorMapAttr map : kernel.maps)
    operands.push_back(makeMap(map, arguments));
  return operands;
}

::fovea::test::Shape DeviceCode::getShape(const std::string &name, uint64_t blocks) const {
  const Kernel &kernel = kernels.at(name);
  return {kernel.persistent ? 1 : blocks, kernel.sharedBytes, kernel.threads, kernel.mayFault};
}

std::vector<std::vector<char>> DeviceCode::run(const std::string &name,
                                               const std::vector<Array> &arguments, uint64_t blocks,
                                               uint64_t *fault,
                                               ::fovea::test::Counts *counts) const {
  ::fovea::test::Shape shape = getShape(name, blocks);
  std::vector<::fovea::test::Operand> operands = makeOperands(name, arguments), late = operands;
  std::string error = ::fovea::test::launch(ptx, name, shape, operands, false, counts);
  EXPECT_EQ(error, "") << ptx;
  std::string lateError = ::fovea::test::launch(ptx, name, shape, late, true);
  EXPECT_EQ(lateError, "") << ptx;
  std::vector<std::vector<char>> results;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    EXPECT_TRUE(operand.bytes == late[i].bytes) << "early and late differ";
    if (operand.isBuffer)
      results.push_back(std::move(operand.bytes));
  }
  if (kernels.at(name).mayFault) {
    if (fault)
      std::memcpy(fault, results.back().data(), 8);
    results.pop_back();
  }
  return results;
}

void mlir::fovea::checkKernel(const DeviceCode &code, const std::string &kernel,
                              const TileCall &call, double tolerance, uint64_t blocks) {
  std::vector<std::vector<char>> results = code.run(kernel, call.before, blocks);
  size_t place = 0;
  for (auto [i, expected] : llvm::enumerate(call.after)) {
    if (expected.type == "index")
      continue;
    bool written = expected.values != call.before[i].values;
    ASSERT_EQ(
        compareElements(getElementType(expected), results[place++], expected, written, tolerance),
        "")
        << "argument " << i << code.ptx;
  }
}

void mlir::fovea::checkAssembles(const DeviceCode &code) {
  std::optional<std::string> ptxas = findPtxas();
  if (!ptxas)
    return;
  std::vector<char> cubin;
  AssemblyReport report;
  std::string error;
  ASSERT_TRUE(succeeded(assemble(*ptxas, code.ptx, code.chip, cubin, report, error)))
      << error << code.ptx;
  EXPECT_FALSE(cubin.empty());
  EXPECT_FALSE(report.kernels.empty());
  for (const KernelResources &kernel : report.kernels) {
    EXPECT_EQ(kernel.spilledBytes, 0) << kernel.name << "\n" << report.log;
    EXPECT_GT(kernel.registers, 0) << report.log;
  }
  EXPECT_TRUE(report.serialized.empty()) << report.log;
}

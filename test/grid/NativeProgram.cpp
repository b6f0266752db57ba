// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/grid/NativeProgram.h"
#include "lowering/Entries/Entries.h"
#include "lowering/Pipelines.h"
#include "lowering/Schedule/Schedule.h"
#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

/// As the command does it: verified at the end.
static LogicalResult run(PassManager &passes, ModuleOp module) {
  passes.enableVerifier(false);
  passes.addPass(createVerifyPass());
  return passes.run(module);
}

std::unique_ptr<NativeProgram> NativeProgram::compile(ModuleOp original, std::string &error,
                                                      const NativeOptions &options) {
  OwningOpRef<ModuleOp> module(original.clone());
  PassManager graph(module->getContext()), fused(module->getContext()),
      stages(module->getContext());
  buildGraphPipeline(graph);
  if (failed(run(graph, *module)))
    return nullptr;
  buildFusedPipeline(fused);
  if (failed(run(fused, *module)))
    return nullptr;
  module->walk([&](GroupOp group) { options.choose(group); });
  buildScheduledPipeline(stages, options.level);
  buildKernelsPipeline(stages);
  if (failed(run(stages, *module)))
    return nullptr;
  std::unique_ptr<NativeProgram> program(new NativeProgram);
  FailureOr<std::vector<EntryLayout>> entries = describeEntries(*module);
  if (failed(entries))
    return nullptr;
  program->entries = *entries;
  for (auto weight : module->getOps<WeightOp>()) {
    RankedTensorType type = weight.getWeightType();
    GuardedMemory &memory = program->weights.emplace_back(*getStorageBytes(type));
    if (failed(evaluateRows(cast<RecipeAttrInterface>(weight.getRecipe()), *options.source, 0,
                            getStorageShape(type)[0], memory.data())))
      return nullptr;
  }
  for (auto function : module->getOps<func::FuncOp>())
    if (!function.isExternal() && failed(options.lower(function)))
      return nullptr;
  PassManager native(module->getContext());
  buildLLVMPipeline(native, options.tiles);
  if (failed(run(native, *module)))
    return nullptr;
  program->code = NativeCode::make(*module, "host", error,
                                   options.optimizes && options.tiles == TilesTo::Vectors);
  return program->code ? std::move(program) : nullptr;
}

FailureOr<std::vector<RuntimeValue>> NativeProgram::call(StringRef name,
                                                         ArrayRef<RuntimeValue> arguments,
                                                         int64_t parts, std::string &error,
                                                         Unwritten unwritten) {
  const EntryLayout *entry = nullptr;
  for (const EntryLayout &candidate : entries)
    if (candidate.name == name)
      entry = &candidate;
  if (!entry) {
    error = "no such entry";
    return failure();
  }
  auto plan = reinterpret_cast<fovea_plan_fn>(code->lookup(("fovea_" + name + "_plan").str()));
  auto step = reinterpret_cast<fovea_step_fn>(code->lookup(("fovea_" + name + "_step").str()));
  std::vector<int64_t> dims, locals(entry->localsCount);
  std::vector<GuardedMemory> memories;
  memories.reserve(arguments.size() + entry->signature.getResults().size());
  std::vector<void *> buffers;
  for (auto [value, port] : llvm::zip(arguments, entry->signature.getArguments())) {
    const Tensor &tensor = *std::get<TensorRef>(value);
    Type type = cast<RankedTensorType>(port.getType()).getElementType();
    dims.insert(dims.end(), tensor.shape.begin(), tensor.shape.end());
    GuardedMemory &memory = memories.emplace_back(getStorageBytes(type, tensor.size()));
    for (int64_t i = 0; i < tensor.size(); ++i)
      putElement(memory.data() + i * getStorageBytes(type, 1), type, tensor.at(i));
    buffers.push_back(memory.data());
  }
  plan(dims.data(), locals.data());
  if (locals[0] < 0) {
    error = "sizes refused";
    return failure();
  }
  GuardedMemory arena(locals[0]);
  arena.plant(unwritten);
  std::vector<RuntimeValue> results;
  int64_t place = 1;
  std::vector<Tensor> tensors;
  for (PortAttr port : entry->signature.getResults()) {
    auto type = cast<RankedTensorType>(port.getType());
    Tensor tensor;
    int64_t count = 1;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      tensor.shape.push_back(locals[place++]);
      count *= tensor.shape.back();
    }
    tensor.isReal = isa<FloatType>(type.getElementType());
    (tensor.isReal ? (void)tensor.reals.resize(count) : (void)tensor.integers.resize(count));
    GuardedMemory &memory = memories.emplace_back(getStorageBytes(type.getElementType(), count));
    memory.plant(unwritten);
    buffers.push_back(memory.data());
    tensors.push_back(std::move(tensor));
  }
  int64_t fault = 0;
  std::vector<const void *> weightData;
  for (const GuardedMemory &weight : weights)
    weightData.push_back(weight.data());
  fovea_frame frame{arena.data(), weightData.data(), buffers.data(), locals.data(), &fault};
  for (size_t i = 0; i < entry->steps.size(); ++i)
    for (int64_t part = 0; part < parts; ++part) {
      plantOnStack(unwritten);
      step(&frame, i, part, parts);
    }
  if (fault) {
    error = "fault in " + entry->steps[fault - 1].kernel;
    return failure();
  }
  memories.push_back(std::move(arena));
  for (const GuardedMemory &memory : memories)
    if (!memory.isIntact()) {
      error = "wrote outside of a buffer";
      return failure();
    }
  for (auto [i, port] : llvm::enumerate(entry->signature.getResults())) {
    Type type = cast<RankedTensorType>(port.getType()).getElementType();
    const char *data = static_cast<char *>(buffers[arguments.size() + i]);
    for (int64_t n = 0, count = tensors[i].size(); n < count; ++n)
      tensors[i].put(n, getElement(data + n * getStorageBytes(type, 1), type));
    results.push_back(std::make_shared<const Tensor>(std::move(tensors[i])));
  }
  return results;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NativeProgram.h. All that code reads and writes lies in memory of its own, the frame and its
// tables too: another process may be the one that runs it.
#include "test/grid/NativeProgram.h"
#include "lowering/Entries/Entries.h"
#include "lowering/Pipelines.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "test/grid/RemoteProcess.h"
#include "llvm/TargetParser/Host.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

StringRef mlir::fovea::getTestedLevel() {
  static const std::string level = [] {
    const char *named = std::getenv("FOVEA_TEST_PROCESSOR");
    return named ? std::string(named) : getHostLevel().str();
  }();
  return level;
}

std::string mlir::fovea::findLacking(StringRef name) {
  const Level *level = findProcessorLevel(name);
  if (!level)
    return ("a level of " + listProcessorLevels() + " named '" + name + "'").str();
  if (level->family != &getHostFamily())
    return RemoteProcess::get() ? "" : "qemu and fovea-grid-remote (scripts/setup --aarch64)";
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (StringRef feature : level->features)
    if (!features.lookup(feature))
      return feature.str();
  return "";
}

/// As the command does it: verified at the end.
static LogicalResult run(PassManager &passes, ModuleOp module) {
  passes.enableVerifier(false);
  passes.addPass(createVerifyPass());
  return passes.run(module);
}

std::unique_ptr<NativeProgram> NativeProgram::compile(ModuleOp original, std::string &error,
                                                      const NativeOptions &options) {
  StringRef level = options.level.empty() ? getTestedLevel() : options.level;
  const Level *known = findProcessorLevel(level);
  if (!known) {
    error = ("expects a level of " + listProcessorLevels() + ", got '" + level + "'").str();
    return nullptr;
  }
  OwningOpRef<ModuleOp> module(original.clone());
  PassManager graph(module->getContext()), fused(module->getContext()),
      stages(module->getContext());
  buildGraphPipeline(graph);
  if (!options.isGraph && failed(run(graph, *module)))
    return nullptr;
  buildFusedPipeline(fused);
  if (failed(run(fused, *module)))
    return nullptr;
  module->walk([&](GroupOp group) { options.choose(group); });
  buildScheduledPipeline(stages, level);
  buildKernelsPipeline(stages);
  if (failed(run(stages, *module)))
    return nullptr;
  std::unique_ptr<NativeProgram> program(new NativeProgram);
  program->isRemote = known->family != &getHostFamily();
  FailureOr<std::vector<EntryLayout>> entries = describeEntries(*module);
  if (failed(entries))
    return nullptr;
  program->entries = *entries;
  for (auto weight : module->getOps<WeightOp>()) {
    RankedTensorType type = weight.getWeightType();
    GuardedMemory &memory =
        program->weights.emplace_back(program->makeMemory(*getStorageBytes(type)));
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
  program->code = NativeCode::make(*module, program->isRemote ? level : "host", error,
                                   options.optimizes && options.tiles == TilesTo::Vectors);
  return program->code ? std::move(program) : nullptr;
}

GuardedMemory NativeProgram::makeCopy(ArrayRef<uint64_t> words) const {
  GuardedMemory memory = makeMemory(words.size() * sizeof(uint64_t));
  std::memcpy(memory.data(), words.data(), words.size() * sizeof(uint64_t));
  return memory;
}

static uint64_t getAddress(const GuardedMemory &memory) {
  return reinterpret_cast<uint64_t>(memory.data());
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
  std::vector<uint64_t> dims, buffers, weightData;
  std::vector<GuardedMemory> memories;
  for (auto [value, port] : llvm::zip(arguments, entry->signature.getArguments())) {
    const Tensor &tensor = *std::get<TensorRef>(value);
    Type type = cast<RankedTensorType>(port.getType()).getElementType();
    dims.insert(dims.end(), tensor.shape.begin(), tensor.shape.end());
    GuardedMemory &memory = memories.emplace_back(makeMemory(getStorageBytes(type, tensor.size())));
    for (int64_t i = 0, bytes = getStorageBytes(type, 1); i < tensor.size(); ++i)
      putElement(memory.data() + i * bytes, type, tensor.at(i));
    buffers.push_back(getAddress(memory));
  }
  GuardedMemory sizes = makeCopy(dims),
                planned = makeCopy(std::vector<uint64_t>(entry->localsCount));
  const auto *locals = reinterpret_cast<const int64_t *>(planned.data());
  if (!code->call(("fovea_" + name + "_plan").str(), {getAddress(sizes), getAddress(planned)},
                  unwritten, error))
    return failure();
  if (locals[0] < 0) {
    error = "sizes refused";
    return failure();
  }
  GuardedMemory arena = makeMemory(locals[0]);
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
    GuardedMemory &memory =
        memories.emplace_back(makeMemory(getStorageBytes(type.getElementType(), count)));
    memory.plant(unwritten);
    buffers.push_back(getAddress(memory));
    tensors.push_back(std::move(tensor));
  }
  for (const GuardedMemory &weight : weights)
    weightData.push_back(getAddress(weight));
  GuardedMemory weightTable = makeCopy(weightData), bufferTable = makeCopy(buffers),
                faulty = makeCopy({0});
  static_assert(sizeof(fovea_frame) == 5 * sizeof(uint64_t));
  GuardedMemory frame =
      makeCopy({getAddress(arena), getAddress(weightTable), getAddress(bufferTable),
                getAddress(planned), getAddress(faulty)});
  for (size_t i = 0; i < entry->steps.size(); ++i)
    for (int64_t part = 0; part < parts; ++part)
      if (!code->call(
              ("fovea_" + name + "_step").str(),
              {getAddress(frame), i, static_cast<uint64_t>(part), static_cast<uint64_t>(parts)},
              unwritten, error))
        return failure();
  if (int64_t fault = *reinterpret_cast<const int64_t *>(faulty.data())) {
    error = "fault in " + entry->steps[fault - 1].kernel;
    return failure();
  }
  for (GuardedMemory *memory :
       {&arena, &sizes, &planned, &weightTable, &bufferTable, &faulty, &frame})
    memories.push_back(std::move(*memory));
  for (const GuardedMemory &memory : memories)
    if (!memory.isIntact()) {
      error = "wrote outside of a buffer";
      return failure();
    }
  for (auto [i, port] : llvm::enumerate(entry->signature.getResults())) {
    Type type = cast<RankedTensorType>(port.getType()).getElementType();
    const char *data = memories[arguments.size() + i].data();
    int64_t bytes = getStorageBytes(type, 1);
    for (int64_t n = 0, count = tensors[i].size(); n < count; ++n)
      tensors[i].put(n, getElement(data + n * bytes, type));
    results.push_back(std::make_shared<const Tensor>(std::move(tensors[i])));
  }
  return results;
}

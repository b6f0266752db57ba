// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams weights into an artifact: a queue of slices, taken in order by all threads, evaluated at
// once and appended in order. Memory is bounded by one slice and its inputs a thread. Refuses
// element types that a manifest cannot name, and sizes past 63 bits.
#include "weights/Stream.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/ThreadPool.h"
#include <condition_variable>
#include <mutex>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::artifact::ArtifactWriter;
using ManifestType = ::fovea::manifest::ElementType;

/// What one evaluation gives at most, unless a single row is longer.
static constexpr int64_t kSliceBytes = int64_t(8) << 20;

ManifestType mlir::fovea::getManifestType(Type type) {
  if (type.isF32())
    return ManifestType::F32;
  if (type.isF64())
    return ManifestType::F64;
  if (type.isF16())
    return ManifestType::F16;
  if (type.isBF16())
    return ManifestType::BF16;
  if (type.isInteger(64))
    return ManifestType::I64;
  if (type.isInteger(32))
    return ManifestType::I32;
  if (type.isInteger(16))
    return ManifestType::I16;
  if (type.isInteger(8))
    return ManifestType::I8;
  if (type.isInteger(4))
    return ManifestType::I4;
  if (type.isInteger(1))
    return ManifestType::Bool;
  return ManifestType::None;
}

::fovea::Panels mlir::fovea::getLayout(RankedTensorType type) {
  PanelsAttr panels = getPanels(type);
  return panels ? ::fovea::Panels{panels.getWidth(), panels.getInterleave()} : ::fovea::Panels();
}

namespace {

/// A weight on its way into the artifact.
struct Job {
  WeightOp weight;
  RecipeAttrInterface recipe;
  SmallVector<StoredAttr> leaves;
  unsigned number = 0; ///< in the artifact
  int64_t rows = 1, rowBytes = 0, sliceRows = 1;
  int64_t appended = 0; ///< rows that are written
};

class Streamer {
public:
  Streamer(RecipeSource &source, ArtifactWriter &writer, WeightProgress progress)
      : source(source), writer(writer), progress(progress) {}

  LogicalResult declare(WeightOp weight) {
    Job job;
    job.weight = weight;
    job.recipe = cast<RecipeAttrInterface>(weight.getRecipe());
    RankedTensorType type = weight.getWeightType();
    // To the runtime blocks are rows of bytes.
    bool ofBlocks = isa<BlocksType>(type.getElementType());
    ManifestType element = ofBlocks ? ManifestType::I8 : getManifestType(type.getElementType());
    if (element == ManifestType::None)
      return weight.emitOpError("expects an element type that an artifact can hold, got ") << type;

    job.leaves = getStoredTensors(job.recipe);
    for (StoredAttr leaf : job.leaves)
      if (failed(source.read(leaf)))
        return failure();

    std::optional<int64_t> bytes = getStorageBytes(type);
    if (!bytes)
      return weight.emitOpError("expects a size in bytes that fits 63 bits, got ") << type;
    SmallVector<int64_t> sizes = getStorageShape(type);
    job.rowBytes = getStorageBytes(getStorageType(type.getElementType()), 1);
    for (auto [axis, size] : llvm::enumerate(sizes))
      (axis == 0 ? job.rows : job.rowBytes) *= size;
    job.sliceRows = std::max<int64_t>(1, kSliceBytes / std::max<int64_t>(1, job.rowBytes));
    total += *bytes;
    ArrayRef<int64_t> shape = ofBlocks ? ArrayRef<int64_t>(sizes) : type.getShape();
    job.number = writer.addWeight(weight.getSymName().str(), element, shape.vec(),
                                  ofBlocks ? ::fovea::Panels() : getLayout(type), *bytes);
    jobs.push_back(std::move(job));
    return success();
  }

  /// What each thread runs until all is written or something has failed.
  void work() {
    std::vector<char> slice;
    while (true) {
      Job *job;
      int64_t first;
      {
        std::lock_guard<std::mutex> lock(mutex);
        while (current < jobs.size() && nextRow == jobs[current].rows) {
          ++current;
          nextRow = 0;
        }
        if (hasFailed || current == jobs.size())
          return;
        job = &jobs[current];
        first = nextRow;
        nextRow = std::min(job->rows, first + job->sliceRows);
      }
      int64_t count = std::min(job->sliceRows, job->rows - first);
      slice.resize(count * job->rowBytes);
      LogicalResult result = evaluateRows(job->recipe, source, first, count, slice.data());
      for (StoredAttr leaf : job->leaves)
        source.release(leaf);

      // Slices are taken in order, so the one that all others wait for is always being evaluated.
      std::unique_lock<std::mutex> lock(mutex);
      turn.wait(lock, [&] { return hasFailed || job->appended == first; });
      if (hasFailed)
        return;
      std::string error;
      if (failed(result))
        hasFailed = true; // the diagnostic is out
      else if (!writer.appendWeight(job->number, slice.data(), slice.size(), error)) {
        hasFailed = true;
        emitError(job->weight.getLoc()) << error;
      }
      job->appended += count;
      done += slice.size();
      if (!hasFailed && progress)
        progress(done, total);
      turn.notify_all();
    }
  }

  bool succeeded() const { return !hasFailed; }

private:
  RecipeSource &source;
  ArtifactWriter &writer;
  WeightProgress progress;
  std::vector<Job> jobs;

  std::mutex mutex; ///< of all that follows, and of Job::appended
  std::condition_variable turn;
  size_t current = 0;
  int64_t nextRow = 0;
  uint64_t done = 0, total = 0;
  bool hasFailed = false;
};

} // namespace

LogicalResult mlir::fovea::writeWeights(ModuleOp module, RecipeSource &source,
                                        ArtifactWriter &writer, WeightProgress progress) {
  Streamer streamer(source, writer, progress);
  for (auto weight : module.getOps<WeightOp>())
    if (failed(streamer.declare(weight)))
      return failure();

  // Recipes make types, which is safe on several threads only if the context is prepared for it.
  MLIRContext *context = module.getContext();
  if (!context->isMultithreadingEnabled()) {
    streamer.work();
    return success(streamer.succeeded());
  }
  llvm::ThreadPoolInterface &pool = context->getThreadPool();
  llvm::ThreadPoolTaskGroup tasks(pool);
  for (unsigned i = 0; i < pool.getMaxConcurrency(); ++i)
    tasks.async([&] { streamer.work(); });
  tasks.wait();
  return success(streamer.succeeded());
}

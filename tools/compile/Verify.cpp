// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea verify`: reads the model once, for the interpreter and for the compiler, or for the
// interpreter alone where an artifact is judged. Refuses what cannot be one's code of the other.
#include "artifact/ArtifactReader.h"
#include "frontend/Builder/StoredTensors.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "tools/compile/CompileModule.h"
#include "tools/compile/Source.h"
#include "tools/compile/Stages.h"
#include "tools/verify/Verb.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::fovea;

namespace fovea::compile {

/// Sizes beyond it are slips: the interpreter would not end.
static constexpr uint64_t kMostSize = 1 << 20;

/// A name and its size by "NAME=SIZE".
static std::optional<std::pair<std::string, int64_t>> readSize(StringRef word) {
  auto [name, size] = word.rsplit('=');
  uint64_t number = 0;
  if (name.empty() || size.getAsInteger(10, number) || number < 1 || number > kMostSize)
    return std::nullopt;
  return std::pair(name.str(), static_cast<int64_t>(number));
}

/// What the command line asks for and cannot have; empty if there is nothing.
static std::string findFault(const Options &options, const VerifyOptions &how, bool isArtifact) {
  if (!options.fromStage.empty() && options.fromStage != "import")
    return "--from-stage: the interpreter starts at import, got " + options.fromStage;
  for (int64_t length : how.lengths)
    if (length < 1)
      return "--length: expects lengths of at least 1, got " + std::to_string(length);
  if (!how.lengths.empty() && !how.against.empty())
    return "--length: the inputs of --against have their own lengths";
  for (const std::string &word : how.sizes)
    if (!readSize(word))
      return "--dim " + word + ": expects NAME=SIZE, a size from 1 to " + std::to_string(kMostSize);
  if (!how.sizes.empty() && !how.against.empty())
    return "--dim: the inputs of --against have their own sizes";
  if (!options.calibrate.empty())
    return "--calibrate: verify compares code by weights that both sides have, and has no use for "
           "a text; leave it out";
  if (isArtifact && how.source.empty())
    return options.model + ": an artifact does not hold what the interpreter runs, expects "
                           "--source=MODEL, the model that it was compiled from";
  if (!isArtifact && !how.source.empty())
    return "--source: expects an artifact as MODEL, got " + options.model;
  return "";
}

/// What an artifact's linears multiply, by its report.
static std::string findCompute(const manifest::ManifestT &manifest) {
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(manifest.fusion_report);
  const llvm::json::Object *counts = nullptr;
  if (!report)
    llvm::consumeError(report.takeError());
  else if (const llvm::json::Object *all = report->getAsObject())
    counts = all->getObject("compute");
  if (!counts)
    return "f32";
  return counts->getInteger("int8").value_or(0) > 0 ? "int8" : "bf16";
}

/// The option that an artifact's caches were compiled with, whose type all of them have.
static std::string findCacheType(const manifest::ManifestT &manifest) {
  for (const auto &entry : manifest.entries)
    for (const auto &argument : entry->arguments)
      if (argument->kind == manifest::ValueKind::Cache) {
        if (argument->element == manifest::ElementType::BF16)
          return "bf16";
        if (argument->element == manifest::ElementType::I8)
          return "int8";
      }
  return "source";
}

/// Whether a cache is of the scales of another, which the source does not have.
static bool isOfScales(const manifest::ValueT &value,
                       const std::vector<std::unique_ptr<manifest::ValueT>> &all) {
  return value.kind == manifest::ValueKind::Cache && llvm::any_of(all, [&](const auto &other) {
           return other->element == manifest::ElementType::I8 &&
                  value.name == other->name + ".scales";
         });
}

/// Why an artifact cannot be code of this module; empty if it can.
static std::string findMismatch(const artifact::ArtifactReader &reader, ModuleOp module,
                                const Options &options) {
  const manifest::ManifestT &manifest = reader.manifest();
  bool isQuantized = StringRef(manifest.fusion_report).contains("\"quantized\"");
  if (isQuantized != mlir::fovea::isQuantized(options.dtype))
    return std::string("expects --dtype as it was compiled with: its weights are ") +
           (isQuantized ? "quantised" : "not quantised");
  if (StringRef(manifest.fusion_report).contains("\"calibrated\""))
    return "its weights are rounded by a text (--calibrate), which --source does not have; to "
           "verify "
           "its code, compile it without --calibrate";
  for (func::FuncOp entry : mlir::fovea::verify::getEntries(module)) {
    auto found = llvm::find_if(manifest.entries,
                               [&](const auto &other) { return other->name == entry.getName(); });
    if (found == manifest.entries.end())
      return "expects the entries of --source, has none named '" + entry.getName().str() + "'";
    std::vector<std::string> names, expected;
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      expected.push_back(mlir::fovea::verify::nameOfArgument(entry, i));
    for (const auto &argument : (*found)->arguments)
      if (llvm::is_contained(expected, argument->name) ||
          !isOfScales(*argument, (*found)->arguments))
        names.push_back(argument->name);
    if (names != expected)
      return "expects '" + entry.getName().str() + "' to take what it takes in --source";
  }
  return "";
}

/// Whether it has weights, or constants that linears multiply by, of which inputs may be rounded.
static bool hasNarrowWeights(ModuleOp module) {
  auto isNarrow = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isBF16() || isa<IntegerType, BlocksType>(element);
  };
  WalkResult found = module.walk([&](Operation *op) {
    auto weight = dyn_cast<WeightOp>(op);
    bool isFound =
        (weight && isNarrow(weight.getWeightType())) ||
        llvm::any_of(op->getOpOperands(), [&](OpOperand &use) {
          return getWeightRole(use) == WeightRole::Matrix && isNarrow(use.get().getType());
        });
    return isFound ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// The rest of `verify`, behind the reading of the model.
static int verifyModel(ModuleOp module, const Options &options, const VerifyOptions &how,
                       const Log &log, const std::string &path) {
  Options inner = options;
  if (how.device != "cpu" && inner.gpu == "none")
    inner.gpu = getGpuNames().front();
  inner.compute = chooseCompute(inner, hasBlocks(module));
  verify::VerbOptions verb;
  OwningOpRef<ModuleOp> imported, raised;
  bool rounds = inner.compute != "f32" && hasNarrowWeights(module);
  if (options.dtype != "source" || rounds || castsCaches(options.cache) ||
      !options.probes.empty()) {
    // For both sides: what is compared is the code, not the rounding of weights and inputs. With
    // the stage that rounds them, since linears are found, merged and scaled before. That stage as
    // it is without rounding is compared with the source by itself.
    imported = module.clone();
    raised = module.clone();
    PassManager manager(module.getContext()), plain(module.getContext());
    buildGraphStage(manager, options, inner.compute);
    buildGraphPipeline(plain);
    if (failed(manager.run(module)) || failed(plain.run(*raised)))
      return static_cast<int>(Outcome::InputFault);
    inner.dtype = "source";
    inner.compute = "f32";
    inner.cache = "source";
    inner.probes.clear();
  }
  StoredTensors weights(getFolder(module, path), options.access);
  verb.imported = imported.get();
  verb.raised = raised.get();
  verb.against = how.against;
  verb.json = how.json;
  verb.quiet = how.quiet;
  verb.threads = how.threads;
  verb.access = options.access;
  verb.device = how.device;
  verb.seed = how.seed;
  verb.lengths.assign(how.lengths.begin(), how.lengths.end());
  for (StringRef word : how.sizes) {
    auto [name, size] = *readSize(word);
    verb.dims[name] = size;
  }
  if (!how.source.empty())
    verb.artifact = options.model;
  auto compile = [&](ModuleOp copy, const std::string &path) {
    inner.emit = "fovea";
    inner.output = path;
    return success(compileModule(copy, inner, Log{log.message, nullptr}) == Outcome::Done);
  };
  return mlir::fovea::verify::runVerb(module, weights, compile, verb);
}

int verify(const Options &options, const VerifyOptions &how, const Log &log) {
  bool isArtifact = artifact::isArtifactFile(options.model);
  if (std::string fault = findFault(options, how, isArtifact); !fault.empty()) {
    log.message(Log::Severity::Error, fault);
    return static_cast<int>(Outcome::InputFault);
  }
  CompilerContext context(0);
  Reporter reporter(*context, log);
  (*context).printOpOnDiagnostic(false);
  const std::string &path = isArtifact ? how.source : options.model;
  OwningOpRef<ModuleOp> module = readSource(context, path, reporter, options.access);
  if (!module)
    return static_cast<int>(Outcome::InputFault);
  Options actual = options;
  if (isArtifact) {
    std::string fault;
    if (auto reader = artifact::ArtifactReader::open(options.model, fault, options.access)) {
      if (fault = findMismatch(*reader, *module, options); !fault.empty())
        fault = options.model + ": " + fault;
      actual.compute = findCompute(reader->manifest());
      // Integers that the source itself keeps stay as they are.
      actual.cache = countIntegerCaches(*module) > 0 ? "source" : findCacheType(reader->manifest());
    }
    if (!fault.empty()) {
      reporter.error(fault);
      return static_cast<int>(Outcome::InputFault);
    }
  }
  return verifyModel(*module, actual, how, log, path);
}

} // namespace fovea::compile

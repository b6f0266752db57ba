// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's main line: source, stages, code, weights, artifact. It decides nothing about
// programs, only whose fault a failure is. Refuses options that are not built yet, by name.
#include "artifact/ArtifactWriter.h"
#include "dialects/Fovea/Tables.h"
#include "frontend/Builder/StoredTensors.h"
#include "frontend/GGUF/GgufFile.h"
#include "frontend/HuggingFace/Safetensors.h"
#include "frontend/ONNX/Onnx.h"
#include "frontend/TokenizerFile.h"
#include "frontend/tokenizer/TokenizerCompiler.h"
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/Targets/Table.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Passes.h"
#include "tools/compile/Calibrate.h"
#include "tools/compile/CheckModule.h"
#include "tools/compile/CompileModule.h"
#include "tools/compile/DeviceCode.h"
#include "tools/compile/FusionReport.h"
#include "tools/compile/KernelCode.h"
#include "tools/compile/Manifest.h"
#include "tools/compile/MlirFlags.h"
#include "tools/compile/Names.h"
#include "tools/compile/OutputFile.h"
#include "tools/compile/ProcessorCode.h"
#include "tools/compile/Source.h"
#include "tools/compile/Stages.h"
#include "tools/compile/Targets.h"
#include "weights/Stream.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::artifact::ArtifactWriter;
using ::fovea::compile::Log;
using ::fovea::compile::Options;
using ::fovea::compile::Outcome;

namespace {

/// Keeps a reproducer in memory until it is known whose fault it was.
struct StringReproducer : ReproducerStream {
  explicit StringReproducer(std::string &text) : stream(text) {}
  StringRef description() override { return "the reproducer"; }
  raw_ostream &os() override { return stream; }
  llvm::raw_string_ostream stream;
};

class Compilation {
public:
  /// Reads the model, then compiles it.
  Compilation(CompilerContext &reading, const Options &options, const Log &log)
      : options(options), reading(&reading), context(&*reading), reporter(*reading, log) {}
  /// Compiles `given`, a module of the import stage.
  Compilation(ModuleOp given, const Options &options, const Log &log)
      : options(options), context(given.getContext()), reporter(*context, log), module(given) {}

  /// All but code and output: what this takes can be compiled.
  Outcome check() {
    isCheck = true;
    return run();
  }

  /// Only as far as the stage `graph`, whose module `visit` sees.
  Outcome run(function_ref<bool(ModuleOp, RecipeSource &)> visit) {
    atGraph = visit;
    return run();
  }

  /// Nothing but that this can be begun.
  Outcome checkRequest() {
    return checkOptions() && openOutput() ? Outcome::Done : Outcome::InputFault;
  }

  void setCalibration(const Calibration *of) { calibration = of; }
  void widenBlocks() { widensBlocks = true; }

  const ::fovea::compile::Summary &getSummary() const { return summary; }

  Outcome run() {
    context->printOpOnDiagnostic(false);
    DefaultTimingManager timingManager;
    applyMlirFlags(timingManager);
    timing = timingManager.getRootScope();
    Outcome outcome = compile();
    timing = TimingScope(); // its manager goes with this function
    if (outcome != Outcome::Done && !reporter.hasErrors())
      reporter.error(options.model + ": cannot be compiled");
    return outcome;
  }

private:
  Outcome compile() {
    // First, so that an output that cannot be written costs no time.
    if (!checkOptions() || !openOutput())
      return Outcome::InputFault;
    if (!module) {
      reporter.progress("reading " + options.model);
      source = readSource(*reading, options.model, reporter, options.access);
      module = *source;
    }
    if (!module)
      return Outcome::InputFault;
    compute = chooseCompute(options, hasBlocks(module));
    if ((emitsArtifact || isCheck) && !readTokenizer())
      return Outcome::InputFault;
    if (failed(checkTypes()) || failed(checkReassociations()))
      return Outcome::InputFault;

    if (!snapshot(first))
      return Outcome::InputFault;
    for (Stage stage : kStages) {
      bool isEnd = false;
      if (Outcome outcome = reach(stage, isEnd); isEnd || outcome != Outcome::Done)
        return outcome;
    }
    if (isCheck)
      return Outcome::Done;
    if (Outcome outcome = emit(); outcome != Outcome::Done)
      return outcome;
    return writeReport() ? Outcome::Done : Outcome::InputFault;
  }

  /// Makes the next stage of the one before it, and what branches off between them; `isEnd`:
  /// nothing more is asked for.
  Outcome reach(Stage stage, bool &isEnd) {
    if (stage == Stage::Scheduled && emitsArtifact)
      for (const TargetOptions &variant : variants)
        if (Outcome outcome = compileVariant(variant); outcome != Outcome::Done)
          return outcome;
    if (stage == Stage::Scheduled && compilesDevices()) {
      if (Outcome outcome = compileDevices(); outcome != Outcome::Done)
        return outcome;
      if (lastOfDevice) {
        isEnd = true;
        return writeReport() ? Outcome::Done : Outcome::InputFault;
      }
    }
    if (stage <= first || stage > last)
      return Outcome::Done;
    if (stage == Stage::LLVM)
      findKernels(*kernels, module);
    if (Outcome outcome = runStage(stage); outcome != Outcome::Done)
      return outcome;
    if (!snapshot(stage))
      return Outcome::InputFault;
    if (stage != Stage::Graph || !atGraph)
      return Outcome::Done;
    isEnd = true;
    StoredTensors tensors(getFolder(module, options.model), options.access);
    return atGraph(module, tensors) ? Outcome::Done : Outcome::InputFault;
  }

  bool openOutput() {
    if (!emitsArtifact)
      return true;
    std::string error;
    writer = ArtifactWriter::create(options.output, error);
    if (!writer)
      return refuse(error) == Outcome::Done;
    llvm::sys::RemoveFileOnSignal(writer->temporaryPath());
    return true;
  }

  Outcome refuse(const std::string &text) {
    reporter.error(text);
    return Outcome::InputFault;
  }

  bool checkOptions() {
    std::string error;
    FailureOr<std::vector<TargetOptions>> targets = parseTargets(options.target, error);
    if (failed(targets)) {
      reporter.error("--target: " + error);
      return false;
    }
    for (TargetOptions &each : *targets)
      each.optimizes = options.optimization > 1;
    target = targets->back();
    variants.assign(targets->begin(), std::prev(targets->end()));
    // Plans for a device are one code for all processors.
    hostTarget = target;
    if (!variants.empty())
      hostTarget = {target.family->name.str(), target.family->processor.str(), "", target.optimizes,
                    target.family};
    kernels = createKernelCode(target);
    FailureOr<std::vector<std::string>> chips = parseGpus(options.gpu, error);
    if (failed(chips)) {
      reporter.error("--gpu: " + error);
      return false;
    }
    gpus = *chips;
    std::optional<DeviceStage> deviceStage = parseDeviceStage(options.emit);
    if (deviceStage && (!gpus.empty() || !parseStage(options.emit))) {
      if (gpus.size() != 1) {
        reporter.error("--emit: " + options.emit + " is of one GPU, expected --gpu=" +
                       ::fovea::compile::getGpuNames().front() + ", got --gpu=" + options.gpu);
        return false;
      }
      lastOfDevice = deviceStage;
    }
    if (std::optional<Stage> stage = parseStage(options.emit))
      last = *stage;
    else if (options.emit == "fovea")
      emitsArtifact = true;
    if (!options.fromStage.empty()) {
      if (!isIrFile(options.model)) {
        reporter.error("--from-stage: expects a .mlir file, got " + options.model);
        return false;
      }
      first = *parseStage(options.fromStage);
    }
    if (first > last) {
      reporter.error("--emit: expects a stage that is not before " + getStageName(first).str() +
                     ", got " + options.emit);
      return false;
    }
    bool emitsOneTarget = last > Stage::Fused && !emitsArtifact && !lastOfDevice;
    if (!variants.empty() && (first > Stage::Fused || emitsOneTarget)) {
      reporter.error("--target: " +
                     std::string(emitsOneTarget ? "--emit=" + options.emit
                                                : "IR of " + getStageName(first).str()) +
                     " is of one processor, got " + options.target);
      return false;
    }
    if (!gpus.empty() && first > Stage::Fused) {
      reporter.error("--gpu: code for GPUs is made of the fused stage, got IR of " +
                     getStageName(first).str());
      return false;
    }
    const char *asked = castsCaches(options.cache)  ? "--cache: element types are chosen"
                        : !options.probes.empty()   ? "--probe: entries are added"
                        : options.dtype != "source" ? "--dtype: element types are chosen"
                                                    : nullptr;
    if (asked && first != Stage::Import) {
      reporter.error(std::string(asked) + " after the import stage, got IR of " +
                     getStageName(first).str());
      return false;
    }
    return true;
  }

  /// Elements that share bytes are weights of linears and nothing else.
  LogicalResult checkTypes() {
    auto isShared = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && sharesBytes(tensor.getElementType());
    };
    WalkResult found = module->walk([&](Operation *op) {
      auto function = dyn_cast<func::FuncOp>(op);
      bool isEntry = function && function->hasAttr(FoveaDialect::kEntryAttr);
      SmallVector<Type> types(op->getResultTypes());
      if (isEntry)
        llvm::append_range(types, function.getArgumentTypes());
      for (Type type : types)
        if (isShared(type) && !isa<WeightRefOp>(op)) {
          op->emitOpError("expects no integers of 4 bits other than weights of linears, got ")
              << type;
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(found.wasInterrupted());
  }

  /// That axes are merged and split in order; MLIR's verifier compares 32 bits of their numbers.
  LogicalResult checkReassociations() {
    auto isInOrder = [](Operation *op) {
      int64_t next = 0;
      for (Attribute group : op->getAttrOfType<ArrayAttr>("reassociation"))
        for (Attribute axis : cast<ArrayAttr>(group))
          if (cast<IntegerAttr>(axis).getInt() != next++)
            return false;
      return true;
    };
    WalkResult found = module->walk([&](Operation *op) {
      if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, memref::ExpandShapeOp,
               memref::CollapseShapeOp>(op) ||
          isInOrder(op))
        return WalkResult::advance();
      op->emitOpError("expects axes 0, 1, 2, ... in its groups, got ")
          << op->getAttr("reassociation");
      return WalkResult::interrupt();
    });
    return failure(found.wasInterrupted());
  }

  bool readTokenizer() {
    ModelOp model = getModel(module);
    std::string file = options.tokenizer;
    if (file.empty() && model && model.getTokenizer())
      file = model.getTokenizer()->str();
    if (file.empty())
      return true;
    if (options.tokenizer.empty() && !::fovea::isPathBelowFolder(file)) {
      reporter.error(options.model + ": expects a tokenizer below the model's folder, got " +
                     ::fovea::quote(file));
      return false;
    }
    ::fovea::Problems problems;
    std::vector<uint8_t> tables;
    std::string folder = options.tokenizer.empty() ? getFolder(module, options.model) : ".";
    std::string path = folder == "." ? file : folder + "/" + file;
    bool done = ::fovea::compileTokenizer(path, tables, problems, options.access);
    reporter.add(problems);
    if (done && writer)
      writer->setTokenizer(std::move(tables));
    return done;
  }

  Outcome runStage(Stage stage) {
    return runPasses(module, getStageName(stage), [&](OpPassManager &manager) {
      if (stage == Stage::Graph)
        return buildGraphStage(manager, options, compute, calibration, widensBlocks);
      buildStagePipeline(manager, stage, getRequiredFeatures(target), options.optimization > 0);
    });
  }

  /// Runs passes that lead to a stage on all of a module or a copy of it.
  Outcome runPasses(ModuleOp on, StringRef name, function_ref<void(OpPassManager &)> build) {
    reporter.progress("compiling: " + name.str());
    PassManager manager(context);
    build(manager);
    manager.enableVerifier(false);
    manager.addPass(createVerifyPass());
    std::string reproducer;
    manager.enableCrashReproducerGeneration(
        [&](std::string &) { return std::make_unique<StringReproducer>(reproducer); });
    if (failed(applyMlirFlags(manager)))
      return Outcome::InputFault;
    TimingScope scope = timing.nest(name);
    manager.enableTiming(scope);
    if (succeeded(manager.run(on)))
      return Outcome::Done;
    // IR by hand may be legal and yet not compile, and what is to be shown may not be there; then a
    // pass has said why. All else is our fault.
    bool mayLack = name == getStageName(Stage::Graph) && !options.probes.empty();
    if ((isIrFile(options.model) || mayLack) && reporter.hasErrors())
      return Outcome::InputFault;
    return blame(name, reproducer);
  }

  /// Reports a fault of the compiler and writes what is needed to see it again.
  Outcome blame(StringRef stage, const std::string &ir) {
    if (::fovea::compile::isMemoryExhausted()) {
      reporter.error(options.model + ": out of memory at the stage " + stage.str());
      return Outcome::InputFault;
    }
    SmallString<128> path;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
    llvm::sys::path::append(path, "fovea-reproducer-%%%%%%%%.mlir");
    int file;
    std::error_code code = llvm::sys::fs::createUniqueFile(path, file, path);
    std::string where = "no reproducer could be written: " + code.message();
    if (!code) {
      llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
      stream << "// " << options.commandLine << "\n// failed on the way to the stage " << stage
             << "; run: fovea-opt --run-reproducer THIS-FILE\n"
             << ir;
      where = "a reproducer is in " + path.str().str();
    }
    reporter.error(options.model + ": the compiler failed at the stage " + stage.str());
    reporter.note("this is a fault of the compiler, not of the model; " + where);
    return Outcome::OurFault;
  }

  KernelCode createKernelCode(const TargetOptions &of) const {
    return {of, options.optimization, KernelCache(options.kernelFolder)};
  }

  /// Before the `llvm` stage. Where people want to see that stage, all of it is made.
  void findKernels(KernelCode &kernels, ModuleOp on) const {
    if (emitsArtifact)
      kernels.find(on, /*asWritten=*/!options.dumpFolder.empty());
  }

  /// Makes code for a better processor of a copy of the module, which is of the fused stage.
  Outcome compileVariant(const TargetOptions &variant) {
    OwningOpRef<ModuleOp> copy(module.clone());
    KernelCode kernels = createKernelCode(variant);
    for (Stage stage : {Stage::Scheduled, Stage::Kernels, Stage::LLVM}) {
      if (stage == Stage::LLVM)
        findKernels(kernels, *copy);
      std::string name = getStageName(stage).str();
      Outcome outcome =
          runPasses(*copy, name + " for " + variant.name, [&](OpPassManager &manager) {
            buildStagePipeline(manager, stage, getRequiredFeatures(variant),
                               options.optimization > 0);
          });
      if (outcome != Outcome::Done)
        return outcome;
      if (!options.dumpFolder.empty() &&
          !dump(static_cast<int>(stage) + 1, name + "." + variant.name + ".mlir",
                printWithNames(*copy)))
        return Outcome::InputFault;
    }
    auto description = buildVariant(*copy, variant);
    if (failed(description))
      return blame("code for " + variant.name, printWithNames(*copy));
    variantWeights.push_back(listWeights(*copy, /*asPacked=*/true));
    variantCodes.push_back({std::move(kernels), std::move(copy), std::move(*description)});
    return Outcome::Done;
  }

  /// Whether anything that is asked for is code for a GPU.
  bool compilesDevices() const {
    return !gpus.empty() && (emitsArtifact || lastOfDevice.has_value());
  }

  /// That GPUs compute what weights are made of.
  bool checkDeviceWeights() {
    for (auto weight : module.getOps<WeightOp>())
      if (auto blocks = dyn_cast<BlocksType>(weight.getWeightType().getElementType())) {
        reporter.error(
            llvm::formatv("--gpu: expects weights of floats, int8 or int4, got blocks of {0} "
                          "in '{1}'; --dtype=bf16, f16, int8 or int4 converts them",
                          stringifyBlockKind(blocks.getKind()), weight.getSymName())
                .str());
        return false;
      }
    return true;
  }

  /// Makes code for each GPU of copies of the module, which is of the fused stage.
  Outcome compileDevices() {
    if (!gpus.empty() && !checkDeviceWeights())
      return Outcome::InputFault;
    for (const std::string &chip : gpus) {
      OwningOpRef<ModuleOp> copy(module.clone());
      DeviceHooks hooks;
      hooks.run = [&](ModuleOp on, StringRef stage, function_ref<void(OpPassManager &)> build) {
        return runPasses(on, (stage + " for " + chip).str(), build);
      };
      hooks.blame = [&](StringRef stage, ModuleOp on) {
        return blame((stage + " for " + chip).str(), printWithNames(on));
      };
      hooks.error = [&](const std::string &text) { reporter.error(text); };
      hooks.reached = [&](DeviceStage stage, ModuleOp on, StringRef ptx) {
        bool isPtx = stage == DeviceStage::Ptx, isLast = stage == lastOfDevice;
        if (!isLast && options.dumpFolder.empty())
          return true;
        std::string text = isPtx ? ptx.str() : printWithNames(on);
        if (isLast && !write(options.output, text))
          return false;
        return options.dumpFolder.empty() ||
               dump(static_cast<int>(stage) + 4,
                    (getDeviceStageName(stage) + "." + chip + (isPtx ? ".ptx" : ".mlir")).str(),
                    text);
      };
      DeviceCode code;
      DeviceOptions device{lastOfDevice.value_or(DeviceStage::Ptx), /*complete=*/!lastOfDevice,
                           /*asWritten=*/lastOfDevice || !options.dumpFolder.empty(),
                           options.optimization, KernelCache(options.kernelFolder)};
      Outcome outcome = compileForDevice(*copy, chip, hostTarget, device, hooks, code);
      if (outcome != Outcome::Done)
        return outcome;
      if (lastOfDevice)
        continue;
      writer->addDeviceCode(code.ptx, code.cubin, code.host);
      devices.push_back(std::move(code.description));
      deviceWeights.push_back(listWeights(*copy, /*asPacked=*/false));
    }
    return Outcome::Done;
  }

  using WeightList = std::vector<std::pair<StringAttr, Attribute>>;

  /// The weights of a module with their recipes, as they are packed or before.
  static WeightList listWeights(ModuleOp of, bool asPacked) {
    WeightList weights;
    for (auto weight : of.getOps<WeightOp>()) {
      auto pack = dyn_cast<PackAttr>(weight.getRecipe());
      weights.emplace_back(weight.getSymNameAttr(),
                           pack && !asPacked ? pack.getInput() : weight.getRecipe());
    }
    return weights;
  }

  /// Weights are stored once, in one order; for each GPU their elements are the same, and their
  /// panels may be others.
  bool haveSameWeights() {
    return llvm::all_of(variantWeights, [own = listWeights(module, true)](
                                            const WeightList &of) { return of == own; }) &&
           llvm::all_of(deviceWeights, [own = listWeights(module, false)](const WeightList &of) {
             return of == own;
           });
  }

  /// The IR as text.
  std::string print() { return printWithNames(module); }

  /// What is looked at or written when a stage is reached.
  bool snapshot(Stage stage) {
    if (stage == Stage::Graph)
      vocabulary = findVocabulary(module);
    if (stage == Stage::Graph && isQuantized(options.dtype))
      countQuantized();
    else if (stage == Stage::Graph && options.dtype != "source")
      countKept();
    if (stage == Stage::Graph && compute != "f32")
      rounded = countRoundedLinears(module), quantizedRows = countQuantizedRows(module);
    if (!fusion && (stage == Stage::Graph || (stage == first && stage != Stage::Import))) {
      fusion = buildFusionReport(module);
      summary.fused = llvm::count_if(fusion->attention, [](const llvm::json::Value &entry) {
        return entry.getAsObject()->getString("status") == "fused";
      });
      summary.attentions = summary.fused + fusion->missed;
      if (options.requireFusion && fusion->missed) {
        for (llvm::json::Value &entry : fusion->attention)
          if (entry.getAsObject()->getString("status") == "not fused")
            reporter.error(
                entry.getAsObject()->getString("location")->str() +
                ": a softmax is not fused: " + entry.getAsObject()->getString("reason")->str());
        return false;
      }
    }
    return options.dumpFolder.empty() ||
           dump(static_cast<int>(stage) + 1, getStageName(stage).str() + ".mlir", print());
  }

  /// "(a, b, c, ...)" of some names, the first few.
  static std::string listNames(ArrayRef<StringRef> names) {
    constexpr size_t kMost = 3;
    std::string list = llvm::join(names.take_front(kMost), ", ");
    return names.empty() ? "" : " (" + list + (names.size() > kMost ? ", ...)" : ")");
  }

  static bool isCalibrated(WeightOp weight) {
    auto stored = dyn_cast<StoredAttr>(weight.getRecipe());
    return stored && stored.getFile() == kCalibratedFile;
  }

  /// Says how many weights became integers, and which matrices did not.
  void countQuantized() {
    int64_t int8 = 0, int4 = 0;
    SmallVector<StringRef> others;
    for (auto weight : module.getOps<WeightOp>()) {
      RankedTensorType type = weight.getWeightType();
      if (isa<QuantizeAttr>(weight.getRecipe()) ||
          (isCalibrated(weight) && type.getElementType().isInteger(4)))
        ++(type.getElementType().isInteger(4) ? int4 : int8);
      else if (type.getRank() == 2 && isa<FloatType>(type.getElementType()) &&
               !isa<QuantizationScalesAttr>(weight.getRecipe()) && !isCalibrated(weight) &&
               !isTable(weight))
        others.push_back(weight.getSymName());
    }
    quantized = llvm::json::Object{
        {"int8", int8}, {"int4", int4}, {"float", static_cast<int64_t>(others.size())}};
    if (calibration)
      (*quantized)["calibrated"] = static_cast<int64_t>(calibration->weights.size());
    std::string kept;
    if (!others.empty())
      kept = llvm::formatv("; {0} that linears do not read, or not alone, stay floats{1}",
                           others.size(), listNames(others));
    reporter.note(llvm::formatv("--dtype={0}: {1} matrices are int8 and {2} int4{3}", options.dtype,
                                int8, int4, kept)
                      .str());
  }

  /// Says which weights have another type than the one asked for.
  void countKept() {
    SmallVector<StringRef> others;
    for (auto weight : module.getOps<WeightOp>())
      if (auto type = dyn_cast<FloatType>(weight.getWeightType().getElementType());
          type && llvm::formatv("{0}", type).str() != options.dtype &&
          !isa<QuantizationScalesAttr>(weight.getRecipe()) && !isTable(weight))
        others.push_back(weight.getSymName());
    if (!others.empty())
      reporter.note(
          llvm::formatv("--dtype={0}: weights that other ops read than linears, norms and "
                        "embeddings keep their type: {1}{2}",
                        options.dtype, others.size(), listNames(others))
              .str());
  }

  bool dump(int number, const std::string &name, const std::string &text) {
    if (std::error_code code = llvm::sys::fs::create_directories(options.dumpFolder))
      return refuse(options.dumpFolder + ": " + code.message()) == Outcome::Done;
    return write(options.dumpFolder + "/0" + std::to_string(number) + "-" + name, text);
  }

  bool write(const std::string &path, StringRef content) {
    std::string error;
    if (writeOutputFile(path, content, error))
      return true;
    reporter.error(error);
    return false;
  }

  Outcome emit() {
    auto written = [](bool done) { return done ? Outcome::Done : Outcome::InputFault; };
    if (parseStage(options.emit))
      return written(write(options.output, print()));
    reporter.progress("generating code");
    TimingScope scope = timing.nest("native code");
    if (options.emit == "asm") {
      std::string text;
      if (failed(emitAssembly(module, target, text)))
        return blameForCode("asm");
      return written(write(options.output, text));
    }
    // The manifest first: code generation may change the module.
    FailureOr<::fovea::manifest::ManifestT> manifest;
    if (emitsArtifact) {
      manifest = buildManifest(module, target, reportText());
      if (failed(manifest))
        return Outcome::InputFault;
      summary.kernels = manifest->kernels.size();
      summary.fallbacks =
          llvm::count_if(manifest->kernels, [](const auto &kernel) { return kernel->fallback; });
      if (manifest->model->vocabulary_size == 0) // no record of a model says it
        manifest->model->vocabulary_size = vocabulary;
      if (!haveSameWeights()) {
        reporter.error(options.model + ": weights differ between the processors and GPUs");
        return blame("weights", print());
      }
      manifest->devices = std::move(devices);
    }
    if (options.emit == "obj") {
      SmallVector<char, 0> object;
      if (failed(emitObject(module, target, object)))
        return blameForCode("obj");
      return written(write(options.output, StringRef(object.data(), object.size())));
    }
    if (Outcome outcome = emitCode(*manifest); outcome != Outcome::Done)
      return outcome;
    summary.known = kernels->getKnownCount();
    StoredTensors tensors(getFolder(module, options.model), options.access);
    if (calibration)
      for (const CalibratedWeight &weight : calibration->weights) {
        tensors.add(kCalibratedFile, weight.name, weight.codes);
        tensors.add(kCalibratedFile, weight.name + ".scales", weight.scales);
      }
    scope = timing.nest("weights");
    LogicalResult weights =
        writeWeights(module, tensors, *writer, [&](uint64_t done, uint64_t total) {
          reporter.progress("writing weights", double(done) / double(total));
        });
    if (failed(weights))
      return Outcome::InputFault;
    std::string temporary = writer->temporaryPath();
    if (std::string error; !writer->finish(std::move(*manifest), error))
      return refuse(error);
    llvm::sys::DontRemoveFileOnSignal(temporary);
    return Outcome::Done;
  }

  /// Makes code for all processors and hands it to the writer. What needs more than the next one
  /// does and is the same code, as of VNNI in a model without integers, is left out.
  Outcome emitCode(::fovea::manifest::ManifestT &manifest) {
    std::vector<LinkedCode> codes;
    for (ProcessorCode &variant : variantCodes)
      codes.push_back({*variant.module, variant.kernels, {}, "", false});
    codes.push_back({module, *kernels, {}, "", false});
    if (failed(emitAll(codes))) {
      for (LinkedCode &code : codes) {
        if (!code.error.empty())
          return refuse(code.error);
        if (code.isRefused && code.module != module)
          return blame("code for " + code.kernels.getTarget().name, printWithNames(code.module));
      }
      return blameForCode("obj");
    }
    auto isNeeded = [&](size_t i) {
      std::vector<std::string> own = getRequiredFeatures(codes[i].kernels.getTarget()),
                               next = getRequiredFeatures(codes[i + 1].kernels.getTarget());
      return codes[i].elf != codes[i + 1].elf || !llvm::includes(own, next);
    };
    for (auto [i, variant] : llvm::enumerate(variantCodes))
      if (isNeeded(i)) {
        writer->addVariantCode(codes[i].elf);
        manifest.variants.push_back(std::move(variant.description));
      }
    writer->setCode(std::move(codes.back().elf));
    return Outcome::Done;
  }

  /// Code that no pass has touched is its author's: the diagnostic says what is wrong with it.
  Outcome blameForCode(const std::string &stage) {
    return options.fromStage == "llvm" ? Outcome::InputFault : blame(stage, print());
  }

  std::string reportText() {
    llvm::json::Object report;
    report["attention"] = fusion ? fusion->attention : llvm::json::Array();
    if (fusion && !fusion->notRaised.empty())
      report["not-raised"] = llvm::json::Array(fusion->notRaised);
    if (quantized)
      report["quantized"] = llvm::json::Object(*quantized);
    if (rounded + quantizedRows > 0)
      report["compute"] = llvm::json::Object{{"bf16", rounded}, {"int8", quantizedRows}};
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::formatv("{0:2}", llvm::json::Value(std::move(report))) << '\n';
    return text;
  }

  bool writeReport() { return options.report.empty() || write(options.report, reportText()); }

  const Options &options;
  CompilerContext *reading = nullptr;
  MLIRContext *context;
  Reporter reporter;
  TimingScope timing;
  TargetOptions target, hostTarget;    ///< the least; of plans for devices
  std::vector<TargetOptions> variants; ///< better processors, the best first
  std::optional<KernelCode> kernels;   ///< for the least processor
  std::vector<ProcessorCode> variantCodes;
  std::string compute; ///< int8, bf16 or f32
  Stage first = Stage::Import, last = Stage::LLVM;
  bool emitsArtifact = false, isCheck = false, widensBlocks = false;
  std::vector<std::string> gpus;
  std::optional<DeviceStage> lastOfDevice; ///< if that is what is asked for
  std::vector<std::unique_ptr<::fovea::manifest::DeviceT>> devices;
  std::vector<WeightList> variantWeights, deviceWeights;
  OwningOpRef<ModuleOp> source;
  ModuleOp module;
  function_ref<bool(ModuleOp, RecipeSource &)> atGraph;
  const Calibration *calibration = nullptr;
  std::unique_ptr<ArtifactWriter> writer;
  std::optional<FusionReport> fusion;
  std::optional<llvm::json::Object> quantized; ///< how many weights became what
  ::fovea::compile::Summary summary;
  int64_t vocabulary = 0;    ///< by the tables of tokens
  int64_t rounded = 0;       ///< linears that multiply bf16 and give f32
  int64_t quantizedRows = 0; ///< linears that quantise rows of their input
};

} // namespace

Outcome mlir::fovea::compileModule(ModuleOp module, const Options &options, const Log &log) {
  return Compilation(module, options, log).run();
}

Outcome mlir::fovea::checkRequest(const Options &options, const Log &log) {
  CompilerContext context(options.threads);
  return Compilation(context, options, log).checkRequest();
}

Outcome mlir::fovea::compileAsStored(const Options &options, const Log &log) {
  CompilerContext context(options.threads);
  Compilation compilation(context, options, log);
  compilation.widenBlocks();
  return compilation.run();
}

Outcome mlir::fovea::compileToGraph(const Options &options, const Log &log,
                                    function_ref<bool(ModuleOp, RecipeSource &)> visit) {
  CompilerContext context(options.threads);
  return Compilation(context, options, log).run(visit);
}

Outcome mlir::fovea::compileWith(const Calibration *calibration, const Options &options,
                                 const Log &log, ::fovea::compile::Summary *summary) {
  CompilerContext context(options.threads);
  Compilation compilation(context, options, log);
  compilation.setCalibration(calibration);
  Outcome outcome = compilation.run();
  if (summary)
    *summary = compilation.getSummary();
  return outcome;
}

namespace fovea::compile {

std::vector<std::string> getDeviceStageNames() { return {"threads", "nvvm", "ptx"}; }

std::vector<std::string> getGpuNames() {
  std::vector<std::string> names;
  for (const Level &level : getDeviceLevels())
    names.push_back(level.name.str());
  return names;
}

Outcome compile(const Options &options, const Log &log, Summary *summary) {
  return options.calibrate.empty() ? compileWith(/*calibration=*/nullptr, options, log, summary)
                                   : compileCalibrated(options, log, summary);
}

Outcome check(const std::string &model, artifact::FileAccess access, const Log &log,
              std::string &summary) {
  CompilerContext context(0);
  Reporter reporter(*context, log);
  bool sound = true;
  bool isOnnx = !listOnnxFiles(model).empty();
  if (isIrFile(model) || isOnnx) {
    (*context).allowUnregisteredDialects(); // to list what is of them
    OwningOpRef<ModuleOp> module = readSource(context, model, reporter, access, /*all=*/true);
    if (!module)
      return Outcome::InputFault;
    if (module->getOps<ProgramOp>().empty()) {
      Problems problems;
      checkModule(*module, model, getFolder(*module, model), access, problems);
      reporter.add(problems, /*all=*/true);
      sound = problems.empty();
    }
    if (sound) {
      (*context).allowUnregisteredDialects(false);
      Options options;
      options.model = model;
      options.access = access;
      options.emit = getStageName(Stage::Kernels).str();
      if (Outcome outcome = Compilation(*module, options, log).check(); outcome != Outcome::Done)
        return outcome;
    }
    summary = isOnnx ? "ONNX" : "IR";
  } else {
    std::optional<ModelDescription> description = readModel(model, reporter, access, /*all=*/true);
    sound = description.has_value();
    // The tokenizer's faults are listed with the others: its name does not depend on them.
    std::string tokenizer = ::fovea::findTokenizerFile(model);
    if (!tokenizer.empty())
      tokenizer = model + "/" + tokenizer;
    // Those of a file that is model and tokenizer have been told.
    if (isGgufFile(model) && description && description->tokenizer)
      tokenizer = model;
    if (!tokenizer.empty()) {
      Problems problems;
      std::vector<uint8_t> tables;
      sound &= compileTokenizer(tokenizer, tables, problems, access);
      reporter.add(problems, /*all=*/true);
    }
    if (description)
      summary =
          description->architecture + ", " + std::to_string(description->layers.size()) + " layers";
  }
  return sound ? Outcome::Done : Outcome::InputFault;
}

} // namespace fovea::compile

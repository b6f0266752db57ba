// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program through all stages, called twice: here, or on an emulated GPU.
#include "test/smith/Check.h"
#include "interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "test/grid/NativeProgram.h"
#include "test/grid/NoWeights.h"
#include "test/smith/Exact.h"
#include "test/smith/Random.h"
#include "tools/compile/CompileModule.h"
#include "tools/compile/FusionReport.h"
#include "tools/verify/Compare.h"
#include "tools/verify/RuntimeBackend.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <sstream>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

/// The largest part of the expected size that an element may be wrong by. f32 and f64 are held to
/// docs/design.md, section 9. Half precision: what rounding the result costs.
double boundOf(mlir::Type type) {
  if (type.isF16())
    return 0x1p-10;
  if (type.isBF16())
    return 0x1p-7;
  return type.isF64() ? 1e-9 : 2e-5;
}

} // namespace

//===-- Inputs -------------------------------------------------------------------------------===//

/// Values for an argument, as its recipe says. Null if the recipe is not understood.
static TensorRef makeInput(RankedTensorType type, ArrayRef<int64_t> shape,
                           const std::string &recipe, const ::fovea::smith::Program &program,
                           int call, ::fovea::smith::Random &random) {
  std::istringstream words(recipe);
  std::string kind;
  words >> kind;
  auto tensor = std::make_shared<Tensor>();
  tensor->shape.assign(shape.begin(), shape.end());
  tensor->isReal = isa<FloatType>(type.getElementType());
  int64_t count = countElements(shape), last = shape.empty() ? 1 : shape.back();
  (tensor->isReal ? (void)tensor->reals.resize(count) : (void)tensor->integers.resize(count));
  auto put = [&](int64_t i, double value) {
    if (tensor->isReal)
      tensor->reals[i] = roundToType(static_cast<float>(value), type.getElementType());
    else
      tensor->integers[i] = static_cast<int64_t>(value);
  };
  auto sizeOf = [&](const std::string &word) -> int {
    if (auto it = program.sizes.find(word); it != program.sizes.end())
      return call ? it->second.second : it->second.first;
    return std::atoi(word.c_str());
  };
  if (kind == "normal") {
    double scale = 1;
    words >> scale;
    for (int64_t i = 0; i < count; ++i)
      put(i, scale * random.normal());
  } else if (kind == "keep") {
    int percent = 50;
    std::string first;
    words >> percent >> first;
    for (int64_t i = 0; i < count; ++i)
      put(i, random.percent(percent) || (first == "first" && i % last == 0));
  } else if (kind == "upto") {
    std::string most;
    int least = 0;
    words >> most >> least;
    for (int64_t i = 0; i < count; ++i)
      put(i, least + random.below(std::max(1, sizeOf(most) - least + 1)));
  } else if (kind == "below") {
    std::string limit;
    words >> limit;
    for (int64_t i = 0; i < count; ++i)
      put(i, random.below(std::max(1, sizeOf(limit))));
  } else if (kind == "documents") {
    int documents = 2;
    words >> documents;
    int id = 0;
    for (int64_t i = 0; i < count; ++i) {
      id = i % last == 0
               ? random.below(2)
               : id + (random.percent(100 * documents / std::max<int64_t>(last, documents)));
      put(i, id);
    }
  } else {
    return nullptr;
  }
  return tensor;
}

//===-- The report ---------------------------------------------------------------------------===//

/// What is wrong with the mask kinds of all fused attentions together.
static std::string judgeMasks(const std::vector<std::string> &expected,
                              const std::set<std::string> &found) {
  std::set<std::string> allowed;
  bool isOpen = false, isMissing = false;
  for (StringRef word : expected) {
    isOpen |= word == "*";
    bool isOptional = word.consume_back("?");
    SmallVector<StringRef> kinds;
    word.split(kinds, '|');
    bool isThere = isOptional || word == "*";
    for (StringRef kind : kinds) {
      allowed.insert(kind.str());
      isThere |= found.count(kind.str()) > 0;
    }
    isMissing |= !isThere;
  }
  bool isForeign =
      !isOpen && llvm::any_of(found, [&](const std::string &kind) { return !allowed.count(kind); });
  if (!isMissing && !isForeign)
    return "";
  return "masks: expects " + llvm::join(expected, " ") + ", got " + llvm::join(found, " ");
}

static std::string judgeReport(const FusionReport &report, const ::fovea::smith::Program &program) {
  int fused = 0;
  std::string reasons;
  std::set<std::string> kinds;
  for (const llvm::json::Value &value : report.attention) {
    const llvm::json::Object &entry = *value.getAsObject();
    if (*entry.getString("status") == "fused") {
      ++fused;
      for (const llvm::json::Value &kind : *entry.getArray("masks"))
        kinds.insert(kind.getAsString()->str());
      continue;
    }
    if (entry.getString("reason")->empty())
      return "fusion: a softmax that is not fused has no reason";
    reasons += "; not fused: " + entry.getString("reason")->str();
  }
  if (program.fused < 0)
    return "";
  if (fused != program.fused)
    return llvm::formatv("fusion: expects {0} fused, got {1}{2}", program.fused, fused, reasons);
  if (program.fused && report.missed)
    return "fusion: a softmax is left over" + reasons;
  return program.fused ? judgeMasks(program.masks, kinds) : "";
}

//===-- Compiled code ------------------------------------------------------------------------===//

using Results = FailureOr<std::vector<RuntimeValue>>;
/// Call 0 or 1 of @forward. Fails after a diagnostic or with an error.
using Forward =
    std::function<Results(ArrayRef<RuntimeValue> arguments, int call, std::string &error)>;

/// For this processor; the second call in parts, as threads share the work. Null as
/// NativeProgram::compile.
static Forward compileHere(ModuleOp module, std::string &error) {
  std::shared_ptr<NativeProgram> program = NativeProgram::compile(module, error);
  if (!program)
    return nullptr;
  return [program](ArrayRef<RuntimeValue> arguments, int call, std::string &error) {
    return program->call("forward", arguments, call ? 3 : 1, error);
  };
}

/// For a GPU, on the emulator; the second call with asynchronous work as late as allowed. Null
/// after a diagnostic or with an error.
static Forward compileForDevice(ModuleOp module, const std::string &gpu, std::string &error) {
  ::fovea::compile::Options options;
  options.model = "program.mlir";
  options.gpu = gpu;
  options.threads = 1;
  SmallString<128> path;
  if (std::error_code fault = llvm::sys::fs::createTemporaryFile("fovea-smith", "fovea", path)) {
    error = "no place for an artifact: " + fault.message();
    return nullptr;
  }
  options.output = path.str().str();
  OwningOpRef<ModuleOp> copy(module.clone());
  auto keep = [&](::fovea::compile::Log::Severity severity, const std::string &message) {
    if (severity == ::fovea::compile::Log::Severity::Error)
      error = message;
  };
  if (compileModule(*copy, options, {keep, nullptr}) != ::fovea::compile::Outcome::Done)
    return nullptr;
  // Each opens the file; the last one removes it.
  std::array<std::shared_ptr<verify::Backend>, 2> devices;
  for (auto [device, name, ownsFile] :
       llvm::zip(devices, ArrayRef<StringRef>{"emulator", "emulator:late"},
                 ArrayRef<bool>{false, true})) {
    auto opened = verify::RuntimeBackend::open(module.getContext(), options.output, /*threads=*/1,
                                               name.str(), ownsFile);
    if (failed(opened))
      return nullptr;
    device = std::move(*opened);
  }
  return [devices](ArrayRef<RuntimeValue> arguments, int call, std::string &) -> Results {
    SmallVector<TensorRef> tensors;
    for (const RuntimeValue &value : arguments)
      tensors.push_back(std::get<TensorRef>(value));
    FailureOr<std::vector<TensorRef>> results = devices[call]->run("forward", tensors);
    if (failed(results))
      return failure();
    return std::vector<RuntimeValue>(results->begin(), results->end());
  };
}

//===-- Checker ------------------------------------------------------------------------------===//

namespace fovea::smith {

struct Checker::State {
  std::unique_ptr<MLIRContext> context = makeContext();
};

Checker::Checker() : state(std::make_unique<State>()) {}
Checker::~Checker() = default;

std::string Checker::check(const Program &program, const Trial &trial) {
  std::string diagnostics;
  ScopedDiagnosticHandler handler(state->context.get(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && diagnostics.size() < 500)
      diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program.text, state->context.get());
  if (!module)
    return "parse: " + diagnostics;
  auto entry = module->lookupSymbol<func::FuncOp>("forward");
  if (!entry || entry.getNumArguments() != program.inputs.size())
    return "parse: expects a function @forward with an argument for each line '// input:'";

  OwningOpRef<ModuleOp> graph(module->clone());
  PassManager passes(state->context.get());
  buildGraphPipeline(passes);
  if (failed(passes.run(*graph)))
    return "compile: " + diagnostics;
  FusionReport report = buildFusionReport(*graph);
  if (trial.raisesOnly)
    return judgeReport(report, program);

  // Widened before anything is changed.
  OwningOpRef<ModuleOp> exact(module->clone());
  makeExact(*exact);
  if (failed(mlir::verify(*exact)))
    return "reference: " + diagnostics;
  NoWeights weights;
  Interpreter reference(*exact, weights), rounded(*module, weights);
  FloatType rounding = getRounding(*module);

  std::string error;
  Forward forward =
      trial.gpu.empty() ? compileHere(*module, error) : compileForDevice(*module, trial.gpu, error);
  if (!forward)
    return "compile: " + (error.empty() ? diagnostics : error);

  for (int call : {0, 1}) {
    Random random(static_cast<uint64_t>(call) + 1, "inputs");
    std::vector<RuntimeValue> arguments;
    for (auto [i, argument] : llvm::enumerate(entry.getArguments())) {
      auto type = cast<RankedTensorType>(argument.getType());
      SmallVector<int64_t> shape(type.getShape());
      auto dims = entry.getArgAttrOfType<ArrayAttr>(i, "fovea.dims");
      size_t next = 0;
      for (int64_t &size : shape) {
        if (!ShapedType::isDynamic(size))
          continue;
        StringRef name =
            dims && next < dims.size() ? cast<StringAttr>(dims[next++]).getValue() : "";
        auto it = program.sizes.find(name.str());
        if (it == program.sizes.end())
          return "parse: no line '// size:' for '" + name.str() + "'";
        size = call ? it->second.second : it->second.first;
      }
      TensorRef value = makeInput(type, shape, program.inputs[i].second, program, call, random);
      if (!value)
        return "parse: input '" + program.inputs[i].second + "' is not understood";
      arguments.push_back(value);
    }
    Results expected = reference.call("forward", arguments);
    if (failed(expected))
      return "reference: " + diagnostics;
    std::vector<RuntimeValue> literal = *expected;
    if (rounding) {
      Results values = rounded.call("forward", arguments);
      if (failed(values))
        return "reference: " + diagnostics;
      literal = *values;
    }
    Results found = forward(arguments, call, error);
    if (failed(found))
      return "fault: " + (error.empty() ? diagnostics : error);
    for (unsigned i = 0; i < entry.getNumResults(); ++i) {
      const Tensor &want = *std::get<TensorRef>((*expected)[i]);
      mlir::Type type = getElementTypeOrSelf(entry.getResultTypes()[i]);
      // Half precision may be as wrong as the program is when each of its ops rounds; some of its
      // errors cancel each other, and need not where other ops round: a processor that multiplies
      // and adds halves at once rounds half as often. What is widened afterwards is as coarse.
      mlir::fovea::verify::Difference own = mlir::fovea::verify::compare(
          *std::get<TensorRef>(literal[i]), want, mlir::fovea::verify::Norm::Whole);
      mlir::fovea::verify::Difference difference = mlir::fovea::verify::compare(
          *std::get<TensorRef>((*found)[i]), want, mlir::fovea::verify::Norm::Whole);
      double bound = boundOf(type);
      if (rounding)
        bound = std::max(bound, boundOf(rounding)) + 3 * own.error;
      if (!(difference.error <= bound))
        return llvm::formatv(
            "numbers: result {0} of call {1} differs by {2:e2} at {3}, allowed {4:e2}; {5}", i,
            call + 1, difference.error, difference.where, bound, judgeReport(report, program));
    }
  }
  return judgeReport(report, program);
}

} // namespace fovea::smith

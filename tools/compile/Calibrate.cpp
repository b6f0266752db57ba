// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header. The sums of what linears read take the square of their inputs in memory, so the
// text is run again for each group of matrices that there is room for. Refuses models whose entry
// for whole rows takes more than tokens; matrices that are not met, in branches and loops, are
// rounded as without it.
#include "tools/compile/Calibrate.h"
#include "mlir/IR/Threading.h"
#include "passes/Passes.h"
#include "tools/compile/CalibrationTexts.h"
#include "tools/verify/RuntimeBackend.h"
#include "weights/Calibrate.h"
#include "weights/Rounding.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace ::fovea::compile;

namespace {

/// A matrix that would be int4, and what it lost.
struct Matrix {
  std::string name;
  Attribute recipe; ///< of f32
  int64_t rows, inputs;
  CalibratedWeight rounded;
  double loss = 0; ///< of its outputs, relative to their energy
  int64_t size() const { return rows * inputs; }
  bool isMet() const { return !rounded.codes.empty(); }
};

/// An artifact that nobody keeps.
class TemporaryArtifact {
public:
  TemporaryArtifact() : file(verify::openUnnamed()) {}
  TemporaryArtifact(const TemporaryArtifact &) = delete;
  ~TemporaryArtifact() {
    if (file >= 0)
      ::close(file);
  }
  bool isOpen() const { return file >= 0; }
  std::string getPath() const { return "/proc/self/fd/" + std::to_string(file); }

private:
  int file;
};

class Calibrator {
public:
  Calibrator(const Options &options, const Log &log) : options(options), log(log) {
    quiet.message = [&log](Log::Severity severity, const std::string &text) {
      if (severity == Log::Severity::Error)
        log.message(severity, text);
    };
    quiet.progress = [&log](const std::string &phase, double part) {
      log.progress("calibrating: " + phase, part);
    };
  }

  Outcome run(Summary *summary) {
    if (options.dtype != "int4")
      return refuse("expects --dtype=int4 beside it, got --dtype=" + options.dtype);
    if (!options.fromStage.empty() && options.fromStage != "import")
      return refuse("linears are run after the import stage, got IR of " + options.fromStage);
    if (options.emit == "import")
      return refuse("changes nothing of the import stage; leave it out");
    // What can be refused is refused before anything takes time.
    std::string text, error;
    if (!readCalibrationText(options.calibrate, text, error))
      return refuse(error);
    if (Outcome outcome = checkRequest(options, log); outcome != Outcome::Done)
      return outcome;
    if (Outcome outcome = measure(text); outcome != Outcome::Done)
      return outcome;
    if (options.emit != "fovea" && options.emit != "obj" && options.emit != "asm")
      note("the IR names weights of a file '" + kCalibratedFile.str() +
           "', which is not written; an artifact holds them");
    return compileWith(&calibration, options, log, summary);
  }

private:
  /// All but the compilation that is asked for, with what it needs alone left.
  Outcome measure(const std::string &text) {
    TemporaryArtifact observed;
    if (Outcome outcome = observe(observed, text); outcome != Outcome::Done)
      return outcome;
    Options graph = options;
    graph.emit = "graph";
    graph.report.clear();
    graph.dumpFolder.clear();
    Outcome outcome = compileToGraph(graph, quiet, [&](ModuleOp module, RecipeSource &source) {
      return calibrate(module, source);
    });
    if (outcome == Outcome::Done)
      outcome = tellLoss();
    model.reset();
    return outcome;
  }

  Outcome refuse(const std::string &text) {
    log.message(Log::Severity::Error, options.model + ": --calibrate: " + text);
    return Outcome::InputFault;
  }

  /// The same while a compilation runs, whose error it is then.
  static bool fail(MLIRContext *context, const std::string &text) {
    emitError(UnknownLoc::get(context)) << "--calibrate: " << text;
    return false;
  }

  void note(const std::string &text) { log.message(Log::Severity::Note, "--calibrate: " + text); }

  /// For this machine, and for nothing but being run.
  Options makeTrial(const TemporaryArtifact &artifact) const {
    Options trial;
    trial.model = options.model;
    trial.tokenizer = options.tokenizer;
    trial.access = options.access;
    trial.threads = options.threads;
    trial.kernelFolder = options.kernelFolder;
    trial.commandLine = options.commandLine;
    trial.output = artifact.getPath();
    return trial;
  }

  std::unique_ptr<TextRunner> open(const TemporaryArtifact &artifact, std::string &error) const {
    return TextRunner::open(artifact.getPath(), static_cast<int>(options.threads), error);
  }

  Outcome refuseArtifact(const TemporaryArtifact &artifact) {
    return artifact.isOpen() ? Outcome::Done
                             : refuse(std::string("expects a place for temporary artifacts: ") +
                                      std::strerror(errno));
  }

  /// The model as it is, and what its linears read.
  Outcome observe(const TemporaryArtifact &observed, const std::string &text) {
    if (Outcome outcome = refuseArtifact(observed); outcome != Outcome::Done)
      return outcome;
    Options trial = makeTrial(observed);
    trial.compute = "f32";
    trial.cache = "source";
    trial.probes = {"inputs"};
    Log beginning = quiet; // which says what is missing in the words of another option
    beginning.message = [this](Log::Severity severity, const std::string &text) {
      constexpr llvm::StringLiteral kProbe = "--probe: ";
      std::string told = text;
      if (size_t at = told.find(kProbe); at != std::string::npos)
        told.replace(at, kProbe.size(), "--calibrate: ");
      quiet.message(severity, told);
    };
    if (Outcome outcome = compileAsStored(trial, beginning); outcome != Outcome::Done)
      return outcome;
    std::string error;
    std::vector<RunResult> results;
    model = open(observed, error);
    if (!model || !texts.cut(options.calibrate, text, *model, error))
      return refuse(error);
    if (model->getForward().empty())
      return refuse("expects an entry of kind forward, or one entry");
    // Before hours are spent, both entries once.
    for (const std::string &entry : {std::string(kLinearInputs), model->getForward()})
      if (!model->run(entry, texts.heldOut.front().ids, results, error))
        return refuse(error);
    return Outcome::Done;
  }

  /// All that would be int4.
  static std::vector<Matrix> findMatrices(ModuleOp module) {
    std::vector<Matrix> matrices;
    for (auto weight : module.getOps<WeightOp>()) {
      auto recipe = dyn_cast<QuantizeAttr>(weight.getRecipe());
      if (!recipe || !recipe.getElementType().isInteger(4))
        continue;
      RankedTensorType type = weight.getWeightType();
      Attribute input = recipe.getInput();
      if (!getTypeOfRecipe(input).getElementType().isF32())
        input = CastAttr::get(module.getContext(), input, Float32Type::get(module.getContext()));
      std::string name = weight.getSymName().str();
      matrices.push_back({name, input, type.getDimSize(0), type.getDimSize(1), {name, {}, {}}});
    }
    return matrices;
  }

  bool calibrate(ModuleOp module, RecipeSource &source) {
    std::vector<Matrix> matrices = findMatrices(module);
    if (matrices.empty())
      return fail(module.getContext(),
                  "expects matrices that --dtype=int4 makes smaller, got none");
    MutableArrayRef<Matrix> left(matrices);
    while (!left.empty()) {
      // What sums and one factor of a group may take.
      constexpr uint64_t kMostBytes = uint64_t(4) << 30;
      uint64_t bytes = 0;
      size_t count = 0;
      for (; count < left.size(); ++count) {
        bytes += static_cast<uint64_t>(left[count].inputs * left[count].inputs) * sizeof(float);
        if (count > 0 && bytes > kMostBytes)
          break;
      }
      if (!calibrate(left.take_front(count), module.getContext(), source,
                     matrices.size() - left.size(), matrices.size()))
        return false;
      left = left.drop_front(count);
    }
    if (llvm::all_of(matrices, [](const Matrix &matrix) { return !matrix.isMet(); }))
      return fail(module.getContext(), "expects linears in the entry '" + model->getForward() +
                                           "', outside of branches and loops, whose inputs are "
                                           "f32, found none");
    choose(matrices);
    return true;
  }

  /// The matrices of one group, of which `done` of `total` stand before it.
  bool calibrate(MutableArrayRef<Matrix> matrices, MLIRContext *context, RecipeSource &source,
                 size_t done, size_t total) {
    std::map<std::string, InputMoments> moments;
    for (Matrix &matrix : matrices)
      moments.try_emplace(matrix.name, matrix.inputs);
    if (!addInputs(moments, context))
      return false;
    for (Matrix &matrix : matrices) {
      log.progress("calibrating: rounding weights", double(done++) / double(total));
      auto it = moments.find(matrix.name);
      InputMoments sums = std::move(it->second);
      moments.erase(it);
      if (sums.getCount() > 0 &&
          !round(matrix, InputFactor(context, std::move(sums)), context, source))
        return false;
    }
    return true;
  }

  /// Runs the texts, and sums what the linears of these weights read.
  bool addInputs(std::map<std::string, InputMoments> &moments, MLIRContext *context) {
    // Rows of short texts together, so that a sum is worth reading and writing.
    constexpr size_t kRows = 512;
    std::map<std::string, std::vector<float>> rows;
    std::string error;
    auto add = [&](const std::string &name, InputMoments &sums) {
      std::vector<float> &numbers = rows[name];
      if (!sums.add(context, numbers))
        error = "what the linear of '" + name + "' reads is not finite";
      numbers.clear();
      return error.empty();
    };
    for (const auto &[number, piece] : llvm::enumerate(texts.observed)) {
      log.progress("calibrating: running the text", double(number) / double(texts.observed.size()));
      std::vector<RunResult> results;
      if (!model->run(kLinearInputs, piece.ids, results, error))
        return fail(context, error);
      for (const RunResult &result : results) {
        // The weight's name, and a number.
        std::string name = result.name.substr(0, result.name.rfind('_'));
        auto it = moments.find(name);
        if (it == moments.end() || it->second.getInputs() != result.width)
          continue;
        std::vector<float> &numbers = rows[name];
        numbers.insert(numbers.end(), result.data, result.data + result.rows * result.width);
        if (numbers.size() >= kRows * static_cast<size_t>(result.width) && !add(name, it->second))
          return fail(context, error);
      }
    }
    for (auto &[name, sums] : moments)
      if (!rows[name].empty() && !add(name, sums))
        return fail(context, error);
    return true;
  }

  /// A weight's rows, several slices at a time.
  bool round(Matrix &matrix, const InputFactor &factor, MLIRContext *context,
             RecipeSource &source) {
    constexpr int64_t kSlice = 256;
    int64_t inCodes = matrix.inputs / 2, inScales = matrix.inputs / kInt4Group * 2;
    CalibratedWeight &rounded = matrix.rounded;
    rounded.codes.resize(matrix.rows * inCodes);
    rounded.scales.resize(matrix.rows * inScales);
    auto slices = static_cast<size_t>(llvm::divideCeilSigned(matrix.rows, kSlice));
    std::vector<CalibrationLoss> losses(slices);
    std::atomic<bool> isRead = true, isFinite = true;
    parallelFor(context, 0, slices, [&](size_t slice) {
      int64_t first = static_cast<int64_t>(slice) * kSlice;
      int64_t count = std::min(kSlice, matrix.rows - first);
      std::vector<float> rows(count * matrix.inputs);
      if (failed(evaluateRows(cast<RecipeAttrInterface>(matrix.recipe), source, first, count,
                              reinterpret_cast<char *>(rows.data())))) {
        isRead = false;
        return;
      }
      if (!factor.quantize(
              rows.data(), count,
              {rounded.codes.data() + first * inCodes, rounded.scales.data() + first * inScales},
              losses[slice]))
        isFinite = false;
    });
    if (!isRead) // which has been reported
      return false;
    if (!isFinite)
      return fail(context, "expects finite weights within 65504 to quantise, got others in '" +
                               matrix.name + "'");
    // In order, so that the choice does not depend on the threads.
    CalibrationLoss all;
    for (const CalibrationLoss &loss : losses) {
      all.lost += loss.lost;
      all.energy += loss.energy;
    }
    matrix.loss = all.energy > 0 ? all.lost / all.energy : 0;
    return true;
  }

  /// Which matrices become int8: of those that lose most, as many as the budget has room for.
  void choose(std::vector<Matrix> &matrices) {
    std::vector<Matrix *> met;
    int64_t all = 0, wide = 0;
    for (Matrix &matrix : matrices) {
      all += matrix.size();
      if (matrix.isMet())
        met.push_back(&matrix);
    }
    llvm::sort(met, [](Matrix *a, Matrix *b) {
      return a->loss != b->loss ? a->loss > b->loss : a < b; // which are in one array
    });
    auto budget = static_cast<int64_t>(std::llround(options.int8Share * static_cast<double>(all)));
    double most = 0;
    for (Matrix *matrix : met)
      if (wide + matrix->size() <= budget) {
        wide += matrix->size();
        calibration.wide.push_back(matrix->name);
      } else {
        most = std::max(most, matrix->loss);
        calibration.weights.push_back(std::move(matrix->rounded));
      }
    std::string losses;
    if (!calibration.weights.empty())
      losses =
          llvm::formatv("; the others lose {0:f3} % of their outputs' energy at most", 100 * most)
              .str();
    note(llvm::formatv("{0} matrices are rounded by {1} tokens of {2}; {3} of those that lose most "
                       "stay int8, {4:f1} % of the numbers{5}",
                       calibration.weights.size(), texts.observedTokens, options.calibrate,
                       calibration.wide.size(),
                       100 * static_cast<double>(wide) / static_cast<double>(all), losses)
             .str());
    if (size_t unmet = matrices.size() - met.size()) {
      const auto *first = llvm::find_if(ArrayRef(matrices), [&](const Matrix &matrix) {
        return !llvm::is_contained(met, &matrix);
      });
      note(llvm::formatv("{0} matrices whose inputs are not seen, as in branches and loops, are "
                         "rounded as without a text; the first is '{1}'",
                         unmet, first->name)
               .str());
    }
    if (texts.observedTokens < 2048)
      note(llvm::formatv("{0} tokens say little of what linears read; some thousands are better",
                         texts.observedTokens)
               .str());
  }

  /// Of pieces that were not observed: what the model makes of them as it is, in int4 by its
  /// weights alone, and calibrated.
  Outcome tellLoss() {
    std::string error;
    TextComparison before, after;
    for (bool isCalibrated : {false, true}) {
      TemporaryArtifact artifact;
      if (Outcome outcome = refuseArtifact(artifact); outcome != Outcome::Done)
        return outcome;
      Options trial = makeTrial(artifact);
      trial.dtype = "int4";
      trial.compute = chooseCompute(options, /*hasBlocks=*/false);
      Outcome outcome = compileWith(isCalibrated ? &calibration : nullptr, trial, quiet,
                                    /*summary=*/nullptr);
      if (outcome != Outcome::Done)
        return outcome;
      log.progress("calibrating: measuring what is lost", -1);
      std::unique_ptr<TextRunner> runner = open(artifact, error);
      if (!runner ||
          !compareOnTexts(*model, *runner, texts.heldOut, isCalibrated ? after : before, error))
        return refuse(error);
    }
    if (before.tokens > 0)
      note(llvm::formatv(
               "of {0} tokens that were held out: divergence {1:f5} in int4, {2:f5} "
               "calibrated; perplexity {3:f3} as stored, {4:f3} in int4, {5:f3} calibrated",
               before.tokens, before.divergence, after.divergence, std::exp(before.referenceLoss),
               std::exp(before.loss), std::exp(after.loss))
               .str());
    else
      note(llvm::formatv("cosine to the model as stored, of {0} texts that were held out: {1:f4} "
                         "in int4 ({2:f4} at least), {3:f4} calibrated ({4:f4})",
                         before.texts, before.meanCosine, before.leastCosine, after.meanCosine,
                         after.leastCosine)
               .str());
    return Outcome::Done;
  }

  const Options &options;
  const Log &log;
  Log quiet; ///< of compilations that are no end in themselves: errors alone
  std::unique_ptr<TextRunner> model; ///< as it is stored
  CalibrationTexts texts;
  Calibration calibration;
};

} // namespace

Outcome mlir::fovea::compileCalibrated(const Options &options, const Log &log, Summary *summary) {
  return Calibrator(options, log).run(summary);
}

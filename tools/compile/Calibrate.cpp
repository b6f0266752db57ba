// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header. The sums of what linears read take the square of their inputs in memory, so the
// text is run again for each group of matrices that there is room for. Refuses models whose entry
// `forward` takes more than tokens; matrices that the text does not meet, in branches and loops,
// are rounded as without it.
#include "tools/compile/Calibrate.h"
#include "mlir/IR/Threading.h"
#include "passes/Passes.h"
#include "tools/compile/CalibrationTexts.h"
#include "tools/verify/RuntimeBackend.h"
#include "weights/Calibrate.h"
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
    if (!observed.isOpen() || !plain.isOpen() || !calibrated.isOpen())
      return refuse(std::string("expects a place for temporary artifacts: ") +
                    std::strerror(errno));
    if (Outcome outcome = observe(); outcome != Outcome::Done)
      return outcome;
    Options graph = options;
    graph.emit = "graph";
    Outcome outcome = compileToGraph(graph, quiet, [&](ModuleOp module, RecipeSource &source) {
      return calibrate(module, source);
    });
    if (outcome != Outcome::Done)
      return outcome;
    if (Outcome outcome = tellLoss(); outcome != Outcome::Done)
      return outcome;
    return compileWith(calibration, options, log, summary);
  }

private:
  Outcome refuse(const std::string &text) {
    log.message(Log::Severity::Error, options.model + ": --calibrate: " + text);
    return Outcome::InputFault;
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

  /// The model as it is, and what its linears read.
  Outcome observe() {
    Options trial = makeTrial(observed);
    trial.compute = "f32";
    trial.cache = "source";
    trial.probes = {"inputs"};
    if (Outcome outcome = ::fovea::compile::compile(trial, quiet); outcome != Outcome::Done)
      return outcome;
    std::string error;
    model = open(observed, error);
    if (!model || !texts.read(options.calibrate, *model, error))
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
    if (matrices.empty()) {
      (void)refuse("expects matrices that --dtype=int4 makes smaller, got none");
      return false;
    }
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
      if (sums.getCount() == 0) {
        calibration.unmet.push_back(matrix.name);
        continue;
      }
      if (!round(matrix, InputFactor(context, std::move(sums)), context, source))
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
      if (!model->run("linear_inputs", piece.ids, results, error))
        return refuse(error) == Outcome::Done;
      for (const RunResult &result : results) {
        // The weight's name, and a number.
        std::string name = result.name.substr(0, result.name.rfind('_'));
        auto it = moments.find(name);
        if (it == moments.end() || it->second.getInputs() != result.width)
          continue;
        std::vector<float> &numbers = rows[name];
        numbers.insert(numbers.end(), result.data, result.data + result.rows * result.width);
        if (numbers.size() >= kRows * static_cast<size_t>(result.width) && !add(name, it->second))
          return refuse(error) == Outcome::Done;
      }
    }
    for (auto &[name, sums] : moments)
      if (!rows[name].empty() && !add(name, sums))
        return refuse(error) == Outcome::Done;
    return true;
  }

  /// A weight's rows, several slices at a time.
  bool round(Matrix &matrix, const InputFactor &factor, MLIRContext *context,
             RecipeSource &source) {
    constexpr int64_t kSlice = 256;
    int64_t inCodes = matrix.inputs / 2, inScales = matrix.inputs / 32 * 2;
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
      return refuse("expects finite weights within 65504 to quantise, got others in '" +
                    matrix.name + "'") == Outcome::Done;
    // In order, so that the choice does not depend on the threads.
    CalibrationLoss all;
    for (const CalibrationLoss &loss : losses) {
      all.lost += loss.lost;
      all.energy += loss.energy;
    }
    matrix.loss = all.energy > 0 ? all.lost / all.energy : 0;
    return true;
  }

  /// Which matrices become int8: those that lose most, as far as the budget goes.
  void choose(std::vector<Matrix> &matrices) {
    std::vector<Matrix *> met;
    int64_t all = 0, wide = 0;
    for (Matrix &matrix : matrices) {
      all += matrix.rows * matrix.inputs;
      if (!matrix.rounded.codes.empty())
        met.push_back(&matrix);
    }
    llvm::sort(met, [](Matrix *a, Matrix *b) {
      return a->loss != b->loss ? a->loss > b->loss : a < b; // which are in one array
    });
    auto budget = static_cast<int64_t>(std::llround(options.int8Share * static_cast<double>(all)));
    for (Matrix *matrix : met) {
      int64_t size = matrix->rows * matrix->inputs;
      if (wide + size <= budget) {
        wide += size;
        calibration.wide.push_back(matrix->name);
      } else {
        calibration.weights.push_back(std::move(matrix->rounded));
      }
    }
    std::string losses;
    if (calibration.wide.size() < met.size())
      losses = llvm::formatv("; the others lose {0:f3} % of their outputs' energy at most",
                             100 * met[calibration.wide.size()]->loss)
                   .str();
    note(llvm::formatv("{0} matrices are rounded by {1} tokens of {2}, {3} that lose most stay "
                       "int8, {4:f1} % of the numbers{5}",
                       calibration.weights.size(), texts.observedTokens, options.calibrate,
                       calibration.wide.size(),
                       100 * static_cast<double>(wide) / static_cast<double>(all), losses)
             .str());
    if (!calibration.unmet.empty())
      note(llvm::formatv("{0} matrices that the text does not meet are rounded as without it, the "
                         "first is '{1}'",
                         calibration.unmet.size(), calibration.unmet.front())
               .str());
    if (texts.observedTokens < 2048)
      note(llvm::formatv("{0} tokens say little of what linears read; some thousands are better",
                         texts.observedTokens)
               .str());
  }

  /// Of pieces that were not observed: what the model makes of them as it is, in int4 by its
  /// weights alone, and calibrated.
  Outcome tellLoss() {
    Options trial = makeTrial(plain);
    trial.dtype = "int4";
    trial.compute = options.compute;
    if (Outcome outcome = ::fovea::compile::compile(trial, quiet); outcome != Outcome::Done)
      return outcome;
    trial.output = calibrated.getPath();
    if (Outcome outcome = compileWith(calibration, trial, quiet, nullptr); outcome != Outcome::Done)
      return outcome;
    std::string error;
    TextComparison before, after;
    for (auto [artifact, found] : {std::pair(&plain, &before), std::pair(&calibrated, &after)}) {
      std::unique_ptr<TextRunner> runner = open(*artifact, error);
      log.progress("calibrating: measuring what is lost", -1);
      if (!runner || !compareOnTexts(*model, *runner, texts.heldOut, *found, error))
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
  TemporaryArtifact observed, plain, calibrated;
  std::unique_ptr<TextRunner> model; ///< of `observed`
  CalibrationTexts texts;
  Calibration calibration;
};

} // namespace

Outcome mlir::fovea::compileCalibrated(const Options &options, const Log &log, Summary *summary) {
  return Calibrator(options, log).run(summary);
}

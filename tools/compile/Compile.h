// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a model to an artifact, for the command line and for tests. Nothing of MLIR shows here, so
// that programs with exceptions can use it.
#ifndef FOVEA_TOOLS_COMPILE_COMPILE_H
#define FOVEA_TOOLS_COMPILE_COMPILE_H

#include "artifact/FileView.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fovea::compile {

/// Exit codes of the command line; docs/rationale/driver.md says which means what.
enum class Outcome {
  Done = 0,
  InputFault = 1, ///< the input is at fault, or a promise is not kept
  OurFault = 70,  ///< the compiler is; a reproducer is written
};

/// Where messages and progress go. Called by one thread at a time.
struct Log {
  enum class Severity { Error, Note };
  /// One message, without a line end: "FILE: PLACE: what was found and expected".
  std::function<void(Severity, const std::string &)> message;
  /// What is being done, and how much of it, 0 to 1; negative: not known.
  std::function<void(const std::string &phase, double part)> progress;
};

/// Of files with code of kernels.
inline constexpr char kKernelEnding[] = ".o";

struct Options {
  /// A Hugging Face folder, or a .mlir file of any stage.
  std::string model;
  /// The stage that a .mlir file holds; empty: import.
  std::string fromStage;
  /// Processors with commas between: host, LLVM's names, or portable, one of each level of
  /// instructions. The artifact has code for each.
  std::string target = "host";
  /// 2: the best. 1: made in half the time: code of processors that LLVM does not optimise, and PTX
  /// of GPUs, which their driver assembles. 0: made in a quarter: the same as scalar loops.
  unsigned optimization = 2;
  /// none, all, or architectures of GPUs with commas between: sm_80, sm_90a.
  std::string gpu = "none";
  /// source, f32, bf16, int8 or int4: the element type of weights; of the last two only of those
  /// that linears alone multiply by.
  std::string dtype = "source";
  /// With int4, a text that says what linears read: their weights are rounded by that; empty: none.
  std::string calibrate;
  /// Then, the share of their numbers that may stay int8, where int4 loses most.
  double int8Share = 0.125;
  /// What linears multiply whose weights have no more bits than bf16: f32; bf16; int8, which is
  /// rows of integers by weights of integers, and else bf16; or auto: int8 where the target
  /// multiplies both faster.
  std::string compute = "auto";
  /// The element type of the keys and values that entries keep: source, f32, bf16; int8, with a
  /// scale for each position and head; or auto: bf16 where linears multiply bf16 or integers, else
  /// source.
  std::string cache = "auto";
  /// attention, masks, positions, inputs: what entries are added to see.
  std::vector<std::string> probes;
  /// fovea, obj, asm, a stage or a device's stage: what is written to `output`.
  std::string emit = "fovea";
  /// "-": standard output, but for an artifact.
  std::string output;
  std::string tokenizer; ///< a file or folder; empty: what the model names
  /// A folder for one file a stage; empty: none.
  std::string dumpFolder;
  /// A file for the report; empty: none.
  std::string report;
  bool requireFusion = false;
  /// How the model's files are read.
  artifact::FileAccess access = artifact::FileAccess::Mapped;
  /// Threads to compile with; 0: as many as the machine has.
  unsigned threads = 0;
  /// A folder with code of kernels from earlier compilations, and for later ones; empty: none.
  std::string kernelFolder;
  /// As the user typed it, for the reproducer.
  std::string commandLine;
};

/// int8, bf16 or f32: what `auto` is for the target. `hasBlocks`: weights of the source are
/// integers in blocks. A GPU multiplies bf16, and has one graph with the processor.
std::string chooseCompute(const Options &options, bool hasBlocks);

/// Names of the stages in their order: import, graph, ...
std::vector<std::string> getStageNames();
/// What Options::probes may name.
std::vector<std::string> getProbeNames();
/// Those of a GPU's code that are not the CPU's: threads, nvvm, ptx.
std::vector<std::string> getDeviceStageNames();
/// Architectures that --gpu takes, the best known first.
std::vector<std::string> getGpuNames();

/// The version of LLVM that is linked, and what it calls this machine's processor.
std::string getCompilerVersion();
std::string getHostName();

/// From now on this program ends with one message and code 1, leaving nothing half written, where
/// there is no memory or no thread for it. LLVM alone would end it by a signal.
void endOnExhaustion();
/// Whether there is hardly any memory left. A stack that cannot grow is a crash like any other.
bool isMemoryExhausted();
/// Removes outputs that are not whole; for a handler of signals. Handlers that are set after
/// endOnExhaustion() stay.
void removeHalfWritten();

/// What a compilation made, in numbers.
struct Summary {
  size_t attentions = 0; ///< in one run of each entry, as the report lists them
  size_t fused = 0;      ///< of these
  size_t kernels = 0;    ///< of the least processor's code; 0 unless an artifact was written
  size_t fallbacks = 0;  ///< kernels that are plain loops
  size_t known = 0;      ///< kernels whose code was in Options::kernelFolder
};

/// Compiles. On any other outcome than Done exactly one error has been reported, and nothing is
/// left of the output.
Outcome compile(const Options &options, const Log &log, Summary *summary = nullptr);

/// Reports all that is unsupported in a model, each as an error, at once. `summary` says what the
/// model is, if it can be compiled.
Outcome check(const std::string &model, artifact::FileAccess access, const Log &log,
              std::string &summary);

struct VerifyOptions {
  std::string against; ///< an .npz file with inputs and expected outputs; empty: inputs are made up
  bool json = false;
  bool quiet = false;
  int threads = 0;            ///< to run with; 0: as many as the machine has
  std::string device = "cpu"; ///< where to run, as the runtime names it
  uint64_t seed = 1;
  std::vector<int64_t> lengths;   ///< of made-up inputs; empty: chosen
  std::vector<std::string> sizes; ///< NAME=SIZE, of open dimensions
  /// The model that `options.model`, an artifact then, was compiled from.
  std::string source;
};

/// Compares compiled code with the reference interpreter; the table goes to standard output. The
/// exit code.
int verify(const Options &options, const VerifyOptions &how, const Log &log);

/// A name for the artifact that these options give: a hash of all that it depends on, the compiler
/// itself included. False after an error has been reported.
bool hashContent(const Options &options, const Log &log, std::string &hash);

/// Takes MLIR's own flags (--mlir-...). False after printing what is wrong to standard error.
bool parseMlirFlags(const std::vector<std::string> &flags);

} // namespace fovea::compile

#endif // FOVEA_TOOLS_COMPILE_COMPILE_H

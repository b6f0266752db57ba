// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea compile` and `fovea check`, and the options that say how to compile.
#include "artifact/Format.h"
#include "frontend/ForeignFile.h"
#include "tools/fovea/ModelCache.h"
#include "tools/fovea/Terminal.h"
#include "tools/fovea/Verbs.h"
#include "tools/verbs/Common.h"
#include "tools/verbs/CutFiles.h"
#include "tools/verbs/Numbers.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

namespace fovea {

static std::vector<std::string> emitKinds() {
  std::vector<std::string> kinds = {"fovea", "obj", "asm"};
  for (const std::string &stage : compile::getStageNames())
    kinds.push_back(stage);
  for (const std::string &stage : compile::getDeviceStageNames())
    kinds.push_back(stage);
  return kinds;
}

static std::string expectsModel(const std::string &model, const std::string &found) {
  return model +
         ": expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got " +
         found;
}

bool refuseForeign(const std::string &model, Session &session) {
  if (isModel(model))
    return false;
  std::string found = describeForeignFile(model);
  if (found.empty())
    return false;
  Terminal().error(expectsModel(model, found));
  session.exitCode = 1;
  return true;
}

/// Their heading in --help, by which they are known.
static const char *const kCompileGroup = "How a MODEL is compiled";

std::string findVainOptions(const CLI::App &verb, const std::string &file, const std::string &but) {
  std::vector<const CLI::Option *> given = verb.get_options([&](const CLI::Option *option) {
    return option->get_group() == kCompileGroup && option->count() > 0 && option->get_name() != but;
  });
  if (given.empty() || !artifact::isArtifactFile(file))
    return "";
  std::string names;
  for (const CLI::Option *option : given)
    names += (names.empty() ? "" : option == given.back() ? " and " : ", ") + option->get_name();
  bool isOne = given.size() == 1;
  return file + ": is compiled already, " + names + (isOne ? " changes" : " change") +
         " nothing; give " + (isOne ? "it" : "them") +
         " to `fovea compile`, or to this verb with the model";
}

void addCompileOptions(CLI::App &verb, compile::Options &options) {
  CLI::OptionDefaults before = *verb.option_defaults();
  verb.option_defaults()->group(kCompileGroup);
  verb.add_option(
          "--target", options.target,
          "processors to compile for, with commas between: host; a name of LLVM's (x86-64, "
          "x86-64-v3, x86-64-v4, sapphirerapids, znver5, neoverse-n2, ...); any with aarch64, "
          "aarch64-dotprod or aarch64-i8mm; portable, which is one of each kind of vectors from "
          "SSE2 to AMX; or aarch64-portable. The best that a machine has is run")
      ->capture_default_str();
  verb.add_option(
          "-O", options.optimization,
          "optimization: 2; 1, which compiles in half the time to code that takes several "
          "times as long, a GPU's being left to its driver as PTX; or 0, half of that time, "
          "to scalar loops")
      ->check(CLI::Range(0u, 2u))
      ->capture_default_str();
  verb.add_option(
          "--gpu", options.gpu,
          "code for GPUs too: none, all, or architectures with commas between (sm_80, sm_90a)")
      ->capture_default_str();
  verb.add_option(
          "--dtype", options.dtype,
          "element type of the weights: as stored (source), cast (f32, bf16), or matrices of "
          "linears as integers with scales: int8, one for each output, a quarter of f32; "
          "int4, one for each 32 inputs, a seventh, less exact")
      ->check(CLI::IsMember({"source", "f32", "bf16", "int8", "int4"}))
      ->capture_default_str();
  CLI::Option *calibrate = verb.add_option(
      "--calibrate", options.calibrate,
      "with --dtype=int4, a text like those that the model will read: it is run on "
      "some thousand tokens of the file, weights are rounded by what they meet there "
      "(GPTQ), and what that costs is told by text that was held out. Of an encoder "
      "each line is a text");
  verb.add_option("--int8-share", options.int8Share,
                  "with --calibrate, the share of the numbers that may stay int8, where int4 loses "
                  "most: 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(calibrate)
      ->capture_default_str();
  verb.add_option(
          "--compute", options.compute,
          "what linears multiply whose weights are bf16, int8 or int4: f32; bf16, with sums and "
          "all "
          "else in f32; int8, which quantises each row of inputs where weights are integers, and "
          "is bf16 elsewhere; or auto, int8 where the target multiplies these faster")
      ->check(CLI::IsMember({"auto", "int8", "bf16", "f32"}))
      ->capture_default_str();
  verb.add_option(
          "--cache", options.cache,
          "element type of the keys and values that are kept while a text grows: f32; bf16, "
          "half of its memory; int8 with a scale for each position and head, a quarter; as "
          "the model's entries say (source, which is f32 for checkpoints); or auto, bf16 "
          "where linears multiply bf16 or integers (--compute), else source")
      ->check(CLI::IsMember({"auto", "source", "f32", "bf16", "int8"}))
      ->capture_default_str();
  verb.add_option(
          "--probe", options.probes,
          "entries to add that give what `forward` computes on its way, with commas between: "
          "attention (attention_maps: each attention's probabilities), masks (attention_masks: "
          "which keys are seen), positions (position_encodings), inputs (linear_inputs: what each "
          "linear multiplies)")
      ->delimiter(',')
      ->expected(1) // word: a model may stand behind
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->check(CLI::IsMember(compile::getProbeNames()));
  verb.add_option("--from-stage", options.fromStage, "the stage that a .mlir file holds")
      ->check(CLI::IsMember(compile::getStageNames()));
  *verb.option_defaults() = before;
}

void addMappingOption(CLI::App &verb, artifact::FileAccess &access) {
  verb.add_flag_callback(
      verbs::kNoMapping, [&access] { access = artifact::FileAccess::Copied; },
      verbs::kNoMappingHelp);
}

/// MODEL.fovea in the current folder, by the name of a model's folder or file.
static std::string getDefaultOutput(const std::string &model) {
  std::error_code code;
  std::filesystem::path path = std::filesystem::weakly_canonical(model, code);
  return (isModelFile(path.string()) ? path.stem() : path.filename()).string() + ".fovea";
}

/// Where to write, if that is not said; false after a message.
static bool chooseOutput(compile::Options &options, Session &session, Terminal &terminal) {
  auto refuse = [&](const std::string &text) {
    terminal.error(text);
    session.exitCode = 2;
    return false;
  };
  bool isArtifact = options.emit == "fovea", isText = !isArtifact && options.emit != "obj";
  if (isArtifact && options.output == "-")
    return refuse("-o: an artifact is not written to standard output, expected a file");
  if (!options.output.empty())
    return true;
  options.output = isArtifact ? getDefaultOutput(options.model) : "-";
  std::error_code code;
  if (isText || !std::filesystem::exists(options.model, code)) // reading says what is wrong with it
    return true;
  if (!isArtifact)
    return refuse("-o: expects a file to write --emit=" + options.emit + " to, got none");
  if (std::filesystem::exists(options.output, code) && !artifact::isArtifactFile(options.output))
    return refuse(options.output + ": exists and is no artifact, so it is not replaced; name the "
                                   "file to write by -o");
  return true;
}

/// "model.fovea: 3.94 MB in 0.31 s, 12 of 20 kernels known; 4 of 4 attentions are fused; 1 of 20
/// kernels is plain loops".
static std::string describe(const compile::Options &options, const compile::Summary &summary,
                            double seconds) {
  std::error_code code;
  uintmax_t bytes = std::filesystem::file_size(options.output, code);
  std::string text = options.output + ": " + (code ? "written" : verbs::bytes(bytes)) + " in " +
                     verbs::number(seconds) + " s";
  if (summary.known)
    text += ", " + std::to_string(summary.known) + " of " + std::to_string(summary.kernels) +
            " kernels known";
  if (summary.attentions)
    text += "; " + std::to_string(summary.fused) + " of " + std::to_string(summary.attentions) +
            (summary.attentions == 1 ? " attention is fused" : " attentions are fused");
  if (summary.fallbacks)
    text += "; " + std::to_string(summary.fallbacks) + " of " + std::to_string(summary.kernels) +
            (summary.fallbacks == 1 ? " kernels is plain loops" : " kernels are plain loops");
  if (summary.fallbacks || summary.fused < summary.attentions)
    text += "; `fovea inspect` says which";
  return text;
}

namespace {
struct CompileArguments {
  compile::Options options;
  bool isQuiet = false, isAnew = false, isKept = false;
};
} // namespace

/// Compiles to where verbs that run models keep them, unless it is there, and prints its path.
static int compileAndKeep(const CompileArguments &arguments, Terminal &terminal) {
  const compile::Options &options = arguments.options;
  bool isAlone = options.output.empty() && options.emit == "fovea" && options.dumpFolder.empty() &&
                 options.report.empty() && !options.requireFusion && !arguments.isAnew;
  if (!isAlone) {
    terminal.error("--keep: expects none of -o, --emit, --dump-ir, --report, --require-fusion and "
                   "--no-kernel-cache beside it: an artifact that is there already is not made "
                   "again");
    return 2;
  }
  std::string artifact;
  auto outcome = findOrCompile(options, terminal.log(), artifact);
  if (outcome == compile::Outcome::Done)
    std::printf("%s\n", artifact.c_str());
  return static_cast<int>(outcome);
}

void addCompileVerb(CLI::App &app, Session &session) {
  auto arguments = std::make_shared<CompileArguments>();
  compile::Options &options = arguments->options;
  CLI::App *verb = app.add_subcommand("compile", "Compile a model to one file with native code");
  verb->add_option("MODEL", options.model,
                   "a model's folder, a .gguf file, a .onnx file or a .mlir file")
      ->required();
  verb->add_option("-o,--output", options.output,
                   "the file to write; - is standard output, where text goes without this; an "
                   "artifact goes to MODEL.fovea in the current folder");
  addCompileOptions(*verb, options);
  verb->add_option("--emit", options.emit,
                   "what to write: the artifact, an object, assembly, or IR")
      ->check(CLI::IsMember(emitKinds()))
      ->capture_default_str();
  verb->add_option("--tokenizer", options.tokenizer,
                   "a tokenizer's file or folder; without it the one beside the model, if any");
  verb->add_option("--dump-ir", options.dumpFolder, "a folder for the IR of each stage");
  verb->add_flag("--require-fusion", options.requireFusion,
                 "fail if an attention is not fused; a classifier's softmax is none");
  verb->add_option("--report", options.report, "a JSON file for the fusion report");
  verb->add_option("--threads", options.threads, "threads to compile with; 0: all")
      ->check(verbs::from(0, 1024));
  verb->add_flag("--no-kernel-cache", arguments->isAnew,
                 "compile every kernel, those too whose code was kept when another model or an "
                 "earlier version of this one launched them (`fovea cache`)");
  verb->add_flag("--quiet", arguments->isQuiet, "print nothing but errors");
  verb->add_flag("--keep", arguments->isKept,
                 "write the artifact to where those of models that were run are kept (`fovea "
                 "cache`), unless it is there already, and print its path");
  addMappingOption(*verb, options.access);
  verb->footer("MLIR's own flags (--mlir-print-ir-after-all, --mlir-timing, ...) are passed on.");
  verb->callback([arguments, &session] {
    Terminal terminal(arguments->isQuiet);
    compile::Options &options = arguments->options;
    options.commandLine = session.commandLine;
    if (arguments->isKept) {
      if (!refuseForeign(options.model, session))
        session.exitCode = compileAndKeep(*arguments, terminal);
      return;
    }
    if (!chooseOutput(options, session, terminal) || refuseForeign(options.model, session))
      return;
    if (!arguments->isAnew)
      options.kernelFolder = getKernelFolder();
    auto begin = std::chrono::steady_clock::now();
    compile::Summary summary;
    session.exitCode = static_cast<int>(compile::compile(options, terminal.log(), &summary));
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (!options.kernelFolder.empty())
      trimKernels();
    if (session.exitCode == 0 && options.output != "-")
      terminal.tell(describe(options, summary, seconds.count()));
  });
}

namespace {
struct CheckArguments {
  std::string model;
  artifact::FileAccess access = artifact::FileAccess::Mapped;
  bool isJson = false;
};
} // namespace

/// The outcome and all messages as one JSON object on standard output.
static compile::Outcome checkAsJson(const CheckArguments &arguments) {
  nlohmann::ordered_json record = {{"model", arguments.model}, {"supported", false}};
  record["summary"] = "";
  record["problems"] = record["notes"] = nlohmann::json::array();
  compile::Log log;
  log.message = [&](compile::Log::Severity severity, const std::string &text) {
    record[severity == compile::Log::Severity::Error ? "problems" : "notes"].push_back(text);
  };
  std::string summary, foreign;
  if (!isModel(arguments.model))
    foreign = describeForeignFile(arguments.model);
  compile::Outcome outcome = compile::Outcome::InputFault;
  if (!foreign.empty())
    record["problems"].push_back(expectsModel(arguments.model, foreign));
  else
    outcome = compile::check(arguments.model, arguments.access, log, summary);
  record["supported"] = outcome == compile::Outcome::Done;
  record["summary"] = summary;
  verbs::print(record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return outcome;
}

void addCheckVerb(CLI::App &app, Session &session) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App *verb = app.add_subcommand("check", "List all that is unsupported in a model");
  verb->add_option("MODEL", arguments->model,
                   "a model's folder, a .gguf file, a .onnx file or a .mlir file")
      ->required();
  verb->add_flag("--json", arguments->isJson,
                 "print the result as one JSON object, problems and notes within");
  addMappingOption(*verb, arguments->access);
  verb->callback([arguments, &session] {
    if (arguments->isJson) {
      session.exitCode = static_cast<int>(checkAsJson(*arguments));
      return;
    }
    if (refuseForeign(arguments->model, session))
      return;
    Terminal terminal;
    std::string summary;
    compile::Outcome outcome =
        compile::check(arguments->model, arguments->access, terminal.log(), summary);
    session.exitCode = static_cast<int>(outcome);
    if (outcome == compile::Outcome::Done)
      std::printf("%s: supported (%s)\n", arguments->model.c_str(), summary.c_str());
  });
}

} // namespace fovea

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea verify`: compiled code against the reference interpreter.
#include "tools/fovea/ModelCache.h"
#include "tools/fovea/Terminal.h"
#include "tools/fovea/Verbs.h"
#include "tools/verbs/Numbers.h"

#include <memory>

namespace fovea {

void addVerifyVerb(CLI::App &app, Session &session) {
  struct Arguments {
    compile::Options options;
    compile::VerifyOptions how;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App *verb = app.add_subcommand(
      "verify",
      "Compare compiled code with the reference interpreter, and name the op that departs");
  verb->add_option("MODEL", arguments->options.model,
                   "a model's folder, a .gguf file, a .onnx file, a .mlir file, or an artifact "
                   "with --source")
      ->required();
  addCompileOptions(*verb, arguments->options);
  verb->add_option("--source", arguments->how.source,
                   "the model that an artifact was compiled from, with the same --dtype: its "
                   "description is what the interpreter runs");
  verbs::addIntegers(
      *verb, "--length", &arguments->how.lengths,
      "lengths of made-up inputs, with commas between. Without this: 1, 2, 7 and 33, "
      "and one above the greatest number up to 300 that the model compares places "
      "with; none beyond its tables of positions");
  verb->add_option("--dim", arguments->how.sizes,
                   "NAME=SIZE of an open dimension, in all calls; without this each is run with "
                   "several")
      ->allow_extra_args(false);
  verb->add_option("--against", arguments->how.against,
                   "an .npz file with inputs and outputs, by their names");
  verb->add_option("--seed", arguments->how.seed, "for inputs that are made up")
      ->capture_default_str();
  verb->add_option("--device", arguments->how.device,
                   "where the compiled code runs: cpu, cuda or emulator (or emulator:late)")
      ->capture_default_str();
  verb->add_option("--threads", arguments->how.threads, "threads to run with; 0: all")
      ->check(verbs::from(0, 1024));
  verb->add_flag("--json", arguments->how.json, "print the result as one JSON object");
  verb->add_flag("--quiet", arguments->how.quiet, "no progress");
  addMappingOption(*verb, arguments->options.access);
  verb->footer(
      "Floats are made up about 1, a thousandth, a thousand times as large, and mixed. Below "
      "the table stands\nwhich sides of the model's choices no input reached: what they do "
      "was not compared.");
  verb->callback([arguments, verb, &session] {
    Terminal terminal;
    // What an artifact was quantised to, its source must be told; the rest is found in it.
    std::string fault = findVainOptions(*verb, arguments->options.model, "--dtype");
    if (!fault.empty() && !arguments->how.source.empty()) {
      terminal.error(fault);
      session.exitCode = 1;
      return;
    }
    arguments->options.commandLine = session.commandLine;
    arguments->options.kernelFolder = getKernelFolder();
    session.exitCode = compile::verify(arguments->options, arguments->how, terminal.log());
    trimKernels();
  });
}

} // namespace fovea

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea inspect`: what is inside an artifact, for people and as JSON.
#include "artifact/ArtifactReader.h"
#include "tools/fovea/Inspect.h"
#include "tools/fovea/ModelCache.h"
#include "tools/fovea/Terminal.h"
#include "tools/fovea/Verbs.h"
#include "tools/verbs/Common.h"

#include <cstdio>
#include <memory>

namespace fovea {

void addInspectVerb(CLI::App &app, Session &session) {
  struct Arguments {
    compile::Options options;
    bool verify = false, json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App *verb = app.add_subcommand("inspect", "Show what is inside an artifact");
  verb->add_option("FILE", arguments->options.model, "an artifact, or a model to compile")
      ->required();
  verb->add_flag("--verify", arguments->verify, "check every hash, of large weights too");
  verb->add_flag("--json", arguments->json, "print the result as one JSON object");
  addMappingOption(*verb, arguments->options.access);
  addCompileOptions(*verb, arguments->options);
  verb->callback([arguments, verb, &session] {
    Terminal terminal;
    std::string path = arguments->options.model, error = findVainOptions(*verb, path);
    if (!error.empty()) {
      terminal.error(error);
      session.exitCode = 1;
      return;
    }
    if (isModel(path)) {
      arguments->options.commandLine = session.commandLine;
      compile::Outcome outcome = findOrCompile(arguments->options, terminal.log(), path);
      session.exitCode = static_cast<int>(outcome);
      if (outcome != compile::Outcome::Done)
        return;
    }
    auto reader = artifact::ArtifactReader::open(path, error, arguments->options.access);
    if (!reader || (arguments->verify && !reader->verifyAll(error))) {
      terminal.error(error);
      session.exitCode = 1;
      return;
    }
    if (arguments->json)
      verbs::print(describeArtifact(*reader, arguments->options.model));
    else
      printArtifact(*reader, arguments->options.model);
    if (arguments->verify && !arguments->json)
      std::printf("\nall hashes are right\n");
  });
}

} // namespace fovea

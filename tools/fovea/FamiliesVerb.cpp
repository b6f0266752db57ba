// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea families`: the kinds of checkpoints that are read, and which of their heads; the
// architectures of GGUF files.
#include "frontend/GGUF/GGUF.h"
#include "frontend/HuggingFace/HuggingFace.h"
#include "tools/fovea/Terminal.h"
#include "tools/fovea/Verbs.h"
#include "tools/verbs/Common.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace fovea {

static void printFamilies(bool isJson) {
  nlohmann::ordered_json record;
  std::string lines;
  for (const FamilyNames &family : listFamilies()) {
    record[family.modelType] = family.architectures;
    lines += family.modelType + ":";
    for (const std::string &architecture : family.architectures)
      lines += " " + architecture;
    lines += "\n";
  }
  record["gguf"] = listGgufArchitectures();
  lines += "gguf:";
  for (const std::string &architecture : listGgufArchitectures())
    lines += " " + architecture;
  lines += "\n";
  verbs::print(isJson ? record.dump() + "\n" : lines);
}

void addFamiliesVerb(CLI::App &app, Session &session) {
  auto isJson = std::make_shared<bool>(false);
  CLI::App *verb = app.add_subcommand("families", "List the kinds of checkpoints that are read");
  verb->add_flag("--json", *isJson, "print the result as one JSON object");
  verb->footer("One family a line: what config.json calls it (model_type), and the architectures\n"
               "that are read; the last line has those of GGUF files (general.architecture).\n"
               "Nearly all other Transformers compile from ONNX:\n\n"
               "  optimum-cli export onnx --model FOLDER OUT\n"
               "  fovea compile OUT/model.onnx\n");
  verb->callback([isJson, &session] {
    try {
      printFamilies(*isJson);
      verbs::flush();
    } catch (const verbs::Failure &failure) {
      Terminal().error(failure.message);
      session.exitCode = failure.code;
    }
  });
}

} // namespace fovea

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled model that is run on texts while another is compiled.
#ifndef FOVEA_TOOLS_COMPILE_TEXTRUNNER_H
#define FOVEA_TOOLS_COMPILE_TEXTRUNNER_H

#include "runtime/include/fovea/runtime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fovea::compile {

/// The entry that `--probe inputs` adds.
inline constexpr char kLinearInputs[] = "linear_inputs";

/// A result of an entry: rows of f32. Lives until the next run.
struct RunResult {
  std::string name;
  const float *data = nullptr;
  int64_t rows = 1, width = 1; ///< all axes but the last, and the last
  fovea_role role = FOVEA_ROLE_NONE;
};

/// Functions that return bool say in `error` why they failed.
class TextRunner {
public:
  /// Opens an artifact whose model has a tokenizer; null and `error` if it cannot be run on texts.
  static std::unique_ptr<TextRunner> open(const std::string &artifact, int threads,
                                          std::string &error);
  ~TextRunner();

  /// Whether each token is told by those before it, so that a text may be cut anywhere.
  bool isDecoder() const { return info.kind == FOVEA_DECODER; }
  /// Tokens that a row may have; 0: any number.
  int64_t getMostTokens() const;
  /// The entry that takes whole rows: the one of that kind, or the only one but for
  /// kLinearInputs; empty if there is none.
  const std::string &getForward() const { return forward; }
  /// Whether texts become vectors.
  bool canEmbed() const { return isEmbedder; }

  /// A text as a row, with what the model wants around it, or none if it is not `special`.
  bool encode(const std::string &text, bool special, std::vector<int64_t> &ids,
              std::string &error) const;
  /// Runs an entry whose arguments all follow from the tokens of one row. Results that are not f32
  /// are left out.
  bool run(const std::string &entry, const std::vector<int64_t> &ids,
           std::vector<RunResult> &results, std::string &error);
  /// The vector of a text.
  bool embed(const std::string &text, std::vector<float> &vector, std::string &error);

private:
  TextRunner() = default;
  bool setArguments(size_t entry, const std::vector<int64_t> &ids, std::string &error);

  fovea_module *module = nullptr;
  fovea_context *context = nullptr;
  fovea_call *call = nullptr;
  std::string called;                       ///< the entry of `call`
  std::vector<std::vector<char>> arguments; ///< of `call`, which reads them when it runs
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  std::string forward;
  bool isEmbedder = false;
};

} // namespace fovea::compile

#endif // FOVEA_TOOLS_COMPILE_TEXTRUNNER_H

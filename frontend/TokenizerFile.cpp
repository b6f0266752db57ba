// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of tokenizers' files, of which the most specific one counts.
#include "frontend/TokenizerFile.h"

#include "frontend/Json.h"

std::string fovea::findTokenizerFile(const std::string &folder) {
  auto has = [&](const std::string &name) { return exists(folder + "/" + name); };
  if (has("tokenizer.json"))
    return "tokenizer.json";
  if (has("source.spm") && has("vocab.json"))
    return "source.spm";
  for (const char *name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
    if (has(name))
      return name;
  return "";
}

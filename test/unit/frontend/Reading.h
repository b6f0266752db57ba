// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads tiny model folders and checks what is said about them.
#ifndef FOVEA_TEST_UNIT_FRONTEND_READING_H
#define FOVEA_TEST_UNIT_FRONTEND_READING_H

#include "frontend/HuggingFace/HuggingFace.h"
#include "test/unit/frontend/ModelFiles.h"

#include <functional>
#include <gtest/gtest.h>

namespace fovea::test {

inline std::optional<ModelDescription>
read(const TinyModel &model, Problems &problems,
     const std::function<void(const Folder &)> &change = {}) {
  Folder folder;
  model.writeTo(folder);
  if (change)
    change(folder);
  auto result = readHuggingFace(folder.path(), problems);
  EXPECT_EQ(result.has_value(), !hasErrors(problems)) << texts(problems);
  return result;
}

inline ModelDescription accepted(const TinyModel &model,
                                 const std::function<void(const Folder &)> &change = {}) {
  Problems problems;
  auto result = read(model, problems, change);
  EXPECT_TRUE(problems.empty()) << texts(problems);
  return result.value_or(ModelDescription());
}

/// The texts of the problems of `model`, which must be refused.
inline std::string refused(const TinyModel &model,
                           const std::function<void(const Folder &)> &change = {}) {
  Problems problems;
  EXPECT_FALSE(read(model, problems, change));
  return texts(problems);
}

inline void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expects: " << part << "\ngot: " << text;
}

/// `model` with `key` changed must be refused with a text that has `part`.
inline void expectConfigFault(TinyModel model, const std::string &key, const std::string &value,
                              const std::string &part) {
  if (value.empty())
    model.config.erase(key);
  else
    model.config[key] = value;
  expectPart(refused(model), part);
}

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_FRONTEND_READING_H

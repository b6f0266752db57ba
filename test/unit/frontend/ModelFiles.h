// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Model folders for tests: a temporary folder, a writer of safetensors that can
// also be told to lie, and tiny models of each family.
#ifndef FOVEA_TEST_UNIT_FRONTEND_MODELFILES_H
#define FOVEA_TEST_UNIT_FRONTEND_MODELFILES_H

#include "frontend/Problem.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fovea::test {

/// A folder that is removed with its content at the end of its life.
class Folder {
public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  const std::string &path() const { return root; }
  /// Makes the folders on the way.
  void write(const std::string &name, const std::string &content) const;
  void remove(const std::string &name) const;

private:
  std::string root;
};

/// The bytes of a safetensors file: length of `header`, `header`, `data`.
std::string safetensors(const std::string &header, const std::string &data);

using Shapes = std::map<std::string, std::vector<int64_t>>;

/// A correct file of F32 tensors, all elements 0.5.
std::string safetensors(const Shapes &shapes);

/// Keys of a flat JSON object with their values as JSON text.
using Config = std::map<std::string, std::string>;
std::string json(const Config &config);

/// A model that is accepted; tests change one thing of it.
struct TinyModel {
  Config config;
  Shapes tensors;
  void writeTo(const Folder &folder) const;
};
TinyModel tinyLlama();
TinyModel tinyBert();
TinyModel tinyGpt2();

/// The texts of all problems, one a line.
std::string texts(const Problems &problems);

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_FRONTEND_MODELFILES_H

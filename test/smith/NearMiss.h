// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that resemble what Fovea recognises but for one edit, with inputs that take its rare
// side.
#ifndef FOVEA_TEST_SMITH_NEARMISS_H
#define FOVEA_TEST_SMITH_NEARMISS_H

#include "test/smith/Edit.h"
#include "test/smith/Layers.h"
#include "test/smith/Program.h"

namespace fovea::smith {

/// Sizes of numbers: what is usual, and times what some of them are rare.
struct Magnitude {
  double usual = 1, rare = 1;
  bool isSmall = false; ///< the rare ones are small, or zero
};

/// What a near miss is made of.
struct Plan {
  Edit edit;
  bool isAttention = true;
  Choices choices;           ///< of an attention
  LayerChoices layer;        ///< of another program
  int queries = 0, keys = 0; ///< of the longer call; 0: as it comes
  double scores = 1;         ///< their size; 0: some are zero
  Magnitude values, input, bias;
};

/// Inputs that may take the rare side.
struct Attempt {
  int seed = 0;
  std::map<std::string, std::pair<int, int>> sizes;
  std::vector<std::pair<std::string, std::string>> inputs;
};

struct NearMiss {
  Plan plan;
  Program program;      ///< with the inputs of the first attempt
  std::string base;     ///< the text without the edit; empty if it is not known
  std::string up, down; ///< with what is compared and rounded moved a little
  std::vector<Attempt> attempts;
};

/// Near miss `index` of `seed`.
NearMiss drawNearMiss(uint64_t seed, uint64_t index);
/// False if the program has no place for the edit.
bool build(const Plan &plan, NearMiss &miss);
/// The same edit of a simpler program, the boldest first.
std::vector<NearMiss> simplify(const NearMiss &miss);
/// A stored program: its own inputs, and nothing to compare them with.
NearMiss makeNearMiss(const Program &program);

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_NEARMISS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// int4 weights that are chosen by what a text makes them multiply: the model is compiled as it is,
// run on the text, and what its linears read says how their weights are rounded, and which of them
// lose most and become int8 instead.
#ifndef FOVEA_TOOLS_COMPILE_CALIBRATE_H
#define FOVEA_TOOLS_COMPILE_CALIBRATE_H

#include "tools/compile/CompileModule.h"
#include "weights/Evaluate.h"

#include <string>
#include <vector>

namespace mlir::fovea {

/// A weight in int4, with a scale of f16 for each 32 inputs, as the IR stores both.
struct CalibratedWeight {
  std::string name;
  std::vector<char> codes, scales;
};

struct Calibration {
  std::vector<CalibratedWeight> weights;
  std::vector<std::string> wide; ///< names of those that become int8
};

/// Compiles what `options.calibrate` asks for. As `compile`: on any other outcome than Done one
/// error has been reported.
::fovea::compile::Outcome compileCalibrated(const ::fovea::compile::Options &options,
                                            const ::fovea::compile::Log &log,
                                            ::fovea::compile::Summary *summary);

/// Whether what the options ask for can be begun: none contradicts another, and the output can be
/// written.
::fovea::compile::Outcome checkRequest(const ::fovea::compile::Options &options,
                                       const ::fovea::compile::Log &log);

/// Compiles weights as they are, with the graph that int4 ones have: blocks are floats, so that
/// norms are folded and linears merged as there.
::fovea::compile::Outcome compileAsStored(const ::fovea::compile::Options &options,
                                          const ::fovea::compile::Log &log);

/// Compiles as far as the stage `graph` and shows the module and where its weights are. False from
/// `visit`, which has emitted an error, is the input's fault.
::fovea::compile::Outcome compileToGraph(const ::fovea::compile::Options &options,
                                         const ::fovea::compile::Log &log,
                                         function_ref<bool(ModuleOp, RecipeSource &)> visit);

/// Compiles with weights that are there, none if `calibration` is null; `options.calibrate` is not
/// looked at.
::fovea::compile::Outcome compileWith(const Calibration *calibration,
                                      const ::fovea::compile::Options &options,
                                      const ::fovea::compile::Log &log,
                                      ::fovea::compile::Summary *summary);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_CALIBRATE_H

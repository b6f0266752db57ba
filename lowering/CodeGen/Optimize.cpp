// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's optimiser: few passes for what is written as it shall run, its second level for plain
// loops.
#include "lowering/CodeGen/CodeGen.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::fovea;

/// Writes maxnum and minnum as maximumnum and minimumnum, which differ in the order of zeros alone,
/// and with nsz are the same instructions. LLVM 22's loop vectoriser gives folds with maxnum a way
/// out at NaN; where it masks the tail too, as of loops known to take fewer than 16 steps, the last
/// steps are lost (llvm-project issue 209159, mended in 23).
static void replaceMaxNum(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
    llvm::Intrinsic::ID id = call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
    if (id != llvm::Intrinsic::maxnum && id != llvm::Intrinsic::minnum)
      continue;
    bool isMax = id == llvm::Intrinsic::maxnum;
    llvm::FastMathFlags flags = call->getFastMathFlags();
    flags.setNoSignedZeros();
    llvm::IRBuilder<> b(call);
    call->replaceAllUsesWith(
        b.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::maximumnum : llvm::Intrinsic::minimumnum,
                                call->getArgOperand(0), call->getArgOperand(1), flags));
    call->eraseFromParent();
  }
}

/// What tile programs need of LLVM's second level: addresses simplified, and the loops over a block
/// unrolled. No vectoriser finds anything in them, and loops of unknown length that are unrolled
/// make code a tenth larger and no faster.
static constexpr llvm::StringLiteral kTilePipeline =
    "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-simplifycfg,licm,loop-rotate),simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-deletion,loop-unroll-full),sroa,gvn,instcombine<no-verify-fixpoint>,dse,"
    "loop-mssa(licm),adce,simplifycfg,instcombine<no-verify-fixpoint>";

/// Marks what the second level shall leave alone.
static constexpr llvm::StringLiteral kDone = "fovea-optimized";

void mlir::fovea::optimize(llvm::Module &code, llvm::TargetMachine &machine,
                           function_ref<bool(const llvm::Function &)> isTiled) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::OptNoneInstrumentation skipsDone(/*DebugLogging=*/false);
  skipsDone.registerCallbacks(callbacks);
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  // Code calls nothing. If LLVM thinks that there is a memset, it makes one of loops that clear
  // tiles, and its code generator, which knows better, makes loops of single bytes of that.
  llvm::TargetLibraryInfoImpl library(code.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);

  llvm::FunctionPassManager few;
  llvm::cantFail(builder.parsePassPipeline(few, kTilePipeline));
  bool isAll = true;
  for (llvm::Function &function : code) {
    replaceMaxNum(function);
    if (function.isDeclaration() || function.hasOptNone())
      continue;
    if (!isTiled || !isTiled(function)) {
      isAll = false;
      continue;
    }
    functions.invalidate(function, few.run(function, functions));
    function.addFnAttr(kDone);
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
  if (!isAll)
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(code, modules);
  // Asked anew: passes write functions anew that lose an argument.
  for (llvm::Function &function : code)
    if (function.hasFnAttribute(kDone))
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
}

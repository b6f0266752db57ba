// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's optimiser and its code generator for PTX.
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/GPU/GPU.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir;
using namespace mlir::fovea;

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";
/// PTX 8.0, of CUDA 12.0: the first that knows all of Hopper.
static constexpr llvm::StringLiteral kFeatures = "+ptx80";

static std::unique_ptr<llvm::TargetMachine> createMachine(StringRef chip) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  // LLVM takes any name for a chip, with a warning on stderr.
  std::unique_ptr<llvm::MCSubtargetInfo> baseline(
      found->createMCSubtargetInfo(triple, "sm_80", kFeatures));
  if (!baseline || !baseline->isCPUStringValid(chip))
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast; // rounds once instead of twice
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, chip, kFeatures, options, llvm::Reloc::PIC_, std::nullopt,
                                 llvm::CodeGenOptLevel::Default));
}

LogicalResult mlir::fovea::emitPtx(gpu::GPUModuleOp module, StringRef chip, std::string &text,
                                   bool optimizes) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(chip);
  if (!machine)
    return module.emitError("expects a chip that LLVM knows (sm_80, sm_90a, ...), got '")
           << chip << "'";
  registerTranslations(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "fovea");
  if (!code)
    return module.emitError("cannot be translated to LLVM IR: has fovea-to-nvvm run?");
  code->setTargetTriple(llvm::Triple(kTriple));
  code->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", chip);
    function.addFnAttr("target-features", kFeatures);
  }
  if (optimizes)
    optimize(*code, *machine);
  else
    optimize(*code, *machine, [](const llvm::Function &) { return true; });

  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager generator;
  if (machine->addPassesToEmitFile(generator, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitError("LLVM cannot emit PTX");
  generator.run(*code);
  text.assign(bytes.begin(), bytes.end());
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors, and LLVM's code generator for them.
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/CodeGen/CodeGen.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fovea;

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

static std::unique_ptr<llvm::TargetMachine> createMachine(const TargetOptions &target) {
  initializeTargets();
  std::string error;
  llvm::Triple triple(target.family->triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion =
      llvm::FPOpFusion::Fast;          // a fused product and sum rounds once instead of twice
  options.MCOptions.AsmVerbose = true; // says where registers are spilled
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, std::nullopt,
      target.optimizes ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None));
}

/// Whether LLVM knows it by this name.
static bool isProcessor(const ProcessorFamily &family, StringRef name) {
  initializeTargets();
  std::string error;
  llvm::Triple triple(family.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> least(
      found ? found->createMCSubtargetInfo(triple, family.processor, "") : nullptr);
  return least && least->isCPUStringValid(name);
}

TargetOptions mlir::fovea::getTarget(const Level &level) {
  TargetOptions target;
  target.name = level.name.str();
  target.cpu = level.processor.str();
  target.family = level.family;
  for (StringRef feature : level.features)
    target.features += (target.features.empty() ? "+" : ",+") + feature.str();
  return target;
}

FailureOr<mlir::fovea::TargetOptions> mlir::fovea::getTarget(StringRef name, std::string &error) {
  TargetOptions target;
  target.name = name.empty() ? "host" : name.str();
  if (name.empty() || name == "host") {
    target.family = &getHostFamily();
    target.cpu = llvm::sys::getHostCPUName().str();
    // A virtual machine may hide features that the processor's name implies.
    for (const auto &[feature, present] : llvm::sys::getHostCPUFeatures())
      target.features +=
          (target.features.empty() ? "" : ",") + std::string(present ? "+" : "-") + feature.str();
    return target;
  }
  if (const Level *level = findProcessorLevel(name))
    return getTarget(*level);
  target.cpu = name.str();
  for (const ProcessorFamily *family : getFamilies()) {
    target.family = family;
    if (isProcessor(*family, name))
      return target;
  }
  error = "unknown target '" + name.str() +
          "', expected host, portable, x86-64, x86-64-v3, x86-64-v4, aarch64, aarch64-dotprod, "
          "aarch64-i8mm, aarch64-portable or a processor as LLVM names it (sapphirerapids, znver5, "
          "neoverse-n2, ...)";
  return failure();
}

std::vector<std::string> mlir::fovea::getRequiredFeatures(const TargetOptions &target) {
  std::vector<std::string> required;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  if (!machine)
    return required;
  const llvm::MCSubtargetInfo *info = machine->getMCSubtargetInfo();
  for (StringRef feature : target.family->asked)
    if (info->checkFeatures("+" + feature.str()))
      required.push_back(feature.str());
  return required;
}

/// LLVM's code generator without its scheduler: register blocks leave a few registers, and loads
/// moved ahead of their use push sums out to the stack (16 spills in the loop of an 8x48 block, 4 %
/// of its speed). The order that atoms print is the order that runs; processors look ahead far
/// enough. Nor does it make trees of chained sums of integers, whose branches are as many numbers.
static LogicalResult addCodeGenerator(llvm::legacy::PassManager &passes,
                                      llvm::TargetMachine &machine, llvm::CodeGenFileType kind,
                                      llvm::raw_pwrite_stream &out) {
  auto &target = static_cast<llvm::CodeGenTargetMachineImpl &>(machine);
  auto *modules = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig *config = target.createPassConfig(passes);
  config->disablePass(&llvm::MachineSchedulerID);
  config->disablePass(&llvm::MachineCombinerID);
  passes.add(config);
  passes.add(modules);
  if (config->addISelPasses())
    return failure();
  config->addMachinePasses();
  config->setInitialized();
  if (target.addAsmPrinter(passes, out, nullptr, kind, modules->getMMI().getContext()))
    return failure();
  passes.add(llvm::createFreeMachineFunctionPass());
  return success();
}

/// What LLVM's own rules forbid, told at the function that breaks them. MLIR's verifiers know most
/// of these rules, not all.
static LogicalResult verifyTranslated(ModuleOp module, llvm::Module &translated) {
  auto refuse = [](Operation *at, std::string &text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return at->emitError("LLVM refuses this: ") << StringRef(text).rtrim();
  };
  std::string text;
  llvm::raw_string_ostream out(text);
  for (llvm::Function &function : translated)
    if (llvm::verifyFunction(function, &out)) {
      Operation *source = module.lookupSymbol(function.getName());
      return refuse(source ? source : module.getOperation(), text);
    }
  return llvm::verifyModule(translated, &out) ? LogicalResult(refuse(module, text)) : success();
}

void mlir::fovea::registerTranslations(MLIRContext &context) {
  registerBuiltinDialectTranslation(context);
  registerGPUDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  registerNVVMDialectTranslation(context);
}

static LogicalResult emit(ModuleOp module, const TargetOptions &target, llvm::CodeGenFileType kind,
                          llvm::raw_pwrite_stream &out) {
  // What describes the program is not code.
  OwningOpRef<ModuleOp> code(module.clone());
  for (Operation &op : llvm::make_early_inc_range(*code->getBody()))
    if (isa<FoveaDialect>(op.getDialect()))
      op.erase();
  registerTranslations(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(*code, context, "fovea", /*disableVerification=*/true);
  if (!translated)
    return module.emitError("cannot be translated to LLVM IR: is this the llvm stage?");
  if (failed(verifyTranslated(*code, *translated)))
    return failure();
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  if (!machine)
    return module.emitError("LLVM has no code generator for ") << target.family->triple;
  translated->setTargetTriple(llvm::Triple(target.family->triple));
  translated->setDataLayout(machine->createDataLayout());
  bool hasBFloat16 = machine->getMCSubtargetInfo()->checkFeatures(
      target.family == &kX86 ? "+avx512bf16" : "+bf16");
  for (llvm::Function &function : *translated) {
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    legalizeBFloat16(function, hasBFloat16);
  }
  auto isTiled = [&](const llvm::Function &function) {
    Attribute schedule =
        module.lookupSymbol(function.getName())->getAttr(FoveaDialect::kScheduleAttr);
    return schedule ? !isa<LoopScheduleAttr>(schedule) : !function.hasLocalLinkage();
  };
  if (target.optimizes)
    optimize(*translated, *machine, isTiled);
  llvm::legacy::PassManager generator;
  if (failed(addCodeGenerator(generator, *machine, kind, out)))
    return module.emitError("LLVM cannot emit this kind of file");
  generator.run(*translated);
  return success();
}

LogicalResult mlir::fovea::emitObject(ModuleOp module, const TargetOptions &target,
                                      SmallVectorImpl<char> &object) {
  llvm::raw_svector_ostream out(object);
  return emit(module, target, llvm::CodeGenFileType::ObjectFile, out);
}

LogicalResult mlir::fovea::emitAssembly(ModuleOp module, const TargetOptions &target,
                                        std::string &text) {
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  if (failed(emit(module, target, llvm::CodeGenFileType::AssemblyFile, out)))
    return failure();
  text.assign(bytes.begin(), bytes.end());
  return success();
}

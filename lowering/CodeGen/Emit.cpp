// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors, LLVM's optimiser and code generator, and the link into a shared object.
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/CodeGen/MemoryFile.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;

static constexpr llvm::StringLiteral kTriple = "x86_64-unknown-linux-gnu";

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

static std::unique_ptr<llvm::TargetMachine> createMachine(const TargetOptions &target) {
  initializeTarget();
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion =
      llvm::FPOpFusion::Fast;          // a fused product and sum rounds once instead of twice
  options.MCOptions.AsmVerbose = true; // says where registers are spilled
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Default));
}

FailureOr<mlir::fovea::TargetOptions> mlir::fovea::getTarget(StringRef name, std::string &error) {
  TargetOptions target;
  if (name.empty() || name == "host") {
    target.cpu = llvm::sys::getHostCPUName().str();
    // A virtual machine may hide features that the processor's name implies.
    for (const auto &[feature, present] : llvm::sys::getHostCPUFeatures())
      target.features +=
          (target.features.empty() ? "" : ",") + std::string(present ? "+" : "-") + feature.str();
    return target;
  }
  target.cpu = name == "portable" ? "x86-64" : name.str();
  initializeTarget();
  std::string lookup;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), lookup);
  std::unique_ptr<llvm::MCSubtargetInfo> baseline(
      found ? found->createMCSubtargetInfo(llvm::Triple(kTriple), "x86-64", "") : nullptr);
  if (!baseline || !baseline->isCPUStringValid(target.cpu)) {
    error = "unknown target '" + name.str() +
            "', expected host, portable, x86-64-v3, x86-64-v4 or a processor as LLVM names it "
            "(sapphirerapids, znver5, ...)";
    return failure();
  }
  return target;
}

std::vector<std::string> mlir::fovea::getRequiredFeatures(const TargetOptions &target) {
  // Those that a machine may lack and that /proc/cpuinfo or cpuid can be asked for.
  static constexpr const char *kAsked[] = {
      "avx",        "avx2",     "avx512bf16", "avx512bw", "avx512cd", "avx512dq", "avx512f",
      "avx512fp16", "avx512vl", "avx512vnni", "avxvnni",  "bmi",      "bmi2",     "f16c",
      "fma",        "lzcnt",    "popcnt",     "sse4.1",   "sse4.2"};
  std::vector<std::string> required;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  if (!machine)
    return required;
  const llvm::MCSubtargetInfo *info = machine->getMCSubtargetInfo();
  for (const char *feature : kAsked)
    if (info->checkFeatures(std::string("+") + feature))
      required.push_back(feature);
  return required;
}

/// LLVM's code generator without its scheduler: register blocks leave a few registers, and loads
/// moved ahead of their use push sums out to the stack (16 spills in the loop of an 8x48 block, 4 %
/// of its speed). The order that atoms print is the order that runs; processors look ahead far
/// enough.
static LogicalResult addCodeGenerator(llvm::legacy::PassManager &passes,
                                      llvm::TargetMachine &machine, llvm::CodeGenFileType kind,
                                      llvm::raw_pwrite_stream &out) {
  auto &target = static_cast<llvm::CodeGenTargetMachineImpl &>(machine);
  auto *modules = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig *config = target.createPassConfig(passes);
  config->disablePass(&llvm::MachineSchedulerID);
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

/// Writes what LLVM would do to bf16 by calls of the compiler's own library (before GCC 13 it has
/// no such functions): roundings as arithmetic, to nearest even, where NaN becomes a quiet one and
/// f64 goes by f32; and masked loads and stores, which move elements one by one, on integers. Where
/// a processor has instructions for bf16, they leave f64 alone.
static void expandBFloat16(llvm::Function &function, bool hasInstructions) {
  SmallVector<llvm::Instruction *> found;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
    llvm::Type *type = instruction.getType();
    if (isa<llvm::FPTruncInst>(instruction)) {
      if (hasInstructions && !instruction.getOperand(0)->getType()->getScalarType()->isDoubleTy())
        continue;
    } else if (hasInstructions || !call) {
      continue;
    } else if (call->getIntrinsicID() == llvm::Intrinsic::masked_store) {
      type = call->getArgOperand(0)->getType();
    } else if (call->getIntrinsicID() != llvm::Intrinsic::masked_load) {
      continue;
    }
    if (type->getScalarType()->isBFloatTy())
      found.push_back(&instruction);
  }
  for (llvm::Instruction *instruction : found) {
    llvm::IRBuilder<> b(instruction);
    auto integers = [&](llvm::Value *value) {
      return b.CreateBitCast(value, value->getType()->getWithNewType(b.getInt16Ty()));
    };
    llvm::Type *type = instruction->getType();
    llvm::Value *result = nullptr;
    if (auto *call = dyn_cast<llvm::IntrinsicInst>(instruction)) {
      bool isStore = type->isVoidTy();
      llvm::Value *pointer = call->getArgOperand(isStore ? 1 : 0);
      llvm::Align alignment = call->getParamAlign(isStore ? 1 : 0).valueOrOne();
      if (isStore)
        b.CreateMaskedStore(integers(call->getArgOperand(0)), pointer, alignment,
                            call->getArgOperand(2));
      else
        result = b.CreateMaskedLoad(type->getWithNewType(b.getInt16Ty()), pointer, alignment,
                                    call->getArgOperand(1), integers(call->getArgOperand(2)));
    } else {
      llvm::Value *value = instruction->getOperand(0);
      llvm::Type *words = type->getWithNewType(b.getInt32Ty());
      value = b.CreateFPTrunc(value, type->getWithNewType(b.getFloatTy())); // of f32: itself
      llvm::Value *bits = b.CreateBitCast(value, words);
      auto number = [&](uint32_t n) { return llvm::ConstantInt::get(words, n); };
      llvm::Value *isOdd = b.CreateAnd(b.CreateLShr(bits, 16), number(1));
      llvm::Value *rounded = b.CreateAdd(bits, b.CreateAdd(isOdd, number(0x7fff)));
      llvm::Value *isNaN = b.CreateFCmpUNO(value, value);
      rounded = b.CreateSelect(isNaN, b.CreateOr(bits, number(0x400000)), rounded);
      result = b.CreateTrunc(b.CreateLShr(rounded, 16), type->getWithNewType(b.getInt16Ty()));
    }
    if (result)
      instruction->replaceAllUsesWith(b.CreateBitCast(result, type));
    instruction->eraseFromParent();
  }
}

/// What moves bf16 without computing moves integers: where values of bf16 meet, in a phi or a
/// select, LLVM's code generator would round and widen them by calls.
static void moveBFloat16(llvm::Function &function) {
  llvm::Type *half = llvm::Type::getInt16Ty(function.getContext());
  auto isNarrow = [](llvm::Value *value) {
    return value->getType()->getScalarType()->isBFloatTy();
  };
  SmallVector<llvm::Instruction *> found;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (isa<llvm::LoadInst, llvm::StoreInst, llvm::PHINode, llvm::SelectInst, llvm::FreezeInst,
            llvm::ShuffleVectorInst, llvm::InsertElementInst, llvm::ExtractElementInst>(
            instruction) &&
        (isNarrow(&instruction) || llvm::any_of(instruction.operands(), isNarrow)))
      found.push_back(&instruction);
  for (llvm::Instruction *instruction : found) {
    llvm::IRBuilder<> b(instruction);
    auto *phi = dyn_cast<llvm::PHINode>(instruction);
    for (llvm::Use &use : instruction->operands()) {
      if (!isNarrow(use))
        continue;
      if (phi) { // edges from one block have one value
        llvm::BasicBlock *from = phi->getIncomingBlock(use);
        int first = phi->getBasicBlockIndex(from);
        if (first < static_cast<int>(use.getOperandNo())) {
          use = phi->getIncomingValue(first);
          continue;
        }
        b.SetInsertPoint(from->getTerminator());
      }
      use = b.CreateBitCast(use, use->getType()->getWithNewType(half));
    }
    if (!isNarrow(instruction))
      continue;
    auto uses = llvm::map_to_vector(instruction->uses(), [](llvm::Use &use) { return &use; });
    llvm::Type *type = instruction->getType();
    instruction->mutateType(type->getWithNewType(half));
    b.SetInsertPoint(*instruction->getInsertionPointAfterDef());
    llvm::Value *narrow = b.CreateBitCast(instruction, type);
    for (llvm::Use *use : uses)
      use->set(narrow);
  }
}

/// Widens bf16 by a shift: its bits are the upper half of an f32's.
static void widenBFloat16(llvm::Function &function) {
  SmallVector<llvm::FPExtInst *> found;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *widen = dyn_cast<llvm::FPExtInst>(&instruction))
      if (widen->getSrcTy()->getScalarType()->isBFloatTy())
        found.push_back(widen);
  for (llvm::FPExtInst *widen : found) {
    llvm::IRBuilder<> b(widen);
    llvm::Type *type = widen->getSrcTy();
    llvm::Value *bits = b.CreateBitCast(widen->getOperand(0), type->getWithNewType(b.getInt16Ty()));
    bits = b.CreateShl(b.CreateZExt(bits, type->getWithNewType(b.getInt32Ty())), 16);
    llvm::Value *wide = b.CreateBitCast(bits, type->getWithNewType(b.getFloatTy()));
    widen->replaceAllUsesWith(b.CreateFPExt(wide, widen->getType())); // to f32: itself
    widen->eraseFromParent();
  }
}

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
/// make code a fifth larger and no faster.
static constexpr llvm::StringLiteral kTilePipeline =
    "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-simplifycfg,licm,loop-rotate),simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-deletion,loop-unroll-full),sroa,gvn,instcombine<no-verify-fixpoint>,dse,"
    "loop-mssa(licm),adce,simplifycfg,instcombine<no-verify-fixpoint>";

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
  SmallVector<llvm::Function *> done;
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
    done.push_back(&function);
  }
  if (isAll)
    return;
  for (llvm::Function *function : done) {
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::OptimizeNone);
  }
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(code, modules);
  for (llvm::Function *function : done)
    function->removeFnAttr(llvm::Attribute::OptimizeNone);
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

static LogicalResult emit(ModuleOp module, const TargetOptions &target, llvm::CodeGenFileType kind,
                          llvm::raw_pwrite_stream &out) {
  // What describes the program is not code.
  OwningOpRef<ModuleOp> code(module.clone());
  for (Operation &op : llvm::make_early_inc_range(*code->getBody()))
    if (isa<FoveaDialect>(op.getDialect()))
      op.erase();
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(*code, context, "fovea", /*disableVerification=*/true);
  if (!translated)
    return module.emitError("cannot be translated to LLVM IR: is this the llvm stage?");
  if (failed(verifyTranslated(*code, *translated)))
    return failure();
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  if (!machine)
    return module.emitError("LLVM has no code generator for ") << kTriple;
  translated->setTargetTriple(llvm::Triple(kTriple));
  translated->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *translated) {
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    widenBFloat16(function);
    moveBFloat16(function);
    expandBFloat16(function, machine->getMCSubtargetInfo()->checkFeatures("+avx512bf16"));
  }
  optimize(*translated, *machine, [&](const llvm::Function &function) {
    Attribute schedule =
        module.lookupSymbol(function.getName())->getAttr(FoveaDialect::kScheduleAttr);
    return schedule ? !isa<LoopScheduleAttr>(schedule) : !function.hasLocalLinkage();
  });
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

/// Where the C library's mathematics lies: kernels call it, so the shared object names it as
/// needed.
static std::string findMathLibrary() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(static_cast<double (*)(double, double)>(&std::pow)), &info) &&
      info.dli_fname)
    return info.dli_fname;
  return "";
}

LogicalResult mlir::fovea::linkSharedObject(ArrayRef<char> object, std::vector<char> &elf,
                                            std::string &error) {
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("ld.lld-22");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld", {"/usr/lib/llvm-22/bin"});
  if (!linker) {
    error = "found no linker, expected ld.lld-22 or ld.lld on the PATH (Debian's package lld-22)";
    return failure();
  }
  auto fail = [&](const std::string &what) {
    error = *linker + ": " + what + ": " + std::strerror(errno);
    return failure();
  };
  MemoryFile input;
  if (!input.write(object))
    return fail("cannot write its input into memory");
  // The linker renames what it writes, unless that is a pipe.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail("cannot make a pipe to it");
  std::string output = "/proc/self/fd/" + std::to_string(ends[1]), math = findMathLibrary(),
              message;
  SmallVector<StringRef> arguments{
      *linker,           "-shared", "--hash-style=gnu", "-z",           "now", "--strip-debug",
      "--build-id=none", "-o",      "/proc/self/fd/1",  input.getPath()};
  if (!math.empty())
    arguments.append({"--as-needed", math});
  bool failed = false;
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      *linker, arguments, std::nullopt, {std::nullopt, StringRef(output), std::nullopt}, 0,
      &message, &failed);
  ::close(ends[1]);
  bool isRead = !failed && readToEnd(ends[0], elf);
  int reason = errno;
  ::close(ends[0]);
  int code = failed ? -1 : llvm::sys::Wait(process, std::nullopt, &message).ReturnCode;
  if (code != 0) {
    error = *linker + " failed with code " + std::to_string(code) +
            (message.empty() ? "" : ": " + message);
    return failure();
  }
  if (!isRead) {
    errno = reason;
    return fail("cannot read what it wrote");
  }
  return success();
}

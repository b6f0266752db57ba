// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bf16 in LLVM IR: what its code generator would do by calls of the compiler's own library, written
// as arithmetic and moves of integers.
#include "lowering/CodeGen/CodeGen.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace mlir;
using namespace mlir::fovea;

/// Writes what LLVM would do to bf16 by calls of the compiler's own library (before GCC 13 it has
/// no such functions): roundings as arithmetic, to nearest even, where NaN becomes a quiet one, and
/// f64 and integers go by f32; and masked loads and stores, which move elements one by one, on
/// integers. Where a processor has instructions for bf16, they leave f64 alone.
static void expandBFloat16(llvm::Function &function, bool hasInstructions) {
  SmallVector<llvm::Instruction *> found;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
    llvm::Type *type = instruction.getType();
    if (isa<llvm::FPTruncInst>(instruction)) {
      if (hasInstructions && !instruction.getOperand(0)->getType()->getScalarType()->isDoubleTy())
        continue;
    } else if (hasInstructions) {
      continue;
    } else if (isa<llvm::SIToFPInst, llvm::UIToFPInst>(instruction)) {
      // By f32.
    } else if (!call) {
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
      llvm::Type *floats = type->getWithNewType(b.getFloatTy());
      if (isa<llvm::FPTruncInst>(instruction))
        value = b.CreateFPTrunc(value, floats); // of f32: itself
      else
        value = b.CreateCast(cast<llvm::CastInst>(instruction)->getOpcode(), value, floats);
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

/// Uses integers that became bf16 and integers again as what they were, so that no bf16 goes from
/// block to block even where no optimiser runs.
static void foldBitCasts(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *outer = dyn_cast<llvm::BitCastInst>(&instruction);
    auto *inner = outer ? dyn_cast<llvm::BitCastInst>(outer->getOperand(0)) : nullptr;
    if (!inner || inner->getSrcTy() != outer->getDestTy())
      continue;
    outer->replaceAllUsesWith(inner->getOperand(0));
    outer->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(inner);
  }
}

void mlir::fovea::legalizeBFloat16(llvm::Function &function, bool hasInstructions) {
  widenBFloat16(function);
  moveBFloat16(function);
  expandBFloat16(function, hasInstructions);
  foldBitCasts(function);
}

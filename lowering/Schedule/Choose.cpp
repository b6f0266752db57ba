// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule of one group: what kind of computation it is, how many rows it has, and what the
// table says of these.
#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "passes/Analysis/TileForm.h"

using namespace mlir;
using namespace mlir::fovea;

/// The most columns that a row of the group's tensors has.
static int64_t getColumns(GroupOp group, const TileForm &form) {
  int64_t most = 1;
  auto look = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getRank() > form.rowAxes)
      most = std::max(most, ShapedType::getNumElements(tensor.getShape().drop_front(form.rowAxes)));
  };
  llvm::for_each(group.getResultTypes(), look);
  for (BlockArgument argument : form.rowOperands)
    look(argument.getType());
  return most;
}

/// Null for what is no computation of tiles. The op that needs most decides: what stands before and
/// after it is done on its tiles.
Attribute mlir::fovea::chooseTiles(GroupOp group, const Level &level) {
  MLIRContext *context = group.getContext();
  for (Operation &op : group.getBody().front())
    if (auto kernel = dyn_cast<KernelOpInterface>(op))
      if (Attribute schedule = kernel.chooseSchedule(level))
        return schedule;
  TileForm form = getTileForm(group);
  switch (form.kind) {
  case TileForm::Kind::Rows:
    // On a thread's stack.
    return RowScheduleAttr::get(context, fitRows(level.rows, getColumns(group, form), 64 << 10));
  case TileForm::Kind::Elements:
    return ElementScheduleAttr::get(context, level.elements);
  case TileForm::Kind::Contraction:
  case TileForm::Kind::None:
    return {};
  }
  llvm_unreachable("all kinds return");
}

/// The op that computes the group's first result, or null.
static Operation *getRoot(GroupOp group) {
  auto yield = cast<YieldOp>(group.getBody().front().getTerminator());
  return yield.getValues().empty() ? nullptr : yield.getValues().front().getDefiningOp();
}

bool mlir::fovea::isCovered(GroupOp group) {
  for (Operation &op : group.getBody().front())
    if (auto kernel = dyn_cast<KernelOpInterface>(op); kernel && kernel.hasOwnTiles())
      return true;
  return getTileForm(group).kind != TileForm::Kind::None;
}

FailureOr<Attribute> mlir::fovea::chooseSchedule(GroupOp group, TargetAttr target,
                                                 bool assumeCovered) {
  Operation *root = getRoot(group);
  if (!root)
    return group.emitOpError("expects an op that computes its first result, to choose a schedule "
                             "by");
  if (assumeCovered || isCovered(group))
    if (const Level *level = findLevel(target.getLevel()))
      if (Attribute tiles = chooseTiles(group, *level))
        return tiles;
  return Attribute(LoopScheduleAttr::get(group.getContext(), getParallelLoops(root)));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fusion report. It reads what the IR says, and judges nothing else.
#include "tools/compile/FusionReport.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Raise/Attention/Softmaxes.h"
#include "passes/Raise/NearMisses.h"
#include "tools/compile/AttentionKinds.h"
#include "tools/compile/Names.h"
#include "tools/compile/Report.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::fovea;

/// The kinds of mask ops below a mask, each once: "causal", "window", ...
static llvm::json::Array getMaskKinds(Value mask) {
  llvm::json::Array kinds;
  llvm::SetVector<Value> masks;
  llvm::SetVector<llvm::StringRef> names;
  if (mask)
    masks.insert(mask);
  for (size_t i = 0; i < masks.size(); ++i) {
    Operation *op = masks[i].getDefiningOp();
    if (!op)
      continue;
    StringRef name = op->getName().stripDialect();
    if (name.consume_front("mask_") && name != "and" && name != "or" && name != "not")
      names.insert(name);
    // A window that ends at the query is causal too, however it was put together.
    if (auto window = dyn_cast<MaskWindowOp>(op); window && window.getRight() == 0)
      names.insert("causal");
    for (Value operand : op->getOperands())
      if (isa<MaskType>(operand.getType()))
        masks.insert(operand);
  }
  for (llvm::StringRef name : names)
    kinds.push_back(name);
  return kinds;
}

/// How a comparison is written; empty for one of NaN.
template <typename PredicateT> static llvm::StringRef getSignOf(PredicateT predicate) {
  llvm::StringRef name = stringifyEnum(predicate);
  return llvm::StringSwitch<llvm::StringRef>(name.size() == 3 ? name.drop_front() : name)
      .Case("eq", "==")
      .Case("ne", "!=")
      .Case("lt", "<")
      .Case("le", "<=")
      .Case("gt", ">")
      .Case("ge", ">=")
      .Default("");
}

/// How scalar ops are written in a formula: between operands, or in front of them.
static llvm::StringRef getSign(Operation *op) {
  return llvm::TypeSwitch<Operation *, llvm::StringRef>(op)
      .Case<arith::CmpFOp, arith::CmpIOp>(
          [](auto compare) { return getSignOf(compare.getPredicate()); })
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "+"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "-"; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return "*"; })
      .Case<arith::DivFOp>([](auto) { return "/"; })
      .Default(llvm::StringRef());
}

namespace {
/// Writes a region as a formula of its number, which gets a name.
class Formula {
public:
  Formula(const ElementRegion &of, std::string number) : of(of), number(std::move(number)) {}

  std::string print() { return print(of.getResult(), /*nested=*/false); }

private:
  std::string printArgument(BlockArgument argument) {
    unsigned place = argument.getArgNumber(), operands = of.operands.size();
    if (place == 0)
      return number;
    if (place > operands) {
      static constexpr const char *kPlaces[] = {"b", "h", "q", "k"};
      return kPlaces[place - operands - 1];
    }
    std::string name = nameOf(of.operands[place - 1].getLoc());
    if (name.empty())
      name = "t" + std::to_string(place);
    std::string axes;
    for (AffineExpr expr : of.getMap(place - 1).getResults())
      axes +=
          std::string(axes.empty() ? "" : ",") + "bhqk"[cast<AffineDimExpr>(expr).getPosition()];
    return axes.empty() ? name : name + "[" + axes + "]";
  }

  std::string print(Value value, bool nested) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return printArgument(argument);
    Operation *op = value.getDefiningOp();
    Attribute constant;
    if (matchPattern(op, m_Constant(&constant))) {
      std::string text;
      llvm::raw_string_ostream os(text);
      if (auto real = dyn_cast<FloatAttr>(constant))
        os << llvm::format("%g", real.getValueAsDouble());
      else if (auto integer = dyn_cast<IntegerAttr>(constant))
        os << integer.getValue();
      return text;
    }
    if (isa<arith::IndexCastOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp>(
            op))
      return print(op->getOperand(0), nested);
    if (llvm::StringRef sign = getSign(op); !sign.empty()) {
      std::string text =
          print(op->getOperand(0), true) + " " + sign.str() + " " + print(op->getOperand(1), true);
      return nested ? "(" + text + ")" : text;
    }
    std::string text = op->getName().stripDialect().str() + "(";
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      text += (i ? ", " : "") + print(operand, false);
    return text + ")";
  }

  ElementRegion of;
  std::string number;
};
} // namespace

/// The score's rule in one line: "30 * tanh(x / 30)"; what the product is scaled by stands in x.
static std::string getScore(AttentionOp attention) {
  if (attention.hasScore())
    return Formula(attention.getScoreRegion(), "x").print();
  return attention.getAdditive() ? "w * tanh(q + k)" : "x";
}

/// What values are multiplied with, as a formula of p, the probability.
static std::string getWeight(AttentionOp attention) {
  return attention.hasProbability() ? Formula(attention.getProbabilityRegion(), "p").print() : "p";
}

/// A constant that is read beside the scores, whatever its shape was made to.
static DenseElementsAttr getTable(Value operand) {
  while (Operation *op = operand.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
      break;
    operand = op->getOperand(0);
  }
  DenseElementsAttr table;
  matchPattern(operand, m_Constant(&table));
  return table;
}

/// Whether a value of a score region is computed from places and tables alone, and depends on the
/// key's.
static bool isOfPlaces(AttentionOp attention, Value value) {
  ElementRegion score = attention.getScoreRegion();
  unsigned operands = score.operands.size(), ofKey = operands + ElementRegion::kPlaces;
  bool dependsOnKey = false;
  llvm::SetVector<Value> parts;
  parts.insert(value);
  for (size_t i = 0; i < parts.size(); ++i) {
    auto argument = dyn_cast<BlockArgument>(parts[i]);
    if (!argument) {
      Operation *op = parts[i].getDefiningOp();
      if (op->getNumOperands() == 0 && !matchPattern(op, m_Constant()))
        return false;
      parts.insert_range(op->getOperands());
      continue;
    }
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() != &score.getBlock() || number == 0)
      return false;
    dependsOnKey |= number == ofKey;
    if (number > operands)
      continue;
    if (!getTable(score.operands[number - 1]))
      return false;
    for (AffineExpr axis : score.getMap(number - 1).getResults())
      dependsOnKey |= cast<AffineDimExpr>(axis).getPosition() == 3;
  }
  return dependsOnKey;
}

/// What would leave out keys that a score's rule hides by itself: a very negative number that
/// places choose. That it hides them is only known of masks, so nothing more is said than that.
/// Empty if there is none.
static std::string getHiddenKeys(AttentionOp attention) {
  std::string change;
  auto consider = [&](double number) {
    if (change.empty() && number <= -1000)
      llvm::raw_string_ostream(change)
          << "mask the whole score or add -inf to it: the " << llvm::format("%g", number)
          << " that places alone choose stands inside of its formula, where it skips none";
  };
  attention.getScore().walk([&](arith::SelectOp select) {
    FloatAttr number;
    if (isOfPlaces(attention, select.getCondition()))
      for (Value chosen : {select.getTrueValue(), select.getFalseValue()})
        if (matchPattern(chosen, m_Constant(&number)))
          consider(number.getValueAsDouble());
  });
  if (!attention.hasScore())
    return change;
  for (auto [i, operand] : llvm::enumerate(attention.getScoreOperands())) {
    DenseElementsAttr table = getTable(operand);
    if (!table || table.isSplat() || !isa<FloatType>(table.getElementType()) ||
        !isOfPlaces(attention, attention.getScoreRegion().getArgument(i)))
      continue;
    // A mask has two numbers; what has more is a bias.
    SmallVector<double, 3> numbers;
    for (const APFloat &element : table.getValues<APFloat>())
      if (double number = FloatAttr::getValueAsDouble(element);
          numbers.size() <= 2 && !llvm::is_contained(numbers, number))
        numbers.push_back(number);
    if (numbers.size() == 2)
      consider(std::min(numbers[0], numbers[1]));
  }
  return change;
}

/// How often a function is called in one run of the entry that calls it most.
static unsigned countCalls(ModuleOp module, Operation *inside) {
  auto function = inside->getParentOfType<func::FuncOp>();
  if (!function || function->hasAttr(FoveaDialect::kEntryAttr))
    return 1;
  unsigned most = 1;
  for (auto caller : module.getOps<func::FuncOp>()) {
    unsigned calls = 0;
    caller.walk([&](func::CallOp call) { calls += call.getCallee() == function.getName(); });
    most = std::max(most, calls);
  }
  return most;
}

/// The place of one of several calls: `layers.*` with the layer's number.
static std::string placeOfCall(std::string place, unsigned call, unsigned calls) {
  size_t star = calls > 1 ? place.find('*') : std::string::npos;
  if (star != std::string::npos)
    place.replace(star, 1, std::to_string(call));
  return place;
}

/// An entry for each call of the op.
static void add(FusionReport &report, Operation *op, llvm::json::Object entry) {
  std::string place = placeOf(op->getLoc());
  unsigned calls = countCalls(op->getParentOfType<ModuleOp>(), op);
  for (unsigned call = 0; call < calls; ++call) {
    llvm::json::Object one = entry;
    one["location"] = placeOfCall(place, call, calls);
    report.missed += *one.getString("status") == "not fused";
    report.attention.push_back(std::move(one));
  }
}

FusionReport mlir::fovea::buildFusionReport(ModuleOp module) {
  FusionReport report;
  module.walk([&](AttentionOp attention) {
    StringRef reason = attention.getWeights()
                           ? "the weights are asked for, so they are written: memory of Sq times Sk"
                           : "";
    add(report, attention,
        llvm::json::Object{{"status", "fused"},
                           {"masks", getMaskKinds(attention.getMask())},
                           {"score", getScore(attention)},
                           {"weight", getWeight(attention)},
                           {"reason", reason},
                           {"change", getHiddenKeys(attention)}});
  });
  auto addPlain = [&](Operation *op, StringRef status, StringRef reason, StringRef change) {
    add(report, op,
        llvm::json::Object{{"status", status.str()},
                           {"masks", llvm::json::Array()},
                           {"score", ""},
                           {"weight", ""},
                           {"reason", reason.str()},
                           {"change", change.str()}});
  };
  for (const LooseSoftmax &softmax : findLooseSoftmaxes(module)) {
    if (weighsValues(softmax.op))
      addPlain(softmax.op, "not fused", softmax.reason, softmax.change);
    else
      addPlain(softmax.op, "softmax", softmax.reason, "");
  }
  for (const OtherAttention &other : findOtherAttentions(module))
    addPlain(other.op, "other", other.what, "");
  auto add = [&](const SmallVector<NearMiss> &misses) {
    for (const NearMiss &miss : misses)
      report.notRaised.push_back(llvm::json::Object{
          {"location", placeOf(miss.op->getLoc())}, {"kind", miss.kind}, {"reason", miss.reason}});
  };
  add(findNearNorms(module));
  add(findNearActivations(module));
  return report;
}

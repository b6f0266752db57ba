// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products: MatMul, Gemm, Einsum.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

static LogicalResult importMatMul(Importer &im) {
  Data *a = im.input(0), *c = im.input(1);
  if (!a || !c || a->type != c->type)
    return im.invalid("expects two operands of one element type");
  TRY(auto *result, im.matmul(*a, *c));
  im.set(0, result);
  return success();
}

static LogicalResult importGemm(Importer &im) {
  Data *a = im.input(0), *c = im.input(1);
  if (!a || !c || a->rank() != 2 || c->rank() != 2 || a->type != c->type)
    return im.invalid("expects two matrices of one element type");
  double alpha = im.real("alpha", 1), beta = im.real("beta", 1);
  bool transA = im.integer("transA", 0), transB = im.integer("transB", 0);
  TRY(auto *result, im.contract(*a, transA ? "km" : "mk", *c, transB ? "nk" : "kn", "mn", a->type));
  auto scaled = [&](Data *x, double factor) -> FailureOr<Data *> {
    if (factor == 1)
      return x;
    if (!isFloat(x->type))
      return im.unsupported("factors of integers; expects alpha and beta to be 1");
    return im.binary("Mul", x, im.makeReal(x->type, factor));
  };
  TRY(result, scaled(result, alpha));
  if (Data *bias = im.input(2)) {
    TRY(bias, scaled(bias, beta));
    result = im.binary("Add", result, bias);
  }
  im.set(0, result);
  return success();
}

/// Where a letter stands twice in a term, the elements at which both places agree.
static Data *takeDiagonals(Importer &im, Data *x, std::string &letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    size_t other = letters.find(letters[i], i + 1);
    if (other == std::string::npos)
      continue;
    SmallVector<Sym> shape(x->shape);
    shape.erase(shape.begin() + other);
    Value source = im.value(*x);
    Value last = im.symbols.materialize(im.symbols.sub(x->shape[other], im.number(1)));
    x = im.generate(x->type, shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
      SmallVector<Value> from(at);
      from.insert(from.begin() + other, arith::MinSIOp::create(b, at[i], last));
      return tensor::ExtractOp::create(b, source, from).getResult();
    });
    letters.erase(other, 1);
    --i;
  }
  return x;
}

/// The letters of a term, "..." spelt out by capitals that count from the end.
static FailureOr<std::string> readTerm(Importer &im, StringRef term, int64_t rank, int64_t &extra) {
  std::string letters = term.str();
  letters.erase(std::remove(letters.begin(), letters.end(), ' '), letters.end());
  size_t dots = letters.find("...");
  if (dots != std::string::npos) {
    int64_t named = letters.size() - 3, open = rank < 0 ? extra : rank - named;
    if (open < 0 || open > 20)
      return im.invalid("expects a term that fits rank " + Twine(rank) + ", got '" + term + "'");
    extra = std::max(extra, open);
    std::string spelt;
    for (int64_t i = open; i-- > 0;)
      spelt += static_cast<char>('\x01' + i);
    letters = letters.substr(0, dots) + spelt + letters.substr(dots + 3);
  }
  if (rank >= 0 && static_cast<int64_t>(letters.size()) != rank)
    return im.invalid("expects a term of " + Twine(rank) + " axes, got '" + term + "'");
  for (char letter : letters) {
    if (!(letter > 0 && letter < 32) && !llvm::isAlpha(letter))
      return im.invalid("expects letters, got '" + term + "'");
  }
  return letters;
}

static LogicalResult importEinsum(Importer &im) {
  std::string equation = im.text("equation", "");
  auto [left, right] = StringRef(equation).split("->");
  bool isExplicit = StringRef(equation).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  SmallVector<Data *> operands = im.inputs();
  if (terms.size() != operands.size() || operands.empty())
    return im.invalid("expects a term for each of " + Twine(operands.size()) + " operands, got " +
                      Twine(terms.size()));
  int64_t extra = 0;
  SmallVector<std::string> letters;
  for (auto [term, operand] : llvm::zip(terms, operands)) {
    if (!operand)
      return im.invalid("expects operands, got none");
    TRY(std::string read, readTerm(im, term, operand->rank(), extra));
    operand = takeDiagonals(im, operand, read);
    letters.push_back(read);
  }
  std::string out;
  if (isExplicit) {
    TRY(out, readTerm(im, right, -1, extra));
  } else {
    // Implicit: broadcast axes, then letters that stand once, in order.
    std::string all;
    for (char letter : left)
      all += llvm::isAlpha(letter) ? std::string(1, letter) : "";
    for (int64_t i = extra; i-- > 0;)
      out += static_cast<char>('\x01' + i);
    std::string once;
    for (char letter : all)
      if (letter >= 32 && llvm::count(all, letter) == 1)
        once += letter;
    llvm::sort(once);
    out += once;
  }
  for (char letter : out)
    if (llvm::count(out, letter) > 1)
      return im.invalid("expects distinct letters in the result");
  for (char letter : out)
    if (llvm::none_of(letters,
                      [&](const std::string &term) { return llvm::is_contained(term, letter); }))
      return im.invalid("expects results' letters in a term");

  Data *result = operands.front();
  std::string have = letters.front();
  // Letters that nothing else asks for are summed at once.
  auto sumOut = [&](Data *x, std::string &own, ArrayRef<std::string> rest) {
    SmallVector<int64_t> summed;
    std::string kept;
    for (auto [i, letter] : llvm::enumerate(own)) {
      bool isNeeded = llvm::is_contained(out, letter) ||
                      llvm::any_of(rest, [&, l = letter](const std::string &term) {
                        return llvm::is_contained(term, l);
                      });
      if (isNeeded)
        kept += letter;
      else
        summed.push_back(i);
    }
    own = kept;
    return summed.empty() ? x : im.reduce(*x, summed, false, Importer::Reduction::Sum);
  };
  result = sumOut(result, have, ArrayRef(letters).drop_front());
  for (size_t i = 1; i < operands.size(); ++i) {
    Data *next = operands[i];
    std::string own = letters[i];
    SmallVector<std::string> others(ArrayRef(letters).drop_front(i + 1));
    others.push_back(have);
    next = sumOut(next, own, others);
    std::string target;
    if (i + 1 == operands.size()) {
      target = out;
    } else {
      for (char letter : have + own) {
        bool isLater = llvm::is_contained(out, letter);
        for (const std::string &term : ArrayRef(letters).drop_front(i + 1))
          isLater |= llvm::is_contained(term, letter);
        if (isLater && !llvm::is_contained(target, letter))
          target += letter;
      }
    }
    TRY(result, im.contract(*result, have, *next, own, target, result->type));
    have = target;
  }
  if (have != out) {
    SmallVector<int64_t> permutation;
    for (char letter : out)
      permutation.push_back(have.find(letter));
    result = im.transpose(*result, permutation);
  }
  im.set(0, result);
  return success();
}

void mlir::fovea::onnx::addContractionOps(OpTable &table) {
  table.add("Einsum", 13, importEinsum);
  table.add("Gemm", 13, importGemm);
  table.add("MatMul", 13, importMatMul);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of the tile grid that are about elements: reductions and what is made of them, casts,
// gathers, branches and loops that carry tiles, and where stores end.
#include "test/grid/TileCase.h"
#include <cmath>
#include <functional>
#include <limits>

using namespace mlir::fovea;

static std::string number(int64_t n) { return std::to_string(n); }

static const char *const kHead = R"mlir(
func.func @kernel($ARGUMENTS, %part: index, %parts: index) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %tm = arith.constant $TM : index
$BODY
  return
}
)mlir";

using Words = std::vector<std::pair<std::string, std::string>>;

static std::string makeKernel(const std::string &arguments, const std::string &body, Words words) {
  words.insert(words.end(), {{"ARGUMENTS", arguments}, {"BODY", body}});
  return fill(kHead, words);
}

/// A call that changes the last argument to what `reference` makes of it.
static TileCall makeCall(std::vector<Array> arguments,
                         const std::function<void(Array &)> &reference) {
  TileCall call{arguments, std::move(arguments)};
  reference(call.after.back());
  return call;
}

//===-- What several tests reduce and carry --------------------------------------------------===//

Array mlir::fovea::makeReduced(std::string type, int64_t rows, int64_t columns, int seed,
                               bool maximum) {
  Array x = makeNumbers(std::move(type), {rows, columns}, seed);
  if (maximum) {
    for (double &value : x.values)
      value = -std::abs(value) - 1;
    x.at(0, 0) = x.at(rows - 1, columns / 2) = std::nan("");
  }
  return x;
}

double mlir::fovea::reduce(const Array &x, int axis, bool maximum, int64_t at) {
  double joined = maximum ? std::nan("") : 0;
  for (int64_t i = 0; i < x.shape[axis]; ++i) {
    double value = axis ? x.at(at, i) : x.at(i, at);
    joined = maximum ? std::fmax(joined, value) : joined + value;
  }
  return joined;
}

const char *const mlir::fovea::kCarried = R"mlir(
  %four = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  %rows = memref.dim %x, %c0 : memref<?x9xf32>
  %xv = tile.view %x axes(0, 1) : memref<?x9xf32> -> !tile.view<?x9xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x9xf32> -> !tile.view<?x9xf32>
  %blocks = arith.ceildivui %rows, %four : index
  tile.kernel grid(%b) = (%blocks) {
    %i = arith.muli %b, %four : index
    %t = tile.load %xv[%i, %c0] : !tile.view<?x9xf32> -> $T
    %first = arith.cmpi eq, %b, %c0 : index
    %z = tile.splat %two : $T
    %p:2 = scf.if %first -> ($T, f32) {
      scf.yield %t, %zero : $T, f32
    } else {
      %d = tile.map(%u = %t) : ($T) -> $T {
        %0 = arith.mulf %u, %two : f32
        tile.yield %0 : f32
      }
      scf.yield %d, %two : $T, f32
    }
    %q:3 = scf.for %l = %c0 to %n step %c1 iter_args(%u = %p#0, %k = %p#1, %v = %z) -> ($T, f32, $T) {
      %s = tile.map(%e = %u, %f = %v) : ($T, $T) -> $T {
        %0 = arith.addf %e, %f : f32
        tile.yield %0 : f32
      }
      %h = arith.addf %k, %two : f32
      scf.yield %v, %h, %s : $T, f32, $T
    }
    $EXTRACT
    %o = tile.map(%u = %q#0, %v = %q#2) : ($T, $T) -> $T {
      %0 = arith.mulf %v, %two : f32
      %1 = arith.subf %u, %0 : f32
      %2 = arith.addf %1, $K : f32
      tile.yield %2 : f32
    }
    %some = arith.cmpi ne, %n, %c1 : index
    scf.if %some {
      tile.store %o, %yv[%i, %c0] : $T, !tile.view<?x9xf32>
    }
  })mlir";

void mlir::fovea::carry(const Array &x, int64_t rounds, Array &y) {
  for (int64_t r = 0; r < y.shape[0] && rounds != 1; ++r)
    for (int64_t c = 0; c < 9; ++c) {
      double u = r < 4 ? x.at(r, c) : 2 * x.at(r, c), v = 2, k = r < 4 ? 0 : 2;
      for (int64_t round = 0; round < rounds; ++round, k += 2) {
        double s = u + v;
        u = v;
        v = s;
      }
      y.at(r, c) = u - 2 * v + k;
    }
}

//===-- Reductions ---------------------------------------------------------------------------===//

/// y = 3 x - reduced(x), of whole matrices of static shape: rows, columns and tiles fit. (x - x of
/// one element would be zero, whatever was read, and 2 x - x what was read.)
static TileCase makeReduction(int64_t rows, int64_t columns, int axis, bool maximum, int lanes) {
  TileCase result;
  result.name = std::string(maximum ? "maximum" : "sum") + "_axis_" + number(axis) + "_" +
                number(rows) + "x" + number(columns) + (lanes ? "" : "_rows_in_lanes");
  result.text = makeKernel("%x: memref<$Mx$Nxf32>, %y: memref<$Mx$Nxf32>", R"mlir(
  %xv = tile.view %x axes(0, 1) : memref<$Mx$Nxf32> -> !tile.view<$Mx$Nxf32>
  %yv = tile.view %y axes(0, 1) : memref<$Mx$Nxf32> -> !tile.view<$Mx$Nxf32>
  tile.kernel grid(%b) = (%c1) {
    %t = tile.load %xv[%c0, %c0] : !tile.view<$Mx$Nxf32> -> !tile.tile<$Mx$Nxf32$L>
    %r = tile.reduce $KIND %t axis($AXIS) : !tile.tile<$Mx$Nxf32$L> -> !tile.tile<$Rxf32$L>
    %s = tile.broadcast %r : !tile.tile<$Rxf32$L> -> !tile.tile<$Mx$Nxf32$L>
    %d = tile.map(%u = %t, %v = %s) : (!tile.tile<$Mx$Nxf32$L>, !tile.tile<$Mx$Nxf32$L>) -> !tile.tile<$Mx$Nxf32$L> {
      %0 = arith.addf %u, %u : f32
      %1 = arith.addf %0, %u : f32
      %2 = arith.subf %1, %v : f32
      tile.yield %2 : f32
    }
    tile.store %d, %yv[%c0, %c0] : !tile.tile<$Mx$Nxf32$L>, !tile.view<$Mx$Nxf32>
  })mlir",
                           {{"M", number(rows)},
                            {"N", number(columns)},
                            {"L", lanes ? "" : ", lanes 0"},
                            {"KIND", maximum ? "maximum" : "sum"},
                            {"AXIS", number(axis)},
                            {"TM", number(rows)},
                            {"R", axis ? "$Mx1" : "1x$N"}});
  // Several matrices, so that each place holds a maximum once.
  for (int seed : {5, 7, 8, 9}) {
    Array x = makeReduced("f32", rows, columns, seed, maximum);
    result.calls.push_back(makeCall({x, makeNumbers("f32", {rows, columns}, 6)}, [&](Array &y) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          y.at(r, c) = 3 * x.at(r, c) - reduce(x, axis, maximum, axis ? r : c);
    }));
  }
  return result;
}

/// Rows that are longer than memory's: what is outside is masked before it is added up. Then
/// y = (x - mean) / sqrt(variance + 1) * w.
static TileCase makeNorm(int64_t tileRows, int64_t tileColumns, int64_t columns,
                         const std::string &type, int lanes) {
  TileCase result;
  result.tolerance = 2e-6;
  result.name = "norm_" + type + "_" + number(columns) + "_by_" + number(tileRows) + "x" +
                number(tileColumns) + (lanes ? "" : "_rows_in_lanes");
  result.text = makeKernel("%x: memref<?x$Nx$T>, %w: memref<$Nxf32>, %y: memref<?x$Nx$T>", R"mlir(
  %n = arith.constant $N : i32
  %count = arith.constant $N.0 : f32
  %one = arith.constant 1.0 : f32
  %rows = memref.dim %x, %c0 : memref<?x$Nx$T>
  %blocks = arith.ceildivui %rows, %tm : index
  %xv = tile.view %x axes(0, 1) : memref<?x$Nx$T> -> !tile.view<?x$Nx$T>
  %wv = tile.view %w axes(0) : memref<$Nxf32> -> !tile.view<1x$Nxf32>
  %yv = tile.view %y axes(0, 1) : memref<?x$Nx$T> -> !tile.view<?x$Nx$T>
  tile.kernel grid(%b) = (%blocks) {
    %i = arith.muli %b, %tm : index
    %t = tile.load %xv[%i, %c0] : !tile.view<?x$Nx$T> -> !tile.tile<$TILEx$T$L>
    $WIDEN
    %at = tile.iota axis(1) from %c0 : !tile.tile<$TILExi32$L>
    %in = tile.map(%p = %at) : (!tile.tile<$TILExi32$L>) -> !tile.tile<$TILExi1$L> {
      %0 = arith.cmpi slt, %p, %n : i32
      tile.yield %0 : i1
    }
    %m = tile.map(%v = %f, %k = %in) : ($F, !tile.tile<$TILExi1$L>) -> $F {
      %0 = arith.select %k, %v, %zero : f32
      tile.yield %0 : f32
    }
    %s = tile.reduce sum %m axis(1) : $F -> !tile.tile<$TMx1xf32$L>
    %means = tile.broadcast %s : !tile.tile<$TMx1xf32$L> -> $F
    %d = tile.map(%v = %f, %z = %means, %k = %in) : ($F, $F, !tile.tile<$TILExi1$L>) -> $F {
      %0 = arith.divf %z, %count : f32
      %1 = arith.subf %v, %0 : f32
      %2 = arith.select %k, %1, %zero : f32
      tile.yield %2 : f32
    }
    %q = tile.map(%v = %d) : ($F) -> $F {
      %0 = arith.mulf %v, %v : f32
      tile.yield %0 : f32
    }
    %e = tile.reduce sum %q axis(1) : $F -> !tile.tile<$TMx1xf32$L>
    %g = tile.map(%v = %e) : (!tile.tile<$TMx1xf32$L>) -> !tile.tile<$TMx1xf32$L> {
      %0 = arith.divf %v, %count : f32
      %1 = arith.addf %0, %one : f32
      %2 = math.sqrt %1 : f32
      %3 = arith.divf %one, %2 : f32
      tile.yield %3 : f32
    }
    %gs = tile.broadcast %g : !tile.tile<$TMx1xf32$L> -> $F
    %w0 = tile.load %wv[%c0, %c0] : !tile.view<1x$Nxf32> -> !tile.tile<1x$TNxf32$L>
    %ws = tile.broadcast %w0 : !tile.tile<1x$TNxf32$L> -> $F
    %o = tile.map(%v = %d, %a = %gs, %c = %ws) : ($F, $F, $F) -> $F {
      %0 = arith.mulf %v, %a : f32
      %1 = arith.mulf %0, %c : f32
      tile.yield %1 : f32
    }
    $NARROW
    tile.store %r, %yv[%i, %c0] : !tile.tile<$TILEx$T$L>, !tile.view<?x$Nx$T>
  })mlir",
                           {{"TM", number(tileRows)},
                            {"TN", number(tileColumns)},
                            {"TILE", "$TMx$TN"},
                            {"N", number(columns)},
                            {"T", type},
                            {"L", lanes ? "" : ", lanes 0"},
                            {"F", "!tile.tile<$TILExf32$L>"},
                            {"WIDEN", "%f = tile.cast %t : !tile.tile<$TILEx$T$L> -> $F"},
                            {"NARROW", "%r = tile.cast %o : $F -> !tile.tile<$TILEx$T$L>"}});
  for (int64_t rows : {1, 4, 7, 17, 19, 31}) {
    Array x = makeNumbers(type, {rows, columns}, 1), w = makeNumbers("f32", {columns}, 2);
    result.calls.push_back(makeCall({x, w, makeNumbers(type, {rows, columns}, 3)}, [&](Array &y) {
      for (int64_t r = 0; r < rows; ++r) {
        double mean = 0, variance = 0;
        for (int64_t c = 0; c < columns; ++c)
          mean += x.at(r, c) / columns;
        for (int64_t c = 0; c < columns; ++c)
          variance += (x.at(r, c) - mean) * (x.at(r, c) - mean) / columns;
        for (int64_t c = 0; c < columns; ++c)
          y.at(r, c) = (x.at(r, c) - mean) / std::sqrt(variance + 1) * w.values[c];
      }
    }));
  }
  return result;
}

//===-- Casts --------------------------------------------------------------------------------===//

/// Numbers of all bits, ties, infinities and NaN, rounded to nearest even.
static TileCase makeCast(const std::string &from, const std::string &to, int lanes, bool turn) {
  TileCase result;
  result.name =
      "cast_" + from + "_to_" + to + (lanes ? "" : "_rows_in_lanes") + (turn ? "_turned" : "");
  result.text = makeKernel("%x: memref<?x21x$T>, %y: memref<?x21x$U>", R"mlir(
  %rows = memref.dim %x, %c0 : memref<?x21x$T>
  %blocks = arith.ceildivui %rows, %tm : index
  %xv = tile.view %x axes(0, 1) : memref<?x21x$T> -> !tile.view<?x21x$T>
  %yv = tile.view %y axes(0, 1) : memref<?x21x$U> -> !tile.view<?x21x$U>
  tile.kernel grid(%b) = (%blocks) {
    %i = arith.muli %b, %tm : index
    %t = tile.load %xv[%i, %c0] : !tile.view<?x21x$T> -> !tile.tile<6x21x$T$L>
    %u = tile.cast %t : !tile.tile<6x21x$T$L> -> !tile.tile<6x21x$U$M>
    tile.store %u, %yv[%i, %c0] : !tile.tile<6x21x$U$M>, !tile.view<?x21x$U>
  })mlir",
                           {{"TM", "6"},
                            {"T", from},
                            {"U", to},
                            {"L", lanes ? "" : ", lanes 0"},
                            {"M", (lanes == 0) != turn ? ", lanes 0" : ""}});
  Array x = makeNumbers(from, {13, 21}, 1);
  for (size_t i = 0; i < x.values.size(); ++i)
    if (from == "f32" && i % 3)
      x.values[i] = static_cast<float>(x.values[i] * M_PI * std::pow(2.0, i % 7));
  double specials[] = {0.0, -0.0, INFINITY, -INFINITY, std::nan("")};
  for (size_t i = 0; i < std::size(specials); ++i)
    x.values[40 + i] = specials[i];
  if (from == "f32") {
    // Half-way between neighbours of bf16, of f16 and just beside; too large for f16, for both.
    double ties[] = {1 + std::pow(2, -8),
                     1 + 3 * std::pow(2, -8),
                     1 + std::pow(2, -8) + std::pow(2, -20),
                     1 + std::pow(2, -11),
                     1 + 3 * std::pow(2, -11),
                     65519,
                     65520,
                     3.4e38f};
    for (size_t i = 0; i < std::size(ties); ++i)
      x.values[60 + i] = ties[i];
  }
  // The runner rounds what it expects to the buffer's type. Beside one row too many: one too few,
  // and tiles that fit.
  for (int64_t rows : {0, 5, 6, 12, 13}) {
    Array some{from, {rows, 21}, {x.values.begin(), x.values.begin() + rows * 21}};
    result.calls.push_back(makeCall({some, makeNumbers(to, {rows, 21}, 2)},
                                    [&](Array &y) { y.values = some.values; }));
  }
  return result;
}

//===-- Others -------------------------------------------------------------------------------===//

/// Rows of a table by numbers, of which some are outside; plus a position.
static TileCase makeGather(const std::string &type, const std::string &ids, int64_t tileColumns) {
  TileCase result;
  result.name = "gather_" + type + "_by_" + ids + "_" + number(tileColumns);
  result.text =
      makeKernel("%t: memref<6x37x$T>, %ids: memref<?x1x$I>, %y: memref<?x37xf32>", R"mlir(
  %c37 = arith.constant 37 : index
  %tn = arith.constant $TN : index
  %rows = memref.dim %ids, %c0 : memref<?x1x$I>
  %blocks = arith.ceildivui %rows, %tm : index
  %panels = arith.ceildivui %c37, %tn : index
  %tv = tile.view %t axes(0, 1) : memref<6x37x$T> -> !tile.view<6x37x$T>
  %iv = tile.view %ids axes(0, 1) : memref<?x1x$I> -> !tile.view<?x1x$I>
  %yv = tile.view %y axes(0, 1) : memref<?x37xf32> -> !tile.view<?x37xf32>
  tile.kernel grid(%b, %p) = (%blocks, %panels) {
    %i = arith.muli %b, %tm : index
    %j = arith.muli %p, %tn : index
    %id = tile.load %iv[%i, %c0] : !tile.view<?x1x$I> -> !tile.tile<$TMx1x$I>
    %g = tile.gather %tv[%id, %j] : !tile.view<6x37x$T>, !tile.tile<$TMx1x$I> -> !tile.tile<$TMx$TNx$T>
    %w = tile.cast %g : !tile.tile<$TMx$TNx$T> -> !tile.tile<$TMx$TNxf32>
    %at = tile.iota axis(0) from %i : !tile.tile<$TMx$TNxi32>
    %o = tile.map(%u = %w, %k = %at) : (!tile.tile<$TMx$TNxf32>, !tile.tile<$TMx$TNxi32>) -> !tile.tile<$TMx$TNxf32> {
      %0 = arith.sitofp %k : i32 to f32
      %1 = arith.addf %u, %0 : f32
      tile.yield %1 : f32
    }
    tile.store %o, %yv[%i, %j] : !tile.tile<$TMx$TNxf32>, !tile.view<?x37xf32>
  })mlir",
                 {{"T", type}, {"I", ids}, {"TM", "4"}, {"TN", number(tileColumns)}});
  double low = ids == "i64" ? -std::pow(2.0, 63) : -std::pow(2.0, 31);
  for (const std::vector<double> &rows : std::vector<std::vector<double>>{
           {5}, {0, 1, 2, 3}, {-1, 6, 5, low, 4, 2147483647}, {2, 4, 5, 1, 3}}) {
    int64_t count = rows.size();
    Array table = makeNumbers(type, {6, 37}, 1), numbers{ids, {count, 1}, rows};
    result.calls.push_back(
        makeCall({table, numbers, makeNumbers("f32", {count, 37}, 2)}, [&](Array &y) {
          for (int64_t r = 0; r < count; ++r)
            for (int64_t c = 0; c < 37; ++c)
              y.at(r, c) = table.at(rows[r] >= 0 && rows[r] < 6 ? rows[r] : 0, c) + r;
        }));
  }
  return result;
}

/// Tiles out of a branch, tiles that a loop exchanges, and a scalar beside them.
static TileCase makeCarried(int lanes) {
  TileCase result;
  result.name = std::string("carried") + (lanes ? "" : "_rows_in_lanes");
  result.text = makeKernel("%x: memref<?x9xf32>, %n: index, %y: memref<?x9xf32>", kCarried,
                           {{"T", lanes ? "!tile.tile<4x9xf32>" : "!tile.tile<4x9xf32, lanes 0>"},
                            {"TM", "4"},
                            {"EXTRACT", ""},
                            {"K", "%q#1"}});
  // Sums stay exact: each number at most doubles what came before. Loops are unrolled by up to
  // eight, so there are rounds of that and what is left of them.
  for (auto [times, rows] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 7}, {1, 7}, {2, 7}, {5, 5}, {7, 4}, {8, 8}, {19, 7}}) {
    Array x = makeNumbers("f32", {rows, 9}, 1);
    result.calls.push_back(makeCall({x, makeIndex(times), makeNumbers("f32", {rows, 9}, 2)},
                                    [&, times = times](Array &y) { carry(x, times, y); }));
  }
  return result;
}

/// Appends to a cache: rows [first, first + n) of one head, up to a length; all else stays.
static TileCase makeAppend(const std::string &type, int lanes, bool turned) {
  TileCase result;
  result.name = "append_" + type + (lanes ? "" : "_rows_in_lanes") + (turned ? "_turned" : "");
  // The cache is [2, 3, positions, 20], or with the last two the other way round.
  result.text = makeKernel("%x: memref<?x20xf32>, %first: index, %end: index, %y: $Y", R"mlir(
  %c2 = arith.constant 2 : index
  %rows = memref.dim %x, %c0 : memref<?x20xf32>
  %blocks = arith.ceildivui %rows, %tm : index
  %xv = tile.view %x axes(0, 1) : memref<?x20xf32> -> !tile.view<?x20xf32>
  %yv = tile.view %y at(%c1, %c2) axes($AXES) length(%end) : $Y -> !tile.view<?x20x$T>
  tile.kernel grid(%b) = (%blocks) {
    %i = arith.muli %b, %tm : index
    %at = arith.addi %first, %i : index
    %t = tile.load %xv[%i, %c0] : !tile.view<?x20xf32> -> !tile.tile<5x20xf32$L>
    %u = tile.cast %t : !tile.tile<5x20xf32$L> -> !tile.tile<5x20x$T$L>
    tile.store %u, %yv[%at, %c0] : !tile.tile<5x20x$T$L>, !tile.view<?x20x$T>
  })mlir",
                           {{"TM", "5"},
                            {"T", type},
                            {"L", lanes ? "" : ", lanes 0"},
                            {"Y", turned ? "memref<2x3x20x?x$T>" : "memref<2x3x?x20x$T>"},
                            {"AXES", turned ? "3, 2" : "2, 3"}});
  for (auto [first, rows] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {3, 5}, {2, 11}, {1, 4}, {0, 16}}) {
    int64_t room = 16, end = first + rows;
    Array x = makeNumbers("f32", {rows, 20}, 1);
    for (double &value : x.values) // which the cache's type rounds
      value = static_cast<float>(value * M_PI);
    std::vector<int64_t> shape = {2, 3, room, 20};
    if (turned)
      std::swap(shape[2], shape[3]);
    result.calls.push_back(makeCall(
        {x, makeIndex(first), makeIndex(end), makeNumbers(type, shape, 2)},
        [&, first = first, rows = rows](Array &y) {
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < 20; ++c)
              y.values[5 * room * 20 + (turned ? c * room + first + r : (first + r) * 20 + c)] =
                  x.at(r, c);
        }));
  }
  return result;
}

/// An element's own number says where a table is read.
static TileCase makeLookup() {
  TileCase result;
  result.name = "lookup";
  result.text =
      makeKernel("%table: memref<?xf32>, %x: memref<?x19xi32>, %y: memref<?x19xf32>", R"mlir(
  %n = memref.dim %table, %c0 : memref<?xf32>
  %rows = memref.dim %x, %c0 : memref<?x19xi32>
  %blocks = arith.ceildivui %rows, %tm : index
  %xv = tile.view %x axes(0, 1) : memref<?x19xi32> -> !tile.view<?x19xi32>
  %yv = tile.view %y axes(0, 1) : memref<?x19xf32> -> !tile.view<?x19xf32>
  tile.kernel grid(%b) = (%blocks) {
    %i = arith.muli %b, %tm : index
    %t = tile.load %xv[%i, %c0] : !tile.view<?x19xi32> -> !tile.tile<3x19xi32>
    %o = tile.map(%u = %t) : (!tile.tile<3x19xi32>) -> !tile.tile<3x19xf32> {
      %0 = arith.index_cast %u : i32 to index
      %1 = arith.cmpi ult, %0, %n : index
      %2 = arith.select %1, %0, %c0 : index
      %3 = memref.load %table[%2] : memref<?xf32>
      tile.yield %3 : f32
    }
    tile.store %o, %yv[%i, %c0] : !tile.tile<3x19xf32>, !tile.view<?x19xf32>
  })mlir",
                 {{"TM", "3"}});
  Array table = makeNumbers("f32", {11}, 1);
  for (int64_t rows : {1, 2, 3, 4, 8}) {
    Array x{"i32", {rows, 19}, {}};
    for (int64_t i = 0; i < rows * 19; ++i)
      x.values.push_back(i * 7 % 13 - 1);
    result.calls.push_back(makeCall({table, x, makeNumbers("f32", {rows, 19}, 2)}, [&](Array &y) {
      for (int64_t i = 0; i < rows * 19; ++i)
        y.values[i] = table.values[x.values[i] >= 0 && x.values[i] < 11 ? x.values[i] : 0];
    }));
  }
  return result;
}

/// A product leaves out the k that are outside of either operand's view, where NaN lies. Its left
/// operand has a row of ones, of twos, of threes, so that rows can be told apart.
static TileCase makeSkipped(int64_t left, int64_t right, int lanes) {
  TileCase result;
  result.tolerance = 1e-6;
  result.name = "skipped_" + number(left) + "_" + number(right) + (lanes ? "" : "_rows_in_lanes");
  result.text = makeKernel(
      "%x: memref<20x5xf32>, %z: memref<20x24xf32>, %k: index, %l: index, %y: memref<24x5xf32>",
      R"mlir(
  %xv = tile.view %x axes(0, 1) length(%k) : memref<20x5xf32> -> !tile.view<?x5xf32>
  %zv = tile.view %z axes(0, 1) length(%l) : memref<20x24xf32> -> !tile.view<?x24xf32>
  %yv = tile.view %y axes(1, 0) : memref<24x5xf32> -> !tile.view<5x24xf32>
  tile.kernel grid(%b) = (%c1) {
    %three = arith.constant 3 : index
    %u = tile.load %xv[%c0, %c0] : !tile.view<?x5xf32> -> !tile.tile<20x5xf32>
    %at = tile.iota axis(0) from %c1 : !tile.tile<3x20xi32$L>
    %rows = tile.map(%a = %at) : (!tile.tile<3x20xi32$L>) -> !tile.tile<3x20xf32$L> {
      %0 = arith.sitofp %a : i32 to f32
      tile.yield %0 : f32
    }
    %v = tile.load %zv[%c0, %c0] : !tile.view<?x24xf32> -> !tile.tile<20x24xf32>
    %p = tile.dot %rows, %v : !tile.tile<3x20xf32$L>, !tile.tile<20x24xf32> -> !tile.tile<3x24xf32$L>
    %q = tile.dot %rows, %u : !tile.tile<3x20xf32$L>, !tile.tile<20x5xf32> -> !tile.tile<3x5xf32$L>
    %r = tile.dot %q, %q transpose_b : !tile.tile<3x5xf32$L>, !tile.tile<3x5xf32$L> -> !tile.tile<3x3xf32$L>
    tile.store %p, %yv[%c0, %c0] : !tile.tile<3x24xf32$L>, !tile.view<5x24xf32>
    tile.store %r, %yv[%three, %c0] : !tile.tile<3x3xf32$L>, !tile.view<5x24xf32>
  })mlir",
      {{"L", lanes ? "" : ", lanes 0"}, {"TM", "1"}});
  Array x = makeNumbers("f32", {20, 5}, 1), z = makeNumbers("f32", {20, 24}, 2);
  for (int64_t k = left; k < 20; ++k)
    for (int64_t c = 0; c < 5; ++c)
      x.at(k, c) = std::nan("");
  for (int64_t k = right; k < 20; ++k)
    for (int64_t c = 0; c < 24; ++c)
      z.at(k, c) = INFINITY;
  result.calls.push_back(makeCall(
      {x, z, makeIndex(left), makeIndex(right), makeNumbers("f32", {24, 5}, 3)}, [&](Array &y) {
        double squares = 0;
        for (int64_t c = 0; c < 5; ++c) {
          double sum = 0;
          for (int64_t k = 0; k < left; ++k)
            sum += x.at(k, c);
          squares += sum * sum;
        }
        for (int64_t n = 0; n < 24; ++n) {
          double sum = 0;
          for (int64_t k = 0; k < right; ++k)
            sum += z.at(k, n);
          for (int64_t m = 0; m < 3; ++m)
            y.at(n, m) = (m + 1) * sum;
          for (int64_t m = 3; m < 5 && n < 3; ++m)
            y.at(n, m) = (m - 2) * (n + 1) * squares;
        }
      }));
  return result;
}

/// a * b^T, both narrower than the memory beside them: NaN stands opposite of what is outside.
static TileCase makeOpposite(int64_t left, int64_t right, int lanes) {
  TileCase result;
  result.name = "opposite_" + number(left) + "_" + number(right) + (lanes ? "" : "_rows_in_lanes");
  result.text = makeKernel(
      "%x: memref<6x$Kxf32>, %z: memref<18x$Jxf32>, %y: memref<6x18xf32>",
      R"mlir(
  %xv = tile.view %x axes(0, 1) : memref<6x$Kxf32> -> !tile.view<6x$Kxf32>
  %zv = tile.view %z axes(0, 1) : memref<18x$Jxf32> -> !tile.view<18x$Jxf32>
  %yv = tile.view %y axes(0, 1) : memref<6x18xf32> -> !tile.view<6x18xf32>
  tile.kernel grid(%b) = (%c1) {
    %u = tile.load %xv[%c0, %c0] : !tile.view<6x$Kxf32> -> !tile.tile<6x20xf32>
    %v = tile.load %zv[%c0, %c0] : !tile.view<18x$Jxf32> -> !tile.tile<18x20xf32>
    %p = tile.dot %u, %v transpose_b : !tile.tile<6x20xf32>, !tile.tile<18x20xf32> -> !tile.tile<6x18xf32$L>
    tile.store %p, %yv[%c0, %c0] : !tile.tile<6x18xf32$L>, !tile.view<6x18xf32>
  })mlir",
      {{"L", lanes ? "" : ", lanes 0"}, {"TM", "1"}, {"K", number(left)}, {"J", number(right)}});
  Array x = makeNumbers("f32", {6, left}, 1), z = makeNumbers("f32", {18, right}, 2);
  int64_t depth = std::min(left, right);
  for (int64_t r = 0; r < 6; ++r)
    for (int64_t k = depth; k < left; ++k)
      x.at(r, k) = std::nan("");
  for (int64_t r = 0; r < 18; ++r)
    for (int64_t k = depth; k < right; ++k)
      z.at(r, k) = INFINITY;
  result.calls.push_back(makeCall({x, z, makeNumbers("f32", {6, 18}, 3)}, [&](Array &y) {
    for (int64_t m = 0; m < 6; ++m)
      for (int64_t n = 0; n < 18; ++n) {
        y.at(m, n) = 0;
        for (int64_t k = 0; k < depth; ++k)
          y.at(m, n) += x.at(m, k) * z.at(n, k);
      }
  }));
  return result;
}

std::vector<TileCase> mlir::fovea::makeRowCases() {
  std::vector<TileCase> cases;
  for (int axis : {0, 1})
    for (bool maximum : {false, true})
      for (int lanes : {0, 1}) {
        cases.push_back(makeReduction(5, 19, axis, maximum, lanes));
        cases.push_back(makeReduction(32, 16, axis, maximum, lanes));
        cases.push_back(makeReduction(1, 7, axis, maximum, lanes));
      }
  cases.push_back(makeNorm(4, 48, 48, "f32", 1));
  cases.push_back(makeNorm(4, 64, 51, "f32", 1));
  cases.push_back(makeNorm(1, 40, 37, "f32", 1));
  cases.push_back(makeNorm(16, 40, 37, "f32", 0));
  cases.push_back(makeNorm(4, 64, 51, "bf16", 1));
  cases.push_back(makeNorm(4, 33, 33, "f16", 1));
  for (const char *narrow : {"bf16", "f16"})
    for (int lanes : {0, 1}) {
      cases.push_back(makeCast("f32", narrow, lanes, false));
      cases.push_back(makeCast(narrow, "f32", lanes, true));
    }
  cases.push_back(makeCast("f32", "f32", 1, true));
  cases.push_back(makeCast("f32", "bf16", 0, true));
  cases.push_back(makeGather("f32", "i64", 37));
  cases.push_back(makeGather("bf16", "i32", 16));
  cases.push_back(makeGather("f16", "i64", 48));
  cases.push_back(makeCarried(1));
  cases.push_back(makeCarried(0));
  for (int lanes : {0, 1})
    for (bool turned : {false, true})
      cases.push_back(makeAppend(lanes ? "f32" : "bf16", lanes, turned));
  cases.push_back(makeAppend("bf16", 1, false));
  cases.push_back(makeLookup());
  for (int lanes : {0, 1}) {
    cases.push_back(makeSkipped(13, 20, lanes));
    cases.push_back(makeSkipped(20, 0, lanes));
    cases.push_back(makeOpposite(13, 20, lanes));
    cases.push_back(makeOpposite(20, 7, lanes));
  }
  return cases;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_KERNEL_OPS_TD
#define FOVEA_KERNEL_OPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Fovea/FoveaAttrs.td"
include "dialects/Fovea/FoveaTypes.td"

def YieldOp : FoveaOp<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a region and gives its values";
  let description = [{
    ```mlir
    fovea.yield %y : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* yields nothing */ }]>];
}

def GroupOp : FoveaOp<"group", [Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "What will be one kernel";
  let description = [{
    The region sees only its arguments, which stand for the operands in order. Appears in the `fused` stage; the
    `scheduled` stage adds the schedule. Every result is computed by the region's ops from its arguments alone.

    * (C1) the region's arguments have the operands' types, and what it yields has the results' types.
    * (C2) operands and results are tensors, caches or index values; masks live inside.

    ```mlir
    %y = fovea.group(%a = %x, %b = %w) schedule(#fovea.loops<parallel = 2>)
        : (tensor<?x?x192xf32>, tensor<320x192xf32>) -> tensor<?x?x320xf32> {
      %0 = fovea.linear %a, %b : tensor<?x?x192xf32>, tensor<320x192xf32> -> tensor<?x?x320xf32>
      fovea.yield %0 : tensor<?x?x320xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, OptionalAttr<AnyAttr>:$schedule);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def LaunchOp : FoveaOp<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                  DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Runs a kernel on buffers";
  let description = [{
    Reads `ins`, writes `outs`. A kernel is a function whose arguments are these and then two index values:
    the part to compute and the number of parts.

    `cost` is what the computation cannot do without, for reports: floating-point operations of products and sums
    (a multiplication and an addition are two) and bytes read and written once. The kernel does not see it.

    * (C1) the symbol is a function that takes the types of `ins` and `outs` and two index values, and gives nothing.
    * (C2) `cost` is two values.

    ```mlir
    func.func private @linear_0(memref<?x?x192xf32>, memref<320x192xf32>, memref<?x?x320xf32>, index, index)
    fovea.launch @linear_0 ins(%x, %w : memref<?x?x192xf32>, memref<320x192xf32>) outs(%y : memref<?x?x320xf32>)
        cost(%flops, %bytes)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs, Variadic<AnyMemRef>:$outputs,
                       Variadic<Index>:$cost);
  let assemblyFormat = [{
    $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    (`cost` `(` $cost^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What the kernel is called with: inputs, then outputs.
    ::mlir::OperandRange getBuffers() { return getOperands().drop_back(getCost().size()); }
  }];
}

def ArenaOp : FoveaOp<"arena", []> {
  let summary = "The memory in which a call's intermediate results live";
  let description = [{
    One in each entry of the `kernels` stage. Aligned to 64 bytes.

    ```mlir
    %a = fovea.arena %bytes : memref<?xi8>
    ```
  }];
  let arguments = (ins Index:$bytes);
  let results = (outs MemRefRankOf<[I8], [1]>:$memory);
  let assemblyFormat = "$bytes attr-dict `:` type($memory)";
}

def ProgramOp : FoveaOp<"program", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "What is known of an entry once its body is native code";
  let description = [{
    In the `llvm` stage, one for each entry: its signature, how many numbers its plan writes, the most positions it
    takes (0: not bounded), and for each step the kernel and the place in the model that it comes from; `costs` are the places
    among these numbers of each step's operations and bytes, 0 where they are not known.

    * (C1) there are as many places as kernels, and no or two costs for each.

    ```mlir
    fovea.program "f" #fovea.signature<[#fovea.port<"x", tensor<4xf32>>], [#fovea.port<"y", tensor<4xf32>>]> locals(2) positions(0)
        steps ["activation_0"] at ["mlp.act"]
    ```
  }];
  let arguments = (ins StrAttr:$entry, Fovea_SignatureAttr:$signature, I64Attr:$locals, I64Attr:$max_positions,
                       StrArrayAttr:$kernels, StrArrayAttr:$places,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$costs);
  let assemblyFormat = [{
    $entry $signature `locals` `(` $locals `)` `positions` `(` $max_positions `)` `steps` $kernels `at` $places
    (`costs` $costs^)? attr-dict
  }];
  let hasVerifier = 1;
}

def FaultOp : FoveaOp<"fault", []> {
  let summary = "Records that an index or a size was out of bounds";
  let description = [{
    Inside a kernel: if `condition` holds, the call fails after its last kernel, naming this one.

    ```mlir
    fovea.fault %outside
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

#endif // FOVEA_KERNEL_OPS_TD

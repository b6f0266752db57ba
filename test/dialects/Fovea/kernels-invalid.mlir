// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects a number of parallel loops, got -1}}
#loops_c1 = #fovea.loops<parallel = -1>

// -----

func.func @group_syntax(%x: tensor<4xf32>) {
  // expected-error @below {{expects 1 operand types, got 2}}
  %y = fovea.group(%a = %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    fovea.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @group_c1_arguments(%x: tensor<4xf32>) {
  // expected-error @below {{expects region arguments of types 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %y = "fovea.group"(%x) ({
    ^bb0(%a: tensor<5xf32>):
      fovea.yield %a : tensor<5xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @group_c1_yield(%x: tensor<4xf32>) {
  // expected-error @below {{expects the region to yield 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %y = fovea.group(%a = %x) : (tensor<4xf32>) -> tensor<5xf32> {
    fovea.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @group_c1_terminator(%x: tensor<4xf32>) {
  // expected-error @below {{expects regions to end with 'fovea.yield', found 'llvm.unreachable'}}
  // expected-note @below {{the absence of terminator implies 'fovea.yield'}}
  %y = "fovea.group"(%x) ({
    ^bb0(%a: tensor<4xf32>):
      llvm.unreachable
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @group_c2(%x: memref<4xf32>) {
  // expected-error @below {{expects tensors, caches and index values at its border, got 'memref<4xf32>'}}
  fovea.group(%a = %x) : (memref<4xf32>) -> () {
  }
  return
}

// -----

func.func @group_c2_mask() {
  // expected-error @below {{expects tensors, caches and index values at its border, got '!fovea.mask'}}
  %m = fovea.group() : () -> !fovea.mask {
    %c = fovea.mask_causal
    fovea.yield %c : !fovea.mask
  }
  return
}

// -----

func.func @launch_c1_missing(%x: memref<4xf32>) {
  // expected-error @below {{expects a function named @k, found none}}
  fovea.launch @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @launch_c1_part(%x: memref<4xf32>) {
  // expected-error @below {{expects kernel @k to take 'memref<4xf32>', 'memref<4xf32>', 'index', 'index', got 'memref<4xf32>', 'memref<4xf32>'}}
  fovea.launch @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

func.func private @k(memref<4xf32>, index, index) -> i32
func.func @launch_c1_result(%x: memref<4xf32>) {
  // expected-error @below {{expects kernel @k to give nothing, got 'i32'}}
  fovea.launch @k outs(%x : memref<4xf32>)
  return
}

// -----

// expected-error @below {{has unknown attribute 'fovea.entrance'}}
func.func @unknown_attribute() attributes {fovea.entrance} {
  return
}

// -----

// expected-error @below {{expects 'fovea.threads' to be a positive integer, got 0 : i32}}
func.func private @no_threads() attributes {fovea.threads = 0 : i32}

// -----

func.func @entry_elsewhere() {
  // expected-error @below {{expects 'fovea.entry' on a function}}
  %c = arith.constant {fovea.entry} 1 : i32
  return
}

// -----

// expected-error @below {{expects 'fovea.entry' to be a unit attribute, got true}}
func.func @entry_value() attributes {fovea.entry = true} {
  return
}

// -----

// expected-error @below {{expects 'fovea.max_positions' to be a positive integer, got 0}}
func.func @max_positions_zero() attributes {fovea.max_positions = 0 : i64} {
  return
}

// -----

// expected-error @below {{expects 'fovea.max_positions' to be a positive integer, got "many"}}
func.func @max_positions_text() attributes {fovea.max_positions = "many"} {
  return
}

// -----

// expected-error @below {{expects 'fovea.signature' to be a signature, got "f"}}
func.func @signature_text() attributes {fovea.signature = "f"} {
  return
}

// -----

// expected-error @below {{expects 'fovea.name' to be a name, got ""}}
func.func private @name_empty(i32 {fovea.name = ""})

// -----

// expected-error @below {{expects 'fovea.name' to be a name, got 3}}
func.func private @name_number() -> (i32 {fovea.name = 3 : i64})

// -----

// expected-error @below {{expects 'fovea.dims' to be an array of names, got ["batch", 4}}
func.func private @dims_number(tensor<?x?xf32> {fovea.dims = ["batch", 4 : i64]})

// -----

// expected-error @below {{expects 'fovea.dims' to name 2 dynamic sizes, got 1}}
func.func private @dims_count(tensor<?x3x?xf32> {fovea.dims = ["batch"]})

// -----

// expected-error @below {{expects 'fovea.dims' to name 2 dynamic sizes, got 1}}
func.func private @dims_cache(!fovea.cache<key, 2x4xf32> {fovea.dims = ["batch"]})

// -----

// expected-error @below {{expects 'fovea.dims' to name 0 dynamic sizes, got 1}}
func.func private @dims_scalar() -> (i32 {fovea.dims = ["batch"]})

// -----

// expected-error @below {{has unknown argument attribute 'fovea.title'}}
func.func private @unknown_argument_attribute(i32 {fovea.title = "x"})

// -----

// expected-error @below {{expects one place for each kernel, got}}
fovea.program "program_c1" #fovea.signature<[#fovea.port<"x", tensor<4xf32>>], [#fovea.port<"y", tensor<4xf32>>]> locals(2) positions(0) steps ["activation_0"] at []

// -----

// expected-error @below {{expects two costs for each kernel, got 3 for 1}}
fovea.program "program_c1_costs" #fovea.signature<[], []> locals(2) positions(0) steps ["k"] at [""] costs [1, 1, 1]

// -----

func.func private @k(memref<4xf32>, index, index)
func.func @launch_c2(%x: memref<4xf32>, %n: index) {
  // expected-error @below {{expects operations and bytes as its cost, got 1 values}}
  fovea.launch @k outs(%x : memref<4xf32>) cost(%n)
  return
}

// -----

// expected-error @below {{expects 'fovea.computes' to be text, got 3}}
func.func private @computes_number() attributes {fovea.computes = 3 : i64}

// -----

func.func @schedule_elsewhere() {
  // expected-error @below {{expects 'fovea.schedule' on a function}}
  %c = arith.constant {fovea.schedule = "x"} 1 : i32
  return
}

// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-form-launches

func.func @group_without_schedule(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {fovea.entry} {
  // expected-error @below {{expects a schedule that a kernel builder knows, got none}}
  %0 = fovea.group(%a = %x) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %1 = fovea.activation relu %a : tensor<?x4xf32>
    fovea.yield %1 : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}

// -----

func.func @loops_of_attention(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q) schedule(#fovea.loops<parallel = 3>) : (tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
    // expected-error @below {{has no plain loops: a tile program computes it}}
    %o = fovea.attention %a, %a, %a : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}

// -----

func.func @parts_of_keys_with_weights(%q: tensor<?x1x2x8xf32> {fovea.name = "q"}) -> (tensor<?x1x2x8xf32> {fovea.name = "o"}, tensor<?x2x1x1xf32> {fovea.name = "p"}) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %q) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16], split = [64, 64]>) : (tensor<?x1x2x8xf32>) -> (tensor<?x1x2x8xf32>, tensor<?x2x1x1xf32>) {
    // expected-error @below {{expects a schedule that does not split keys: no part by itself knows the probabilities that are asked for}}
    %o, %p = fovea.attention %a, %a, %a : tensor<?x1x2x8xf32>, tensor<?x1x2x8xf32>, tensor<?x1x2x8xf32> -> tensor<?x1x2x8xf32> weights tensor<?x2x1x1xf32>
    fovea.yield %o, %p : tensor<?x1x2x8xf32>, tensor<?x2x1x1xf32>
  }
  return %0#0, %0#1 : tensor<?x1x2x8xf32>, tensor<?x2x1x1xf32>
}

// -----

func.func @schedule_of_another_form(%x: tensor<?x4xf32> {fovea.name = "x"}) -> (tensor<?x4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  // expected-error @below {{is no computation that #fovea.elements<count = 1024> is a schedule of}}
  %0 = fovea.group(%a = %x) schedule(#fovea.elements<count = 1024>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %1 = fovea.l2_norm %a eps(1.0e-5) : tensor<?x4xf32>
    fovea.yield %1 : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}

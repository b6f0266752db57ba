// RUN: fovea-opt %s --verify-roundtrip

fovea.model "llama" in "models/tiny" {tokenizer = "tokenizer.json", begin_token = 0 : i64, end_tokens = array<i64: 1>, max_positions = 512 : i64}
fovea.weight @q : tensor<4x8xbf16> = #fovea.stored<"model.safetensors", "q", tensor<4x8xbf16>>
fovea.weight @all : tensor<12x8xf32> = #fovea.pack<#fovea.concat<0, #fovea.cast<#fovea.stored<"a", "q", tensor<4x8xbf16>>, f32>, #fovea.transpose<#fovea.stored<"a", "k", tensor<8x8xf32>>>>>
fovea.weight @moved : tensor<2x12xf32> = #fovea.reshape<#fovea.permute<#fovea.slice<#fovea.stored<"a", "w", tensor<2x4x8xf32>>, 2 from 5 count 3>, [2, 0, 1]>, [2, 12]>
fovea.weight @scalar : tensor<f32> = #fovea.reshape<#fovea.stored<"a", "w", tensor<1xf32>>, []>
fovea.weight @folded : tensor<4x8xf32> = #fovea.scale_columns<#fovea.stored<"a", "w", tensor<4x8xf32>>, #fovea.stored<"a", "n", tensor<8xf32>>, 0.0 : f64>

func.func @plain(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %v: tensor<?x?x2x48xf32>) -> tensor<?x?x8x48xf32> {
  %o = fovea.attention %q, %k, %v : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x48xf32> -> tensor<?x?x8x48xf32>
  return %o : tensor<?x?x8x48xf32>
}

func.func @all_clauses(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %v: tensor<?x?x2x64xf32>, %qp: tensor<1x?xi32>, %kp: tensor<?x?xi32>,
                       %sinks: tensor<8xf32>, %w: tensor<64xf32>, %bias: tensor<8x?x?xf32>, %table: tensor<32x8xf32>) -> tensor<?x8x?x?xf32> {
  %m = fovea.mask_causal
  %o, %l, %p = fovea.attention %q, %k, %v q_pos(%qp : tensor<1x?xi32>) k_pos(%kp : tensor<?x?xi32>) mask(%m) sinks(%sinks : tensor<8xf32>)
      additive(%w : tensor<64xf32>) scale(0.125) fill(mean)
      score(%bias : tensor<8x?x?xf32> by (b, h, i, j) -> (h, i, j), %table : tensor<32x8xf32> by (b, h, i, j) -> ()) {
    ^bb0(%x: f32, %bv: f32, %t: tensor<32x8xf32>, %b: index, %h: index, %i: i32, %j: i32):
      %r = fovea.relative_bias %t[%h] at(%i, %j) {bidirectional, buckets = 32 : i64, max_distance = 128 : i64} : tensor<32x8xf32> -> f32
      %y = arith.addf %x, %bv : f32
      %z = arith.addf %y, %r : f32
      fovea.yield %z : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32> lse tensor<?x8x?xf32> weights tensor<?x8x?x?xf32>
  return %p : tensor<?x8x?x?xf32>
}

func.func @masks(%n: tensor<?xi32>, %s: tensor<?x?xi32>, %d: tensor<?x1x1x?xi64>, %b: index, %i: index, %j: index) -> tensor<?x8x?x?xi1> {
  %c = fovea.mask_causal
  %w = fovea.mask_window left(255) right(0)
  %w2 = fovea.mask_window right(-1)
  %l = fovea.mask_length %n : tensor<?xi32>
  %p = fovea.mask_prefix %n : tensor<?xi32>
  %g = fovea.mask_segment %s, %s : tensor<?x?xi32>, tensor<?x?xi32>
  %gl = fovea.mask_global tokens(4)
  %de = fovea.mask_dense %d : tensor<?x1x1x?xi64>
  %no = fovea.mask_not %g
  %none = fovea.mask_or()
  %a = fovea.mask_and(%c, %w, %w2, %l)
  %o = fovea.mask_or(%p, %gl, %de, %no, %a, %none)
  %t = fovea.mask_materialize %o [%b, %i, %j] : tensor<?x8x?x?xi1>
  return %t : tensor<?x8x?x?xi1>
}

func.func @layer(%x: tensor<?x?x8x64xf32>, %first: index, %n: index, %h: tensor<?x?x512xf32>, %ids: tensor<?x?xi64>, %t: tensor<1024x512xbf16>, %w: tensor<512xf32>,
                 %keep: tensor<?x?xi64>) -> tensor<?x512xf32> {
  %p = fovea.positions from %first count %n : tensor<1x?xi32>
  %p1 = fovea.positions from %first : tensor<1x1xi32>
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(64) theta(10000.0) : tensor<?x?x8x64xf32>
  %r1 = fovea.rope interleaved %x at(%p : tensor<1x?xi32>) dim(32) theta(10000.0) scaling(#fovea.rope_scaling<yarn, factor = 4.0 : f64, original = 2048, low = 1.0 : f64, high = 32.0 : f64, attentionFactor = 1.1 : f64>) : tensor<?x?x8x64xf32>
  %r2 = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(4) theta(10000.0) scaling(#fovea.rope_scaling<longrope, original = 2048, attentionFactor = 1.1 : f64, shortFactors = [1.0, 1.1], longFactors = [0.3, 64.8]>) : tensor<?x?x8x64xf32>
  %r3 = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(64) theta(10000.0) scaling(#fovea.rope_scaling<default>) : tensor<?x?x8x64xf32>
  %e = fovea.position_sinusoidal interleaved %p theta(10000.0) : tensor<1x?xi32> -> tensor<1x?x512xf32>
  %le = fovea.position_learned %p, %t offset(2) : tensor<1x?xi32>, tensor<1024x512xbf16> -> tensor<1x?x512xf32>
  %em = fovea.embedding %ids, %t : tensor<?x?xi64>, tensor<1024x512xbf16> -> tensor<?x?x512xf32>
  %ln = fovea.layer_norm %em weight(%w : tensor<512xf32>) bias(%w : tensor<512xf32>) eps(1.0e-12) : tensor<?x?x512xf32>
  %rn = fovea.rms_norm %ln weight(%w : tensor<512xf32>) offset(1.0) eps(1.0e-5) : tensor<?x?x512xf32>
  %gn = fovea.gated_norm %ln gate(%rn) weight(%w : tensor<512xf32>) eps(1.0e-6) : tensor<?x?x512xf32>
  %a = fovea.activation gelu_tanh %rn : tensor<?x?x512xf32>
  %g = fovea.glu silu %a, %h : tensor<?x?x512xf32>
  %d = fovea.dropout %g rate(0.1) : tensor<?x?x512xf32>
  %po = fovea.pool mean %d keep(%keep : tensor<?x?xi64>) : tensor<?x?x512xf32> -> tensor<?x512xf32>
  %l2 = fovea.l2_norm %po eps(1.0e-12) : tensor<?x512xf32>
  %am = fovea.argmax %l2 : tensor<?x512xf32> -> tensor<?xi64>
  %sl = fovea.alibi_slopes : tensor<8xf32>
  return %l2 : tensor<?x512xf32>
}

func.func @decode(%c: !fovea.cache<key, 2x32xf32> {fovea.name = "key_cache.0", fovea.dims = ["batch", "capacity"]}, %k: tensor<?x1x2x32xf32>, %b: index, %n: index) -> (!fovea.cache<key, 2x32xf32>, index) attributes {fovea.entry, fovea.max_positions = 512 : i64} {
  %d = fovea.cache_append %c, %k : !fovea.cache<key, 2x32xf32>, tensor<?x1x2x32xf32>
  %l = fovea.cache_length %d : !fovea.cache<key, 2x32xf32>
  %v = fovea.cache_create %b, %n : !fovea.cache<value, 2x32xf32>
  return %d, %l : !fovea.cache<key, 2x32xf32>, index
}

func.func @group(%x: tensor<?x?x192xf32>) -> tensor<?x?x4xf32> {
  %w = fovea.weight_ref @g : tensor<4x192xf32>
  %y = fovea.group(%a = %x, %b = %w) schedule(#fovea.loops<parallel = 2>) : (tensor<?x?x192xf32>, tensor<4x192xf32>) -> tensor<?x?x4xf32> {
    %0 = fovea.linear %a, %b : tensor<?x?x192xf32>, tensor<4x192xf32> -> tensor<?x?x4xf32>
    fovea.yield %0 : tensor<?x?x4xf32>
  }
  return %y : tensor<?x?x4xf32>
}
fovea.weight @g : tensor<4x192xf32> = #fovea.stored<"a", "g", tensor<4x192xf32>>

func.func @quantized(%x: tensor<?x8xf32>, %h: tensor<2x?x8xf16>, %w8: tensor<5x8xi8>, %w4: tensor<5x8xi4>, %s: tensor<5xf32>, %g: tensor<5x2xf16>, %b: tensor<5xf32>) {
  %0 = fovea.linear %x, %w8 scales(%s : tensor<5xf32>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  %1 = fovea.linear %x, %w8 scales(%g : tensor<5x2xf16>) bias(%b : tensor<5xf32>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  %2 = fovea.linear %h, %w4 scales(%g : tensor<5x2xf16>) : tensor<2x?x8xf16>, tensor<5x8xi4> -> tensor<2x?x5xf16>
  %3 = fovea.linear %x, %w4 scales(%s : tensor<5xf32>) bias(%b : tensor<5xf32>) : tensor<?x8xf32>, tensor<5x8xi4> -> tensor<?x5xf32>
  return
}

func.func private @k0(memref<?xf32>, memref<?xf32>, index, index)
func.func @launch(%x: memref<?xf32>, %n: index) {
  %a = fovea.arena %n : memref<?xi8>
  fovea.launch @k0 ins(%x : memref<?xf32>) outs(%x : memref<?xf32>)
  fovea.launch @k0 ins(%x : memref<?xf32>) outs(%x : memref<?xf32>) cost(%n, %n)
  return
}
func.func @signature() attributes {fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?x4xf32>, dims = ["batch"]>], []>} {
  return
}
fovea.program "f" #fovea.signature<[], [#fovea.port<"c", !fovea.cache<key, 2x4xf32>, dims = ["batch", "capacity"], continues = 0>]> locals(2) positions(0) steps [] at []
fovea.program "g" #fovea.signature<[], []> locals(2) positions(0) steps ["k0"] at [""] costs [1, 0]
func.func private @described(index, index) attributes {fovea.computes = "linear [4, 192] f32", fovea.schedule = #fovea.loops<parallel = 2>}

fovea.weight @panels : tensor<1536x384xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"a", "p", tensor<1536x384xf32>>, #fovea.panels<16>>
fovea.weight @pairs : tensor<33x5xbf16, #fovea.panels<16, interleave = 2>> = #fovea.pack<#fovea.stored<"a", "r", tensor<33x5xbf16>>, #fovea.panels<16, interleave = 2>>
func.func @buffers_of_panels() {
  %0 = fovea.weight_ref @panels : tensor<1536x384xf32, #fovea.panels<16>>
  %1 = fovea.weight_ref @panels : memref<96x384x16xf32>
  %2 = fovea.weight_ref @pairs : memref<3x3x16x2xbf16>
  return
}
fovea.weight @numbers : tensor<768x768xi4> = #fovea.stored<"a", "n", tensor<768x768xi4>>
fovea.weight @numbers16 : tensor<768x768xi4, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"a", "n", tensor<768x768xi4>>, #fovea.panels<16>>
fovea.weight @numbers32 : tensor<768x768xi4, #fovea.panels<32, interleave = 8>> = #fovea.pack<#fovea.stored<"a", "n", tensor<768x768xi4>>, #fovea.panels<32, interleave = 8>>
func.func @buffers_of_i4() {
  %0 = fovea.weight_ref @numbers : memref<768x384xi8>
  %1 = fovea.weight_ref @numbers16 : memref<48x384x16xi8>
  %2 = fovea.weight_ref @numbers32 : memref<24x48x32x8xi8>
  return
}
fovea.weight @q8 : tensor<6x4xi8> = #fovea.quantize<#fovea.stored<"a", "q", tensor<6x4xf32>>, i8, f32>
fovea.weight @q8.scales : tensor<6xf32> = #fovea.quantization_scales<#fovea.stored<"a", "q", tensor<6x4xf32>>, i8, f32>
fovea.weight @q4 : tensor<6x4xi4> = #fovea.quantize<#fovea.stored<"a", "q", tensor<6x4xf32>>, i4, f16, group = 2>
fovea.weight @q4.scales : tensor<6x2xf16> = #fovea.quantization_scales<#fovea.stored<"a", "q", tensor<6x4xf32>>, i4, f16, group = 2>
module attributes {fovea.target = #fovea.target<"avx512", lanes = 16, registers = 32>} {
  func.func @schedules() attributes {schedules = [
      #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48]>,
      #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [4, 64]>,
      #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [4, 16], values = [2, 16], split = [512, 64]>,
      #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [8, 4], values = [8, 4], operands = bf16>,
      #fovea.rows<rows = 4>, #fovea.elements<count = 1024>,
      #fovea.by_rows<most = 1, few = #fovea.rows<rows = 1>, many = #fovea.rows<rows = 4>>]} {
    return
  }
}

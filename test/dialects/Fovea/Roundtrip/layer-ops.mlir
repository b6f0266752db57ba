// RUN: fovea-opt %s --verify-roundtrip

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

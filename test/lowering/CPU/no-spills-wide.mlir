// At the width of real models, of one row and of many, products keep all that they compute with in registers: of floats, of
// integers with their scales beside them, and of blocks. On avx512 the factors of blocks of 256 (K kinds) of a single row stay
// in memory, where products take them from. The example model is six groups wide, and hides what these columns show.
// REQUIRES: fovea

// RUN: fovea compile %s --quiet --dtype=f32 --target=aarch64-dotprod --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: fovea compile %s --quiet --dtype=int8 --target=aarch64-i8mm --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/q6_k/g' %s > %t.q6_k.mlir
// RUN: fovea compile %t.q6_k.mlir --quiet --dtype=bf16 --target=aarch64-dotprod --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: fovea compile %t.q6_k.mlir --quiet --dtype=bf16 --target=aarch64-i8mm --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/q4_0/g' %s > %t.q4_0.mlir
// RUN: fovea compile %t.q4_0.mlir --quiet --dtype=int8 --target=aarch64-dotprod --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: fovea compile %t.q4_0.mlir --quiet --dtype=f32 --target=znver4 --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/q8_0/g' %s > %t.q8_0.mlir
// RUN: fovea compile %t.q8_0.mlir --quiet --dtype=int4 --target=aarch64-i8mm --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: fovea compile %t.q8_0.mlir --quiet --dtype=bf16 --target=znver4 --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/q4_1/g' %s > %t.q4_1.mlir
// RUN: fovea compile %t.q4_1.mlir --quiet --dtype=int4 --target=aarch64-dotprod --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: fovea compile %t.q4_1.mlir --quiet --dtype=int8 --target=znver4 --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: fovea compile %t.q4_1.mlir --quiet --dtype=int4 --target=znver4 --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/q5_k/g' %s > %t.q5_k.mlir
// RUN: fovea compile %t.q5_k.mlir --quiet --dtype=f32 --target=aarch64-dotprod --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/q2_k/g' %s > %t.q2_k.mlir
// RUN: fovea compile %t.q2_k.mlir --quiet --dtype=f32 --target=aarch64-i8mm --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/q5_0/g' %s > %t.q5_0.mlir
// RUN: fovea compile %t.q5_0.mlir --quiet --dtype=f32 --target=znver4 --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/iq4_nl/g' %s > %t.iq4_nl.mlir
// RUN: fovea compile %t.iq4_nl.mlir --quiet --dtype=f32 --target=znver4 --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4
// RUN: sed 's/q4_k/mxfp4/g' %s > %t.mxfp4.mlir
// RUN: fovea compile %t.mxfp4.mlir --quiet --dtype=f32 --target=aarch64-i8mm --emit=asm -o %t.s
// RUN: python3 %source_root/test/support/inner_loops.py %t.s --products=8 --at-least=4

fovea.weight @floats : tensor<5632x2048xf32> = #fovea.stored<"model.safetensors", "floats", tensor<5632x2048xf32>>
fovea.weight @blocks : tensor<5632x2048x!fovea.blocks<q4_k>> = #fovea.stored<"model.gguf", "blocks", tensor<5632x2048x!fovea.blocks<q4_k>>>

func.func @forward(%x: tensor<?x2048xf32>) -> (tensor<?x5632xf32>, tensor<?x5632xf32>) attributes {fovea.entry} {
  %f = fovea.weight_ref @floats : tensor<5632x2048xf32>
  %b = fovea.weight_ref @blocks : tensor<5632x2048x!fovea.blocks<q4_k>>
  %y = fovea.linear %x, %f : tensor<?x2048xf32>, tensor<5632x2048xf32> -> tensor<?x5632xf32>
  %z = fovea.linear %x, %b : tensor<?x2048xf32>, tensor<5632x2048x!fovea.blocks<q4_k>> -> tensor<?x5632xf32>
  return %y, %z : tensor<?x5632xf32>, tensor<?x5632xf32>
}

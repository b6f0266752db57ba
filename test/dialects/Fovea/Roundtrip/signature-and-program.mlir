// RUN: fovea-opt %s --verify-roundtrip

func.func @signature() attributes {fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?x4xf32>, dims = ["batch"]>], []>} {
  return
}

fovea.program "f" #fovea.signature<[], [#fovea.port<"c", !fovea.cache<key, 2x4xf32>, dims = ["batch", "capacity"], continues = 0>]> locals(2) positions(0) steps [] at []
fovea.program "g" #fovea.signature<[], []> locals(2) positions(0) steps ["k0"] at [""] costs [1, 0]
func.func private @described(index, index) attributes {fovea.computes = "linear [4, 192] f32", fovea.schedule = #fovea.loops<parallel = 2>}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All ops of the dialect, by family.
include "dialects/Fovea/AttentionOps.td"
include "dialects/Fovea/CacheOps.td"
include "dialects/Fovea/ExpertOps.td"
include "dialects/Fovea/KernelOps.td"
include "dialects/Fovea/LayerOps.td"
include "dialects/Fovea/MaskOps.td"
include "dialects/Fovea/PositionOps.td"
include "dialects/Fovea/ScheduleAttrs.td"
include "dialects/Fovea/WeightOps.td"

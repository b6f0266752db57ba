// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a layout of tiles among threads refuses, by the number of the constraint.

// expected-error @below {{expects digits of positive size by at most 1048576, got 0 by 0}}
#empty = #tile.layout<rows = [registers 0], columns = []>

// -----

// expected-error @below {{expects digits of positive size by at most 1048576, got 2 by 9223372036854775807}}
#far = #tile.layout<rows = [threads 2 by 9223372036854775807], columns = []>

// -----

// expected-error @below {{expects at most 1048576 places along an axis, got more}}
#long = #tile.layout<rows = [], columns = [registers 7, registers 9223372036854775807]>

// -----

// expected-error @below {{expects threads by a positive number, got 0}}
#nowhere = #tile.layout<rows = [threads 4 by 0], columns = []>

// -----

#small = #tile.layout<rows = [threads 8 by 1], columns = []>
// expected-error @below {{expects a layout of at least 9 places along axis 0, got 8}}
func.func private @tile_c4(!tile.tile<9x1xf32, #small>)

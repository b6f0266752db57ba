// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What the schedules of rows and of elements refuse, and the choice by rows, by the number of the constraint.

// expected-error @below {{expects positive rows, got 0}}
func.func private @rows_c1() attributes {schedule = #fovea.rows<rows = 0>}

// -----

// expected-error @below {{expects positive count, got 0}}
func.func private @elements_c1() attributes {schedule = #fovea.elements<count = 0>}

// -----

// expected-error @below {{expects positive most, got 0}}
func.func private @by_rows_c1() attributes {schedule = #fovea.by_rows<most = 0, few = #fovea.rows<rows = 1>, many = #fovea.rows<rows = 4>>}

// -----

// expected-error @below {{expects one schedule for few rows, got #fovea.by_rows<}}
func.func private @by_rows_c2() attributes {schedule = #fovea.by_rows<most = 4, few = #fovea.by_rows<most = 1, few = #fovea.rows<rows = 1>, many = #fovea.rows<rows = 2>>, many = #fovea.rows<rows = 4>>}

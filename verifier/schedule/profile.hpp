// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <verifier/compile/program/program.hpp>
#include <verifier/plan/layout.hpp>

namespace assay::schedule {

/// What one way of dividing a step costs.
struct Division {
    /// Of one machine with all others, as if it sent everything: of N machines each sends each other one an N-th. Of
    /// stages: between two neighbouring ones, in both directions together.
    double bytes = 0.0;
    double rounds = 0.0;  ///< how often a machine waits for what others send
    double serial = 0.0;  ///< the share of the work that every machine does itself, 0 to 1
};

/// What matters of a program's step to how long machines take for it together.
struct StepProfile {
    double work = 0.0;  ///< multiply-adds (WRK-1)
    double parameter_bytes = 0.0;
    double slot_bytes = 0.0;        ///< of the optimizer
    double gradient_bytes = 0.0;    ///< one f32 for each parameter
    double activation_bytes = 0.0;  ///< what the backward pass reads of the forward pass
    std::uint32_t batch_rows = 1;
    std::array<Division, 4> data{};  ///< by what ZeRO divides
    Division tensor;
    Division stages;
    std::uint32_t turn_replicas = 0;  ///< local replicas of the program
    double turn_work = 0.0;           ///< of a step of one of them
    bool is_planned = false;          ///< the divisions are what plans for two ranks send; else they are formulas

    const Division& data_by(plan::Zero zero) const { return data[static_cast<std::size_t>(zero)]; }
};

/// A plan is made in some 2 ns for each element of the step's outputs. Programs with more of them get formulas.
inline constexpr double kPlannedElements = 4e8;

/// Makes a plan for two ranks by each kind of division and counts what crosses and what each rank computes. A program
/// whose outputs have more than `planned_elements` gets formulas: accumulators and f32 results of each parameter's
/// gradient, sums of activations after every second product with parameters, and the narrowest cut of the forward pass.
StepProfile profile_of(const program::Program& program, double planned_elements = kPlannedElements);

/// Bytes that a machine needs: parameters, slots and gradients as ZeRO, stages and tensor parallelism divide them (16
/// bytes for each parameter with Adam if nothing is divided), and the activations of `rows` rows of the batch.
double memory_of(const StepProfile& profile, const plan::Layout& layout, double rows);

}  // namespace assay::schedule

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <verifier/compile/program/program.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/schedule/choose.hpp>

/// Internal to the timetable.
namespace assay::schedule {

/// What a rank does next.
struct Event {
    enum class Kind : std::uint8_t {
        kCompute = 0,  ///< its part of a node
        kSum = 1,      ///< packs sums that it sends, or adds up those that it has received
        kSend = 2,
        kWait = 3,  ///< for a message
    };
    Kind kind = Kind::kCompute;
    double seconds = 0.0;     ///< kCompute, kSum: of the machine's processor
    std::size_t message = 0;  ///< kSend, kWait
};
struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    double bytes = 0.0;
    double sum_bytes = 0.0;  ///< of them, those of sums that the receiver adds up
};

/// The messages of a step, and each rank's events in their order.
struct StepEvents {
    std::vector<std::vector<Event>> of_rank{};
    std::vector<Message> messages{};
};
/// What ranks do that follow a plan, one of `machines` for each; with what the session says around a step.
StepEvents events_of(const program::Program& program, const plan::Plan& plan, const std::vector<Machine>& machines);

}  // namespace assay::schedule

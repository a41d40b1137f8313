// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>
#include <verifier/compile/program/distance.hpp>

/// States that the distance program measures, and what double precision says of them.
namespace assay::test {

using canonical::MeasuredColumn;
using program::StateTensor;

struct States {
    std::vector<StateTensor> types;
    std::vector<Matrix> start, replayed, claimed;

    void add(const std::string& name, const Matrix& s, const Matrix& r, const Matrix& c) {
        types.push_back({name, {s.dtype, s.shape}});
        start.push_back(s);
        replayed.push_back(r);
        claimed.push_back(c);
    }
};

inline std::vector<canonical::Tensor> tensors_of(const std::vector<Matrix>& state) {
    std::vector<canonical::Tensor> out;
    for (const Matrix& matrix : state) {
        out.push_back(to_tensor(matrix));
    }
    return out;
}

struct Measured {
    Matrix tile;
    double at(std::uint32_t row, MeasuredColumn column, std::uint32_t more = 0) const {
        return tile.values[row * canonical::kMeasuredColumns + static_cast<std::uint32_t>(column) + more];
    }
};

inline Measured measure(const States& states, std::uint64_t seed = 5) {
    const program::Program program = program::build_distance_program(states.types).value();
    const auto given =
        program::measured_state(tensors_of(states.start), tensors_of(states.replayed), tensors_of(states.claimed));
    const NoRows rows;
    const auto out =
        canonical::execute_graph(program.init, {.seed = seed, .step = 0, .dataset = rows.shape()}, rows, given);
    REQUIRE(out.has_value());
    REQUIRE(out->size() == 1);
    return {to_matrix(out->front())};
}

inline Matrix near(const Matrix& x, double amount, std::uint64_t seed) {
    Matrix out = x;
    Numbers numbers(seed);
    for (double& value : out.values) {
        value = static_cast<double>(static_cast<float>(value + amount * numbers.real(-1.0, 1.0)));
    }
    return out;
}

inline void add_random(
    States& states, const std::string& name, canonical::Shape shape, double update, double drift, std::uint64_t seed
) {
    const Matrix start = random_matrix(shape, seed);
    const Matrix replayed = near(start, update, seed + 1);
    states.add(name, start, replayed, near(replayed, drift, seed + 2));
}

struct Reference {
    double drift2 = 0, update2 = 0, claimed2 = 0, dot = 0, drift_max = 0, update_max = 0;
};
inline Reference reference(const States& states, program::StateGroup group) {
    Reference out;
    for (std::size_t t = 0; t < states.types.size(); ++t) {
        if (program::group_of(states.types[t]) != group) {
            continue;
        }
        for (std::size_t i = 0; i < states.start[t].values.size(); ++i) {
            const double s = states.start[t].values[i];
            const double r = states.replayed[t].values[i];
            const double c = states.claimed[t].values[i];
            out.drift2 += (c - r) * (c - r);
            out.update2 += (r - s) * (r - s);
            out.claimed2 += (c - s) * (c - s);
            out.dot += (c - r) * (r - s);
            out.drift_max = std::max(out.drift_max, std::abs(c - r));
            out.update_max = std::max(out.update_max, std::abs(r - s));
        }
    }
    return out;
}

inline void check_row(const Measured& measured, std::uint32_t row, const Reference& expected) {
    constexpr double kTolerance = 0x1p-14;  // TOL-2
    CAPTURE(row);
    const auto check = [&](MeasuredColumn column, double value, double scale) {
        CAPTURE(static_cast<int>(column));
        CHECK(std::abs(measured.at(row, column) - value) <= kTolerance * scale);
    };
    check(MeasuredColumn::kDrift2, expected.drift2, expected.drift2);
    check(MeasuredColumn::kUpdate2, expected.update2, expected.update2);
    check(MeasuredColumn::kClaimed2, expected.claimed2, expected.claimed2);
    check(MeasuredColumn::kDot, expected.dot, std::sqrt(expected.drift2 * expected.update2));
    check(MeasuredColumn::kDriftMax, expected.drift_max, expected.drift_max);
    check(MeasuredColumn::kUpdateMax, expected.update_max, expected.update_max);
}

/// Whether a state whose numbers are all finite was measured as double precision says, within TOL-2's tolerance.
inline void check_measured(const States& states) {
    const Measured measured = measure(states);
    check_row(measured, 0, reference(states, program::StateGroup::kParameter));
    check_row(measured, 1, reference(states, program::StateGroup::kOther));
    for (const std::uint32_t row : {0U, 1U}) {
        CHECK(measured.at(row, MeasuredColumn::kNotFinite) == 0.0);
        CHECK(measured.at(row, MeasuredColumn::kIntegers) == 0.0);
    }
}

}  // namespace assay::test

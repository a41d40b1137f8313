// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <verifier/canonical/executor.hpp>
#include <verifier/engine/engine.hpp>

namespace assay::test {

/// The engine's two ways to compute on a CPU, with 1 and 2 threads.
inline std::vector<engine::EngineOptions> all_engines() {
    return {{.device = "cpu", .threads = 1, .portable = false},
            {.device = "cpu", .threads = 2, .portable = false},
            {.device = "cpu", .threads = 1, .portable = true},
            {.device = "cpu", .threads = 2, .portable = true}};
}

/// What a graph did: every node's output, and the next state unless the step diverged.
struct Outcome {
    std::vector<canonical::Tensor> outputs;
    std::optional<std::vector<canonical::Tensor>> next;
};

inline Outcome by_definition(
    const canonical::Graph& graph, const canonical::StepContext& context, const canonical::RowSource& rows,
    const std::vector<canonical::Tensor>& state
) {
    Outcome out;
    const auto keep = [&](std::uint32_t, const canonical::Tensor& output) {
        out.outputs.push_back(output);
        return true;
    };
    auto next = canonical::execute_graph(graph, context, rows, state, keep);
    if (next) {
        out.next = std::move(*next);
    }
    return out;
}

inline Outcome by_engine(
    const canonical::Graph& graph, const canonical::StepContext& context,
    const std::shared_ptr<const canonical::RowSource>& rows, const std::vector<canonical::Tensor>& state,
    const engine::EngineOptions& options
) {
    Outcome out;
    engine::Engine engine(graph, rows, options);
    engine.set_state(state);
    const auto keep = [&](std::uint32_t, const canonical::Tensor& output) {
        out.outputs.push_back(output);
        return true;
    };
    if (engine.run_step(context, {}, keep)) {
        out.next = engine.state();
    }
    return out;
}

/// Index of the first node on which they differ, or -1.
inline int first_difference(const Outcome& a, const Outcome& b) {
    for (std::size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
        if (a.outputs[i] != b.outputs[i]) {
            return static_cast<int>(i);
        }
    }
    return a.outputs.size() == b.outputs.size() && a.next == b.next ? -1 : static_cast<int>(a.outputs.size());
}

inline void check_all_engines(
    const canonical::Graph& graph, const canonical::StepContext& context,
    const std::shared_ptr<const canonical::RowSource>& rows, const std::vector<canonical::Tensor>& state
) {
    const Outcome expected = by_definition(graph, context, *rows, state);
    for (const auto& options : all_engines()) {
        CAPTURE(options.threads);
        CAPTURE(options.portable);
        const int difference = first_difference(expected, by_engine(graph, context, rows, state, options));
        if (difference >= 0) {
            CAPTURE(canonical::to_string(graph[static_cast<std::size_t>(difference)].op));
            CHECK(difference == -1);
        }
        CHECK(difference == -1);
    }
}

/// Values that break what is almost right.
class Hostile {
  public:
    explicit Hostile(std::uint32_t seed) : random_(seed) {}

    std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }
    bool one_in(std::uint32_t n) { return word() % n == 0; }

    enum class Kind { kNormal, kWide, kAnything, kOutlier, kZero, kDenormal };
    static constexpr std::array kKinds{Kind::kNormal, Kind::kWide, Kind::kAnything,
                                       Kind::kOutlier, Kind::kZero, Kind::kDenormal};

    std::uint32_t bits(Kind kind) {
        static constexpr std::array<std::uint32_t, 14> kSpecial{
            0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
            0xff7fffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345};
        const std::uint32_t sign_and_fraction = word() & 0x807fffffU;
        switch (kind) {
            case Kind::kNormal: return sign_and_fraction | ((120U + word() % 9U) << 23U);
            case Kind::kWide: return sign_and_fraction | ((1U + word() % 254U) << 23U);
            case Kind::kAnything: return one_in(3) ? kSpecial[word() % kSpecial.size()] : word();
            case Kind::kOutlier: return one_in(50) ? 0x7e000000U | (word() & 0x80ffffffU) : sign_and_fraction | 0x3f000000U;
            case Kind::kZero: return word() & 0x80000000U;
            case Kind::kDenormal: break;
        }
        return sign_and_fraction;
    }

    canonical::Tensor f32(canonical::Shape shape, Kind kind) {
        return fill(canonical::DType::kF32, shape, [&] { return bits(kind); });
    }
    canonical::Tensor i32(canonical::Shape shape, std::int64_t low, std::int64_t high) {
        return fill(canonical::DType::kI32, shape, [&] { return static_cast<std::uint32_t>(between(low, high)); });
    }
    canonical::Tensor i64(canonical::Shape shape) {
        return fill(canonical::DType::kI64, shape, [&] { return random_() >> (word() % 64U); });
    }

  private:
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    template <class F>
    static canonical::Tensor fill(canonical::DType dtype, canonical::Shape shape, F value) {
        canonical::Tensor out = canonical::make_tensor(dtype, shape);
        const std::size_t size = canonical::size_of(dtype);
        for (std::size_t at = 0; at < out.data.size(); at += size) {
            const std::uint64_t x = value();
            std::memcpy(out.data.data() + at, &x, size);
        }
        return out;
    }
    std::mt19937_64 random_;
};

}  // namespace assay::test

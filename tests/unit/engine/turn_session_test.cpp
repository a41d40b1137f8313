// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/engine/links.hpp>
#include <tests/unit/engine/small_models.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/engine/cell/packing.hpp>
#include <verifier/engine/cell/session.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/plan/turns.hpp>

using namespace assay;
using canonical::Tensor;
using engine::CellSession;
using engine::Served;
using program::LocalReplicas;
using program::SentForm;
using test::SmallModel;

namespace {

SmallModel with_replicas(SmallModel model, const LocalReplicas& local) {
    model.program = program::with_local_replicas(model.program, local).value();
    return model;
}

/// A session over threads, in which `lead` does what rank 0 does. Returns what the other ranks did.
std::vector<Served> with_session(
    const SmallModel& model, std::uint32_t ranks, const std::function<void(CellSession&)>& lead
) {
    auto collectives = test::connect_cell(ranks);
    std::vector<Served> served(ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] { served[rank] = engine::serve_cell(std::move(collectives[rank]), {}); });
    }
    {
        plan::Layout layout;
        layout.turns = ranks;
        const auto session =
            engine::open_session(model.program, model.rows, layout, std::move(collectives[0]), engine::EngineOptions{});
        lead(*session);
        served[0] = session->served();
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return served;
}

std::vector<Tensor> state_of(CellSession& session, std::size_t count) {
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(session.tensor(i));
    }
    return out;
}

void set_state(CellSession& session, const std::vector<Tensor>& state) {
    for (std::size_t i = 0; i < state.size(); ++i) {
        session.set_tensor(i, state[i]);
    }
}

void check_rounds(const SmallModel& model, std::uint32_t turn_steps, std::uint32_t ranks, std::uint64_t first_step) {
    engine::Engine whole(model.program.step, model.rows, {});
    whole.keep(model.program.loss_node);
    whole.set_state(model.initial());
    for (std::uint64_t step = 0; step < first_step; ++step) {
        REQUIRE(whole.run_step(model.context(step)).has_value());
    }
    const plan::Turns turns = plan::find_turns(model.program).value();
    with_session(model, ranks, [&](CellSession& session) {
        set_state(session, whole.state());
        for (std::uint64_t step = first_step; step < (turns.cycle + 1) * turns.round_steps() + turn_steps; ++step) {
            REQUIRE(session.run_step(model.context(step)).has_value());
            REQUIRE(whole.run_step(model.context(step)).has_value());
            CHECK(session.loss() == whole.scalar(model.program.loss_node));
            if (session.has_state()) {
                REQUIRE(state_of(session, model.program.state.size()) == whole.state());
            }
            CHECK((session.has_state() || step % turn_steps + 1 != turn_steps));
        }
    });
}

}  // namespace

TEST_CASE("NUM-1: ranks that take turns leave the states and losses of one machine") {
    std::size_t checked = 0;
    for (const SmallModel& base : test::small_models(program::kXg21)) {
        CAPTURE(base.name);
        if (!program::with_local_replicas(base.program, {.count = 3, .turn_steps = 2}) ||
            !plan::find_turns(program::with_local_replicas(base.program, {.count = 3, .turn_steps = 2}).value())) {
            continue;
        }
        const SmallModel model = with_replicas(base, {.count = 3, .turn_steps = 2, .sent = SentForm::kIntegers});
        check_rounds(model, 2, 3, 0);
        ++checked;
    }
    CHECK(checked >= 3);
}

TEST_CASE("NUM-1: an engine that plans each kind of step has the states of the definition") {
    const SmallModel base = test::small_char_model(program::OptimizerKind::kAdam);
    for (const SentForm sent : {SentForm::kIntegers, SentForm::kSparse}) {
        const SmallModel model = with_replicas(base, {.count = 2, .turn_steps = 3, .sent = sent});
        engine::Engine engine(model.program.step, model.rows, {});
        std::vector<Tensor> expected = model.initial();
        engine.set_state(expected);
        for (std::uint64_t step = 0; step < 12; ++step) {
            CAPTURE(step);
            expected = canonical::execute_graph(model.program.step, model.context(step), *model.rows, expected).value();
            REQUIRE(engine.run_step(model.context(step)).has_value());
            REQUIRE(engine.state() == expected);
        }
    }
}

TEST_CASE("NUM-1: fewer ranks than replicas, more, and a session that begins in mid-round") {
    const SmallModel base = test::small_char_model(program::OptimizerKind::kAdam);
    for (const SentForm sent : {SentForm::kWhole, SentForm::kIntegers, SentForm::kSparse}) {
        const SmallModel model = with_replicas(base, {.count = 4, .turn_steps = 3, .sent = sent});
        check_rounds(model, 3, 2, 0);
        check_rounds(model, 3, 3, 3);
        check_rounds(model, 3, 4, 9);
        check_rounds(model, 3, 5, 0);
        check_rounds(model, 3, 1, 6);
    }
}

TEST_CASE("NUM-1: ranks that exchange one fragment in a round leave the states of one machine") {
    const SmallModel base = test::small_char_model(program::OptimizerKind::kAdam);
    for (const SentForm sent : {SentForm::kWhole, SentForm::kIntegers, SentForm::kSparse}) {
        const SmallModel model = with_replicas(base, {.count = 3, .turn_steps = 2, .sent = sent, .fragments = 3});
        check_rounds(model, 2, 3, 0);
        check_rounds(model, 2, 2, 6);
    }
}

TEST_CASE("NUM-6: a turn that diverges stops where one machine would, with its state") {
    const SmallModel base = test::small_char_model(program::OptimizerKind::kSgd);
    SmallModel model = with_replicas(base, {.count = 3, .turn_steps = 4, .outer_rate = 1e25F});
    bool is_at_end = false;
    SUBCASE("in a turn that begins with enormous parameters") {}
    SUBCASE("at the end of a round, when the mean of what was sent overflows") {
        is_at_end = true;
        for (canonical::Node& node : model.program.step) {
            const bool is_mean =
                node.op == canonical::Op::kScale && node.attributes[0] == std::bit_cast<std::uint32_t>(1.0F / 3);
            node.attributes[0] = is_mean ? std::bit_cast<std::uint32_t>(3e38F) : node.attributes[0];
        }
    }
    engine::Engine whole(model.program.step, model.rows, {});
    whole.set_state(model.initial());
    bool has_diverged = false;
    std::uint64_t diverged_at = 0;
    with_session(model, 3, [&](CellSession& session) {
        set_state(session, whole.state());
        for (std::uint64_t step = 0; step < 36 && !has_diverged; ++step) {
            const bool expected = whole.run_step(model.context(step)).has_value();
            REQUIRE(session.run_step(model.context(step)).has_value() == expected);
            has_diverged = !expected;
            diverged_at = step;
        }
        REQUIRE(session.has_state());
        CHECK(state_of(session, model.program.state.size()) == whole.state());
    });
    CHECK(has_diverged);
    CHECK((diverged_at % 12 == 11) == is_at_end);
}

TEST_CASE("turns: a rank sends what its replica sends in a round, packed, and holds its own state") {
    const SmallModel base = test::small_char_model(program::OptimizerKind::kAdam);
    LocalReplicas local{.count = 2, .turn_steps = 3, .sent = SentForm::kIntegers};
    SUBCASE("8 bits") { local.bits = 8; }
    SUBCASE("4 bits") { local.bits = 4; }
    const SmallModel model = with_replicas(base, local);
    std::vector<program::StateTensor> parameters;
    for (const auto& tensor : base.program.state) {
        if (program::group_of(tensor) == program::StateGroup::kParameter) {
            parameters.push_back(tensor);
        }
    }
    const auto served = with_session(model, 2, [&](CellSession& session) {
        set_state(session, model.initial());
        for (std::uint64_t step = 0; step < 6; ++step) {
            REQUIRE(session.run_step(model.context(step)).has_value());
        }
    });
    const std::uint64_t all = program::size_bytes(model.program.state);
    for (const Served& one : served) {
        // Where the largest of a row is below half of the levels, the row takes a bit less an element.
        const double formula = static_cast<double>(program::round_traffic(local, parameters).packed) / 8;
        CHECK(static_cast<double>(one.sent_bytes) > 0.8 * formula);
        CHECK(static_cast<double>(one.sent_bytes) < 1.01 * formula + 8);
        CHECK(one.state_bytes < all);
    }
    CHECK(served[1].steps == 3);
}

namespace {

Tensor floats(canonical::Shape shape, const std::function<float(std::size_t)>& value) {
    Tensor out = canonical::make_tensor(canonical::DType::kF32, shape);
    for (std::size_t i = 0; i < shape.element_count(); ++i) {
        const float x = value(i);
        std::memcpy(out.data.data() + 4 * i, &x, 4);
    }
    return out;
}

std::size_t packed_size(const Tensor& tensor) {
    const Bytes packed = engine::cell::pack(tensor);
    ByteView left(packed);
    REQUIRE(engine::cell::unpack(left, {tensor.dtype, tensor.shape}).value() == tensor);
    CHECK(left.empty());
    return packed.size();
}

}  // namespace

TEST_CASE("packing loses nothing and takes what is there") {
    const canonical::Shape wide{3, 1000};
    CHECK(packed_size(floats(wide, [](std::size_t) { return 0.0F; })) == 2 + 1 + 1);
    const auto small = [](std::size_t i) {
        return static_cast<float>(static_cast<int>(i * 37 % 255) - 127) * 0x1p-20F;
    };
    CHECK(packed_size(floats(wide, small)) == 2 + 1 + 1 + 3 * 1000);
    // Rows of one width, whose exponents are near each other or far apart.
    for (const int apart : {30, 32, -30, -32, -70}) {
        const auto scaled = [&](std::size_t i) { return std::ldexp(small(i), static_cast<int>(i / 1000) % 2 * apart); };
        const std::size_t heads = apart == 30 || apart == -30 ? 2 + 1 + 1 : 2 + 2 + 2;
        CHECK(packed_size(floats(wide, scaled)) == heads + 3 * 1000);
    }
    const auto levels = [](std::size_t i) { return std::array{0.1F, -0.1F, 0.7F, -0.7F, 0.0F}[i * i % 5]; };
    CHECK(packed_size(floats({9000, 1}, levels)) < 9000 * 3 / 8 + 100);
    // Two magnitudes and a sign, as SparseLoCo sends them; few values are as long as words.
    const auto halves = [](std::size_t i) { return std::array{0.1F, -0.1F, 0.7F, -0.7F}[i / 3 % 4]; };
    CHECK(packed_size(floats({64, 1}, halves)) == 2 + 2 * 4 + 64 * 2 / 8);
    CHECK(packed_size(floats({2, 1}, [](std::size_t i) { return i == 0 ? 0.1F : -0.7F; })) == 1 + 2 * 4);
    const auto naturals = [](std::size_t i) { return std::array{0.1F, 0.3F, 0.7F, 0.0F}[i / 3 % 4]; };
    CHECK(packed_size(floats({64, 1}, naturals)) == 2 + 4 * 4 + 64 * 2 / 8);
    const auto anything = [](std::size_t i) { return std::pow(1.37F, static_cast<float>(i % 80)); };
    CHECK(packed_size(floats(wide, anything)) == 3 * (1 + 4000));
    // Numbers that are no integers times a power of two within 24 bits, and the ends of what there is.
    const auto ends = [](std::size_t i) {
        return std::array{0x1p-149F, -0x1.fffffep127F, 0x1p127F, -0.0F, 0.0F, INFINITY, NAN, 1.0F}[i % 8];
    };
    packed_size(floats({1, 64}, ends));
    for (const float one : {0x1p-149F, 0x1.fffffep127F, -0x1p100F, -0.0F, INFINITY}) {
        packed_size(floats({5, 70}, [&](std::size_t i) { return i % 3 == 0 ? one : 0.0F; }));
        packed_size(floats({5, 70}, [&](std::size_t i) {
            return i % 20 == 0 ? one * 3.0F : one * static_cast<float>(i % 19);
        }));
    }
}

TEST_CASE("packing: what is no packed tensor is refused") {
    const canonical::TensorType type{canonical::DType::kF32, {2, 100}};
    for (const Bytes& bytes :
         {Bytes{}, Bytes{0}, Bytes{0, 1, 2}, Bytes{1}, Bytes{1, 0}, Bytes{1, 17}, Bytes{1, 2, 0},
          Bytes{25 << 2 | 2, 150, 0, 0, 0, 0, 0}, Bytes{2, 150, 8, 0, 0, 0, 0, 1}, Bytes{3}}) {
        ByteView left(bytes);
        CHECK(engine::cell::unpack(left, type).error() == engine::cell::PackingError::kMalformed);
    }
    // An index beyond the table.
    Bytes bytes{1, 3};
    bytes.resize(2 + 12 + 25, 0xff);
    ByteView left(bytes);
    CHECK(engine::cell::unpack(left, type).error() == engine::cell::PackingError::kMalformed);
    bytes[0] = 1 | 1 << 2;  // a table of magnitudes
    left = bytes;
    CHECK(engine::cell::unpack(left, type).error() == engine::cell::PackingError::kMalformed);
    // A row like the one before it, where there is none.
    bytes.assign(1000, 0);
    bytes[0] = 1 | 32 << 2;
    left = bytes;
    CHECK(engine::cell::unpack(left, type).error() == engine::cell::PackingError::kMalformed);
}

namespace {

/// Another collective, whose waits for messages are counted.
class CountedCollective final : public engine::Collective {
  public:
    CountedCollective(std::unique_ptr<engine::Collective> inner, std::size_t& waits)
        : inner_(std::move(inner)), waits_(waits) {}
    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        waits_ += std::any_of(expected.begin(), expected.end(), [](std::uint64_t size) { return size != 0; }) ? 1U : 0U;
        return inner_->exchange(std::move(to), expected, tag);
    }
    void settle() override { inner_->settle(); }

  private:
    std::unique_ptr<engine::Collective> inner_;
    std::size_t& waits_;
};

}  // namespace

TEST_CASE("NUM-1: rank 0 waits for no other rank before the end of a turn, and is not far ahead") {
    constexpr std::uint32_t kTurn = 70;
    const SmallModel model = with_replicas(
        test::small_char_model(program::OptimizerKind::kAdam),
        {.count = 2, .turn_steps = kTurn, .sent = SentForm::kIntegers}
    );
    engine::Engine whole(model.program.step, model.rows, {});
    whole.set_state(model.initial());
    auto collectives = engine::connect_threads(2);
    std::thread other([&] { engine::serve_cell(std::move(collectives[1]), {}); });
    std::size_t waits = 0;
    {
        plan::Layout layout;
        layout.turns = 2;
        const auto session = engine::open_session(
            model.program, model.rows, layout, std::make_unique<CountedCollective>(std::move(collectives[0]), waits), {}
        );
        set_state(*session, model.initial());
        waits = 0;
        for (std::uint64_t step = 0; step < 2 * std::uint64_t{kTurn}; ++step) {
            REQUIRE(session->run_step(model.context(step)).has_value());
            REQUIRE(whole.run_step(model.context(step)).has_value());
            if (step < 64) {
                CHECK(waits == 0);
            } else if (step + 1 < kTurn) {
                CHECK(waits == step - 63);  // for the outcome of 64 steps before
            } else if (step + 1 < 2 * kTurn) {
                CHECK(waits == kTurn);  // the other replica's turn has been run at the same time
            }
        }
        CHECK(state_of(*session, model.program.state.size()) == whole.state());
    }
    other.join();
}

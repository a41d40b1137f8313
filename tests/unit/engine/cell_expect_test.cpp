// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/engine/links.hpp>
#include <tests/unit/engine/small_models.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/cell_executor.hpp>

using namespace assay;
using namespace assay::test;

namespace {

constexpr std::uint64_t kSteps = 2;
// Of which a link has room anyway: the loss, and each rank's word on whether the next state is finite.
constexpr engine::Ahead kBesides{.bytes = 5, .messages = 2};

// Counts what each other rank sends this one, and keeps what the plan says that it does.
class Tallied final : public engine::Collective {
  public:
    explicit Tallied(engine::Collective& inner) : inner_(inner), received(inner.size(), {.bytes = 0, .messages = 0}) {}
    std::uint32_t rank() const override { return inner_.rank(); }
    std::uint32_t size() const override { return inner_.size(); }
    void settle() override { inner_.settle(); }
    void expect(const std::vector<engine::Ahead>& in_step) override { expected = in_step; }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& sizes, std::uint32_t tag)
        override {
        for (std::uint32_t other = 0; other < size(); ++other) {
            received[other].bytes += sizes[other];
            received[other].messages += sizes[other] > 0 ? 1U : 0U;
        }
        return inner_.exchange(std::move(to), sizes, tag);
    }

  private:
    engine::Collective& inner_;

  public:
    std::vector<engine::Ahead> expected{};
    std::vector<engine::Ahead> received;
};

// What is not as it should be, on any rank.
std::string faults_of(const SmallModel& model, const plan::Layout& layout) {
    const plan::Plan plan = plan::make_plan(model.program, layout);
    const std::vector<canonical::Tensor> state = model.initial();
    const auto collectives = engine::connect_threads(layout.ranks());
    std::vector<std::string> faults(layout.ranks());
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        threads.emplace_back([&, rank] {
            Tallied tallied(*collectives[rank]);
            engine::CellExecutor executor(model.program, plan, model.rows, tallied, {});
            for (std::size_t i = 0; i < state.size(); ++i) {
                executor.set_state(
                    i, engine::cell::take_block(state[i], plan::whole(state[i].shape), plan.state[i][rank])
                );
            }
            for (std::uint64_t step = 0; step < kSteps; ++step) {
                faults[rank] += executor.run_step(model.context(step)) ? "" : "it diverges; ";
            }
            for (std::uint32_t other = 0; other < layout.ranks(); ++other) {
                const engine::Ahead& most = tallied.expected.at(other);
                const engine::Ahead& came = tallied.received[other];
                const bool is_bounded = came.bytes <= kSteps * (most.bytes + kBesides.bytes) &&
                                        came.messages <= kSteps * (most.messages + kBesides.messages);
                const bool is_tight = came.bytes >= kSteps * most.bytes;
                faults[rank] += is_bounded && is_tight
                                    ? ""
                                    : "rank " + std::to_string(rank) + " expects " + std::to_string(most.bytes) +
                                          " bytes of rank " + std::to_string(other) + ", and has " +
                                          std::to_string(came.bytes) + "; ";
            }
        });
    }
    threads.clear();
    std::string out;
    for (const std::string& fault : faults) {
        out += fault;
    }
    return out;
}

}  // namespace

TEST_CASE("what a plan says that ranks send each other in a step is what they send") {
    for (const SmallModel& model : clipped_models()) {
        for (const auto& layout : std::vector<std::pair<std::string, std::uint32_t>>{
                 {"dp", 3}, {"zero3", 2}, {"tp", 2}, {"pp+1f1b4", 4}, {"pp+gpipe2", 2}, {"zero1+dp2pp2", 4}}) {
            CAPTURE(model.name);
            CAPTURE(layout.first);
            CHECK(faults_of(model, plan::decode_layout(layout.first, layout.second).value()) == std::string());
        }
    }
}

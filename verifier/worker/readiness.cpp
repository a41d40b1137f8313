// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/readiness.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <core/canonical/executor.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/worker/idle_watch.hpp>
#include <verifier/worker/offers.hpp>

namespace assay::worker {
namespace {

constexpr std::uint32_t kWidth = 48;  // more than a tile, not a multiple of one
constexpr std::uint64_t kReadinessRows = 64;
constexpr std::uint64_t kReadinessSeed = 20;
constexpr std::uint64_t kSteps = 2;
/// A validator refuses a block that is further ahead; behind, blocks are as old as the chain is slow.
constexpr std::int64_t kSkewMaxMs = 30'000;

class Rows final : public canonical::RowSource {
  public:
    explicit Rows(std::uint32_t width) : width_(width), values_(kReadinessRows * width) {
        for (std::size_t i = 0; i < values_.size(); ++i) {
            values_[i] = static_cast<std::int32_t>(i * 2'654'435'761U / 128U % 8);
        }
    }
    canonical::DatasetShape shape() const override { return {kReadinessRows, width_}; }
    Bytes row(std::uint64_t index) const override {
        const auto* first = reinterpret_cast<const std::uint8_t*>(values_.data() + index * width_);
        return {first, first + std::size_t{width_} * 4};
    }

  private:
    std::uint32_t width_;
    std::vector<std::int32_t> values_;
};

program::Program small_model() {
    program::MlpConfig config;
    config.features = kWidth;
    config.hidden = {kWidth};
    config.classes = 8;
    config.scale = 1.0F / 8.0F;
    config.batch_size = 33;
    config.dataset_rows = kReadinessRows;
    return program::build_mlp(config, {});
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

[[noreturn]] void refuse_device(const engine::EngineOptions& options, const std::string& why) {
    throw NotReady(
        "the device \"" + options.device + "\" cannot be used: " + why +
        "; give --device one that this build and this machine have (cpu always works)"
    );
}

std::uint64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

void check_clock(WorkerContext& context) {
    // A block made now: the last one is as old as the chain has been idle.
    const Height height = context.chain.rpc().height();
    const Height next = context.chain.rpc().wait_for_block(height, std::chrono::seconds(5));
    if (next <= height) {
        context.reporter.trouble("the chain makes no blocks now, so this machine's clock could not be compared with it"
        );
        return;
    }
    const auto skew = static_cast<std::int64_t>(now_ms() - context.chain.block_time(next));
    if (std::abs(skew) > kSkewMaxMs) {
        // Blocks that the node executes now may have been made long ago.
        if (look_at_node(context.chain) == roles::NodeState::kCatchesUp) {
            throw NodeBehind("the node is catching up: its last block is old, and newer ones follow fast");
        }
        throw NotReady(
            "this machine's clock is " + std::to_string(std::abs(skew) / 1'000) + " s " +
            (skew > 0 ? "ahead of" : "behind") + " the time of a block that was just made; set it"
        );
    }
}

/// Says what may be drawn for this worker, and where a verifier has less memory than it consents to use (TRM-1).
void report_terms(WorkerContext& context) {
    const contracts::Role role = role_of(context.options.mode);
    const contracts::Terms terms = context.chain.listing(role).terms;
    nlohmann::ordered_json event = {{"event", "terms"}, {"hardware_class", terms.hardware_class}};
    if (role == contracts::Role::kVerifier) {
        const contracts::Params& params = context.chain.params();
        const std::uint64_t consented = terms.memory == 0 ? params.memory_default : terms.memory;
        const std::uint64_t usable = memory_max(context.options) / kMemoryFactor;
        event["price"] = std::max(terms.price, params.work_price);
        event["memory"] = consented;
        event["replay_blocks"] = terms.replay_blocks == 0 ? params.replay_blocks_max : terms.replay_blocks;
        if (usable < consented) {
            context.reporter.trouble(
                "this machine replays programs of up to " + std::to_string(usable) + " bytes, and may be drawn for " +
                std::to_string(consented) + ": `assay stake register verifier CLASS --memory " +
                std::to_string(usable) + "` says so to the chain"
            );
        }
    }
    context.reporter.event(event);
}

}  // namespace

void check_device(const engine::EngineOptions& options) {
    const program::Program model = small_model();
    const auto rows = std::make_shared<Rows>(model.dataset.width);
    std::vector<canonical::Tensor> wanted;
    std::vector<canonical::Tensor> found;
    try {
        const canonical::StepContext start{.seed = kReadinessSeed, .step = 0, .dataset = model.dataset};
        wanted = canonical::execute_graph(model.init, start, *rows, {}).value();
        engine::Engine init(model.init, rows, options);
        if (!init.run_step(start)) {
            refuse_device(options, "its self-test diverged");
        }
        found = init.state();
        engine::Engine step(model.step, rows, options);
        step.set_state(found);
        for (std::uint64_t i = 0; i < kSteps && found == wanted; ++i) {
            const canonical::StepContext context{.seed = kReadinessSeed, .step = i, .dataset = model.dataset};
            wanted = canonical::execute_graph(model.step, context, *rows, wanted).value();
            if (!step.run_step(context)) {
                refuse_device(options, "its self-test diverged");
            }
            found = step.state();
        }
    } catch (const NotReady&) {
        throw;
    } catch (const std::exception& error) {
        refuse_device(options, first_line(error.what()));
    }
    if (found != wanted) {
        refuse_device(options, "its self-test gave other bits than the definition");
    }
}

void check_node(WorkerContext& context) {
    static_cast<void>(context.chain.chain_id());  // proven against what this home has pinned, or pinned now
    check_clock(context);
    report_terms(context);
}

}  // namespace assay::worker

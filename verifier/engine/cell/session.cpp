// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/session.hpp>

#include <cmath>
#include <stdexcept>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/cell_executor.hpp>
#include <verifier/engine/cell/orders.hpp>
#include <verifier/engine/cell/turn_session.hpp>

namespace assay::engine {

using canonical::Tensor;

namespace {

using cell::broadcast;
using cell::exchange;
using cell::receive;

// How a session begins.
struct Opening {
    std::uint32_t data = 1;
    std::uint32_t tensor = 1;
    std::uint32_t stages = 1;
    std::uint8_t zero = 0;
    std::vector<std::uint32_t> shares;
    std::uint32_t micro_batches = 1;
    std::uint8_t pipeline = 0;
    std::uint32_t turns = 1;
    Bytes program;
    static constexpr auto fields() {
        return Fields<
            &Opening::data, &Opening::tensor, &Opening::stages, &Opening::zero, &Opening::shares,
            &Opening::micro_batches, &Opening::pipeline, &Opening::turns, &Opening::program>{};
    }
};
constexpr std::size_t kLengthBytes = 8;

// Every other rank gets its block of a tensor that rank 0 has, of which this rank returns its own.
Tensor scatter(
    Collective& collective, const plan::Placement& placement, const Tensor* whole, const canonical::TensorType& type
) {
    std::vector<Bytes> to(collective.size());
    std::vector<std::uint64_t> expected(collective.size());
    const plan::Block& own = placement[collective.rank()];
    if (whole != nullptr) {
        const plan::Block all = plan::whole(type.shape);
        for (std::uint32_t rank = 1; rank < collective.size(); ++rank) {
            cell::append_block(*whole, all, placement[rank], to[rank]);
        }
        exchange(collective, std::move(to), expected);
        return cell::take_block(*whole, all, own);
    }
    expected[0] = own.element_count() * canonical::size_of(type.dtype);
    return {type.dtype, own.shape(), std::move(exchange(collective, std::move(to), expected)[0])};
}

// Rank 0 gets what it lacks of a tensor and returns it whole; other ranks return nothing of use.
Tensor gather(
    Collective& collective, const plan::Placement& placement, const Tensor& block, const canonical::TensorType& type
) {
    plan::Placement wanted(collective.size());
    wanted[0] = plan::whole(type.shape);
    std::vector<Bytes> to(collective.size());
    std::vector<std::uint64_t> expected(collective.size());
    const auto all = plan::transfers(placement, wanted, type.shape);
    const std::uint32_t rank = collective.rank();
    for (const plan::Transfer& transfer : all) {
        if (transfer.from == rank) {
            cell::append_block(block, placement[rank], transfer.block, to[0]);
        }
        if (rank == 0) {
            expected[transfer.from] += transfer.block.element_count() * canonical::size_of(type.dtype);
        }
    }
    const std::vector<Bytes> received = exchange(collective, std::move(to), expected);
    if (rank != 0) {
        return {};
    }
    Tensor out = canonical::make_tensor(type.dtype, type.shape);
    if (!placement[0].is_empty()) {
        cell::write_block(out, wanted[0], placement[0], block.data);
    }
    std::vector<std::size_t> read(collective.size());
    for (const plan::Transfer& transfer : all) {
        const std::size_t size = transfer.block.element_count() * canonical::size_of(type.dtype);
        cell::write_block(
            out, wanted[0], transfer.block, ByteView(received[transfer.from]).subspan(read[transfer.from], size)
        );
        read[transfer.from] += size;
    }
    return out;
}

Result<void, canonical::StepError> counted_step(
    CellExecutor& executor, const Collective& collective, const canonical::StepContext& context, Served& served
) {
    const std::uint64_t before = collective.sent_bytes();
    const auto result = executor.run_step(context);
    served.steps += result ? 1U : 0U;
    served.sent_bytes += collective.sent_bytes() - before;
    return result;
}

// The ranks beyond 0 have no data set: rank 0 reads each batch.
struct RowsOfRankZero final : canonical::RowSource {
    canonical::DatasetShape shape() const override { return {}; }
    Bytes row(std::uint64_t /*index*/) const override {
        throw std::runtime_error("only rank 0 of a cell reads the data set");
    }
};

// All ranks execute every step together.
class StepSession final : public CellSession {
  public:
    StepSession(
        const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, const plan::Layout& layout,
        std::unique_ptr<Collective> collective, const EngineOptions& options
    )
        : program_(program),
          collective_(std::move(collective)),
          executor_(program_, plan::make_plan(program_, layout), std::move(rows), *collective_, options) {
        served_.layout = layout;
        served_.state_bytes = plan::state_bytes(executor_.plan(), program_, 0);
    }
    ~StepSession() override {
        try {
            command(cell::kEnd, 0, 0);
        } catch (const std::runtime_error&) {
            // A rank is gone; the others see it too.
        }
    }
    StepSession(const StepSession&) = delete;
    StepSession& operator=(const StepSession&) = delete;

    void set_tensor(std::size_t index, const Tensor& tensor) override {
        command(cell::kSetTensor, index, 0);
        executor_.set_state(index, scatter(*collective_, place_of(index), &tensor, program_.state[index].type));
    }
    Tensor tensor(std::size_t index) override {
        command(cell::kGetTensor, index, 0);
        return gather(*collective_, place_of(index), executor_.state(index), program_.state[index].type);
    }
    Result<void, canonical::StepError> run_step(const canonical::StepContext& context) override {
        command(cell::kStep, context.seed, context.step);
        return counted_step(executor_, *collective_, context, served_);
    }
    float loss() const override {
        ASSERT(executor_.loss().has_value());
        return *executor_.loss();
    }
    bool has_state() const override { return true; }
    const Served& served() const override { return served_; }

  private:
    void command(std::uint8_t kind, std::uint64_t first, std::uint64_t second) {
        cell::send_order(*collective_, {kind, first, second});
    }
    const plan::Placement& place_of(std::size_t index) const { return executor_.plan().state[index]; }

    const program::Program program_;
    std::unique_ptr<Collective> collective_;
    CellExecutor executor_;
    Served served_;
};

}  // namespace

std::unique_ptr<CellSession> open_session(
    const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, const plan::Layout& layout,
    std::unique_ptr<Collective> collective, const EngineOptions& options
) {
    ASSERT(collective->rank() == 0);
    const Opening opening{
        layout.data,
        layout.tensor,
        layout.stages,
        static_cast<std::uint8_t>(layout.zero),
        layout.shares,
        layout.micro_batches,
        static_cast<std::uint8_t>(layout.pipeline),
        layout.turns,
        codec::encode(program)};
    const Bytes message = codec::encode(opening);
    broadcast(*collective, codec::encode(static_cast<std::uint64_t>(message.size())));
    broadcast(*collective, message);
    if (layout.turns > 1) {
        return cell::open_turns(program, std::move(rows), layout, std::move(collective), options);
    }
    return std::make_unique<StepSession>(program, std::move(rows), layout, std::move(collective), options);
}

namespace {

std::runtime_error no_program() { return std::runtime_error("rank 0 of the cell sent what is no program"); }

struct Start {
    plan::Layout layout;
    Bytes program;
};

Start receive_start(Collective& collective) {
    const auto length = codec::decode<std::uint64_t>(receive(collective, kLengthBytes));
    if (!length || *length == 0) {
        throw no_program();
    }
    auto opening = codec::decode<Opening>(receive(collective, *length));
    if (!opening) {
        throw no_program();
    }
    plan::Layout layout{
        .data = opening->data,
        .tensor = opening->tensor,
        .stages = opening->stages,
        .zero = static_cast<plan::Zero>(opening->zero),
        .shares = std::move(opening->shares),
        .micro_batches = opening->micro_batches,
        .pipeline = static_cast<plan::Pipeline>(opening->pipeline),
        .turns = opening->turns};
    if (!layout.is_valid() || layout.ranks() != collective.size()) {
        throw std::runtime_error("rank 0 of the cell sent a layout for another number of ranks");
    }
    return {std::move(layout), std::move(opening->program)};
}

}  // namespace

Served serve_cell(std::unique_ptr<Collective> collective, const EngineOptions& options) {
    const Start start = receive_start(*collective);
    const auto program = program::decode_program(start.program);
    if (!program) {
        throw no_program();
    }
    if (start.layout.turns > 1) {
        return cell::serve_turns(*program, start.layout, *collective, options);
    }
    Served out;
    out.layout = start.layout;
    CellExecutor executor(
        *program, plan::make_plan(*program, out.layout), std::make_shared<RowsOfRankZero>(), *collective, options
    );
    out.state_bytes = plan::state_bytes(executor.plan(), *program, collective->rank());
    while (true) {
        const cell::Order order = cell::receive_order(*collective, program->state.size());
        const auto index = static_cast<std::size_t>(order.first);
        switch (order.kind) {
            case cell::kStep: {
                const canonical::StepContext context{
                    .seed = order.first, .step = order.second, .dataset = program->dataset};
                static_cast<void>(counted_step(executor, *collective, context, out).has_value());
                break;
            }
            case cell::kSetTensor:
                executor.set_state(
                    index, scatter(*collective, executor.plan().state[index], nullptr, program->state[index].type)
                );
                break;
            case cell::kGetTensor:
                gather(*collective, executor.plan().state[index], executor.state(index), program->state[index].type);
                break;
            default:
                return out;
        }
    }
}

}  // namespace assay::engine

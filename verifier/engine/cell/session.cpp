// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/session.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/cell_executor.hpp>
#include <verifier/engine/cell/contents.hpp>
#include <verifier/engine/cell/opening.hpp>
#include <verifier/engine/cell/orders.hpp>
#include <verifier/engine/cell/turn_session.hpp>

namespace assay::engine {

using canonical::Tensor;

namespace {

using cell::broadcast;
using cell::exchange;
using cell::receive;

constexpr std::size_t kLengthBytes = 8;

// What of the execution the state is, for ranks that answer for what they send of it.
class Progress {
  public:
    Progress(const program::Program& program, const plan::Plan& plan, Collective& collective)
        : program_(program),
          plan_(plan),
          collective_(collective),
          hands_on_state_(collective.is_stated() && plan::hands_on_state(plan, program.step)) {}

    void begin_segment(const Hash256& before, std::uint64_t first_step) {
        collective_.begin_segment(before, first_step);
        // A rank that somebody has misled has another state than the segment begins with, and would sign what comes of
        // it.
        is_given_.assign(program_.state.size(), false);
        first_step_ = first_step;
        next_step_ = first_step;
        has_run_ = false;
        has_failed_ = false;
    }
    // Whoever executed another step, or with another state, would sign wrong values of it. A step behind the segment's
    // last one belongs to a segment that begins with whatever checkpoint is posted, and a step that is executed for a
    // second time would be stated for a second time.
    void check_step(const canonical::StepContext& context, const Terms& terms) const {
        const bool is_complete = is_given_.size() == program_.state.size() &&
                                 std::find(is_given_.begin(), is_given_.end(), false) == is_given_.end();
        const bool is_next = context.step == next_step_ && context.step - first_step_ < terms.steps && !has_failed_;
        if (context.seed != terms.seed || !is_next || !is_complete) {
            throw std::runtime_error(
                "rank 0 of the cell orders step " + std::to_string(context.step) + ", which is not the task's next one"
            );
        }
    }
    void note_step(std::uint64_t step, bool is_done) {
        next_step_ = is_done ? step + 1 : step;
        has_run_ = is_done;
        has_failed_ = !is_done;
    }
    // Rank 0 gives every other rank its block of a tensor of the state before the next step.
    std::optional<Contents> given(std::size_t index) {
        refuse_second_state(index);
        has_run_ = false;
        if (!is_given_.empty()) {
            is_given_[index] = true;
        }
        return described(index, [&](cell::ContentsOf& out, const plan::Passage& of) {
            for (std::uint32_t rank = 1; rank < collective_.size(); ++rank) {
                plan::Passage passage = of;
                passage.block = plan_.state[index][rank];
                if (collective_.rank() == 0) {
                    out.send(rank, std::move(passage));
                } else if (collective_.rank() == rank) {
                    out.receive(0, std::move(passage));
                }
            }
        });
    }
    // Ranks that hand on what they were given answer for that alone, and so compare it first.
    void compare_given(std::size_t index, const Tensor& tensor) {
        if (hands_on_state_) {
            collective_.compare_state(
                {.index = index,
                 .tensors = program_.state.size(),
                 .type = type_of(index),
                 .placement = place_of(index)},
                tensor
            );
        }
    }
    // Ranks give rank 0 what it lacks of a tensor of the state: outputs of the last step, if the segment has one yet.
    std::optional<Contents> taken(std::size_t index, const std::vector<plan::Transfer>& transfers) {
        return described(index, [&](cell::ContentsOf& out, const plan::Passage& of) {
            for (const plan::Transfer& transfer : transfers) {
                plan::Passage passage = of;
                passage.block = transfer.block;
                passage.hop = 1;  // who has it may have been handed it
                if (transfer.from == collective_.rank()) {
                    out.send(0, std::move(passage));
                } else if (collective_.rank() == 0) {
                    out.receive(transfer.from, std::move(passage));
                }
            }
        });
    }
    const plan::Placement& place_of(std::size_t index) const { return plan_.state[index]; }
    const canonical::TensorType& type_of(std::size_t index) const { return program_.state[index].type; }
    Collective& collective() const { return collective_; }

  private:
    // STM-3: a rank that had two values of a tensor in one session could be made to state both of them.
    void refuse_second_state(std::size_t index) const {
        const bool is_second = !is_given_.empty() && (is_given_[index] || next_step_ != first_step_ || has_failed_);
        if (collective_.is_stated() && is_second) {
            throw std::runtime_error(
                "rank 0 of the cell gives tensor " + std::to_string(index) +
                " of the state for a second time in one segment"
            );
        }
    }

    template <class F>
    std::optional<Contents> described(std::size_t index, F add) {
        if (!collective_.is_stated()) {
            return std::nullopt;
        }
        collective_.begin_step(has_run_ ? next_step_ - 1 : next_step_);
        const canonical::Input& made = program_.step.back().inputs[index];
        const plan::Passage passage{
            .source = has_run_ ? made.source : canonical::Source::kState,
            .index = has_run_ ? made.index : static_cast<std::uint32_t>(index),
            .block = {},
            .width = static_cast<std::uint32_t>(canonical::size_of(type_of(index).dtype)),
            .positions = {}};
        cell::ContentsOf out(collective_.size());
        add(out, passage);
        return out.build(program_.step);
    }

    const program::Program& program_;
    const plan::Plan& plan_;
    Collective& collective_;
    const bool hands_on_state_;
    std::uint64_t first_step_ = 0;  // of the segment
    std::uint64_t next_step_ = 0;
    bool has_run_ = false;        // a step of the segment made the state
    bool has_failed_ = false;     // a rank has said that the segment's last step diverges
    std::vector<bool> is_given_;  // of each tensor, once a segment has begun
};

// Every other rank gets its block of a tensor that rank 0 has, of which this rank returns its own.
Tensor scatter(Progress& progress, std::size_t index, const Tensor* whole) {
    Collective& collective = progress.collective();
    const plan::Placement& placement = progress.place_of(index);
    const canonical::TensorType& type = progress.type_of(index);
    const std::optional<Contents> contents = progress.given(index);
    std::vector<Bytes> to(collective.size());
    std::vector<std::uint64_t> expected(collective.size());
    const plan::Block& own = placement[collective.rank()];
    if (whole != nullptr) {
        const plan::Block all = plan::whole(type.shape);
        for (std::uint32_t rank = 1; rank < collective.size(); ++rank) {
            cell::append_block(*whole, all, placement[rank], to[rank]);
        }
        exchange(collective, std::move(to), expected, contents);
        progress.compare_given(index, *whole);
        return cell::take_block(*whole, all, own);
    }
    expected[0] = own.element_count() * canonical::size_of(type.dtype);
    Tensor block{type.dtype, own.shape(), std::move(exchange(collective, std::move(to), expected, contents)[0])};
    progress.compare_given(index, block);
    return block;
}

// Rank 0 gets what it lacks of a tensor and returns it whole; other ranks return nothing of use.
Tensor gather(Progress& progress, std::size_t index, const Tensor& block) {
    Collective& collective = progress.collective();
    const plan::Placement& placement = progress.place_of(index);
    const canonical::TensorType& type = progress.type_of(index);
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
    const std::vector<Bytes> received = exchange(collective, std::move(to), expected, progress.taken(index, all));
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
    CellExecutor& executor, Progress& progress, const canonical::StepContext& context, Served& served
) {
    const Collective& collective = progress.collective();
    const std::uint64_t before = collective.sent_bytes();
    const auto result = executor.run_step(context);
    progress.note_step(context.step, result.has_value());
    served.steps += result ? 1U : 0U;
    served.sent_bytes += collective.sent_bytes() - before;
    return result;
}

void refuse_stated(const Collective& collective) {
    if (collective.is_stated()) {
        throw std::runtime_error("ranks that answer for what they send cannot take turns");
    }
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
          executor_(program_, plan::make_plan(program_, layout), std::move(rows), *collective_, options),
          progress_(program_, executor_.plan(), *collective_) {
        served_.layout = layout;
        served_.nodes = program_.step.size();
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

    void begin_segment(const Hash256& before, std::uint64_t first_step) override {
        if (collective_->is_stated()) {
            command(cell::kBeginSegment, first_step, 0);
            broadcast(*collective_, codec::encode(before));
            progress_.begin_segment(before, first_step);
        }
    }
    void end_segment() override {
        if (collective_->is_stated()) {
            command(cell::kEndSegment, 0, 0);
            collective_->end_segment();
        }
    }
    void set_tensor(std::size_t index, const Tensor& tensor) override {
        command(cell::kSetTensor, index, 0);
        executor_.set_state(index, scatter(progress_, index, &tensor));
    }
    Tensor tensor(std::size_t index) override {
        command(cell::kGetTensor, index, 0);
        return gather(progress_, index, executor_.state(index));
    }
    Result<void, canonical::StepError> run_step(const canonical::StepContext& context) override {
        command(cell::kStep, context.seed, context.step);
        return counted_step(executor_, progress_, context, served_);
    }
    float loss() const override {
        ASSERT(executor_.loss().has_value());
        return *executor_.loss();
    }
    bool has_state() const override { return true; }
    const Served& served() const override { return served_; }
    std::vector<double> take_busy() override {
        command(cell::kGetBusy, 0, 0);
        std::vector<std::uint64_t> expected(collective_->size(), sizeof(std::uint64_t));
        expected[0] = 0;
        const auto all = exchange(*collective_, std::vector<Bytes>(collective_->size()), expected);
        std::vector<double> out{std::chrono::duration<double>(executor_.take_busy()).count()};
        for (std::uint32_t rank = 1; rank < collective_->size(); ++rank) {
            out.push_back(static_cast<double>(codec::decode<std::uint64_t>(all[rank]).value()) / 1e9);
        }
        return out;
    }

  private:
    void command(std::uint8_t kind, std::uint64_t first, std::uint64_t second) {
        cell::send_order(*collective_, {kind, first, second});
    }

    const program::Program program_;
    std::unique_ptr<Collective> collective_;
    CellExecutor executor_;
    Progress progress_;
    Served served_;
};

}  // namespace

std::unique_ptr<CellSession> open_session(
    const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, const plan::Layout& layout,
    std::unique_ptr<Collective> collective, const EngineOptions& options
) {
    ASSERT(collective->rank() == 0);
    const Bytes message = cell::encode_opening({.layout = layout, .program = codec::encode(program)});
    broadcast(*collective, codec::encode(static_cast<std::uint64_t>(message.size())));
    broadcast(*collective, message);
    if (layout.turns > 1) {
        refuse_stated(*collective);
        return cell::open_turns(program, std::move(rows), layout, std::move(collective), options);
    }
    return std::make_unique<StepSession>(program, std::move(rows), layout, std::move(collective), options);
}

namespace {

void say_busy(Collective& collective, std::chrono::nanoseconds busy) {
    std::vector<Bytes> to(collective.size());
    to[0] = codec::encode(static_cast<std::uint64_t>(busy.count()));
    exchange(collective, std::move(to), std::vector<std::uint64_t>(collective.size()));
}

std::runtime_error no_program() { return std::runtime_error("rank 0 of the cell sent what is no program"); }

Hash256 receive_root(Collective& collective) {
    const auto root = codec::decode<Hash256>(receive(collective, Hash256::kSizeBytes));
    if (!root) {
        throw std::runtime_error("rank 0 of the cell sent what is no state root");
    }
    return *root;
}

cell::Opening receive_opening(Collective& collective) {
    const auto length = codec::decode<std::uint64_t>(receive(collective, kLengthBytes));
    if (!length || *length == 0 || *length > cell::kOpeningBytesMax) {
        throw no_program();
    }
    auto opening = cell::decode_opening(receive(collective, *length), collective.size());
    if (!opening && opening.error() == cell::OpeningError::kMalformed) {
        throw no_program();
    }
    if (!opening) {
        throw std::runtime_error("rank 0 of the cell sent a layout that is none, or is for another number of ranks");
    }
    return *std::move(opening);
}

}  // namespace

Served serve_cell(
    std::unique_ptr<Collective> collective, const EngineOptions& options, const std::optional<Terms>& terms
) {
    ASSERT(terms || !collective->is_stated());
    const cell::Opening start = receive_opening(*collective);
    const auto program = program::decode_program(start.program);
    if (!program) {
        throw no_program();
    }
    if (terms && !terms->program(*program, start.layout)) {
        throw std::runtime_error(
            "rank 0 of the cell sent a program that is not the task's, or a layout in which this rank could not answer "
            "for its part"
        );
    }
    if (start.layout.turns > 1) {
        refuse_stated(*collective);
        return cell::serve_turns(*program, start.layout, *collective, options);
    }
    Served out;
    out.layout = start.layout;
    out.nodes = program->step.size();
    CellExecutor executor(
        *program, plan::make_plan(*program, out.layout), std::make_shared<RowsOfRankZero>(), *collective, options
    );
    Progress progress(*program, executor.plan(), *collective);
    out.state_bytes = plan::state_bytes(executor.plan(), *program, collective->rank());
    while (true) {
        const cell::Order order = cell::receive_order(*collective, program->state.size());
        const auto index = static_cast<std::size_t>(order.first);
        switch (order.kind) {
            case cell::kStep: {
                const canonical::StepContext context{
                    .seed = order.first, .step = order.second, .dataset = program->dataset};
                if (terms) {
                    progress.check_step(context, *terms);
                }
                static_cast<void>(counted_step(executor, progress, context, out).has_value());
                break;
            }
            case cell::kSetTensor:
                executor.set_state(index, scatter(progress, index, nullptr));
                break;
            case cell::kGetTensor:
                gather(progress, index, executor.state(index));
                break;
            case cell::kBeginSegment:
                progress.begin_segment(receive_root(*collective), order.first);
                break;
            case cell::kEndSegment:
                collective->end_segment();
                break;
            case cell::kGetBusy:
                say_busy(*collective, executor.take_busy());
                break;
            default:
                return out;
        }
    }
}

}  // namespace assay::engine

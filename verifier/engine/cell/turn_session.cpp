// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/turn_session.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <core/base/assert.hpp>
#include <verifier/engine/cell/orders.hpp>
#include <verifier/engine/cell/turn_rank.hpp>

namespace assay::engine::cell {

using canonical::StepContext;
using canonical::StepError;
using canonical::Tensor;

namespace {

constexpr std::size_t kOutcomeBytes = 5;
// Steps of a turn by which other ranks may be behind rank 0, which sends them orders and batches ahead. They wait for
// nothing then if these are on their way for no longer than so many steps take.
constexpr std::size_t kAhead = 64;

std::uint64_t tensor_bytes(const canonical::TensorType& type) {
    return type.shape.element_count() * canonical::size_of(type.dtype);
}

/// The row of the data set that row `r` of a step's batch is (NUM-31).
std::uint64_t row_of_batch(const program::Program& program, const StepContext& context, std::uint32_t r) {
    return canonical::batch_row(context.seed, context.step * program.batch_size + r, context.dataset.rows);
}

/// The rows of one step's batch, which rank 0 has read for another rank.
class SentRows final : public canonical::RowSource {
  public:
    explicit SentRows(const program::Program& program) : program_(program) {}
    canonical::DatasetShape shape() const override { return program_.dataset; }
    Bytes row(std::uint64_t index) const override { return rows_.at(index); }

    std::uint64_t batch_bytes() const {
        return std::uint64_t{program_.batch_size} * program_.dataset.width * sizeof(std::int32_t);
    }
    void set(const StepContext& context, const Bytes& batch) {
        rows_.clear();
        const std::size_t size = std::size_t{program_.dataset.width} * sizeof(std::int32_t);
        for (std::uint32_t r = 0; r < program_.batch_size; ++r) {
            const ByteView row = ByteView(batch).subspan(r * size, size);
            rows_.insert_or_assign(row_of_batch(program_, context, r), Bytes(row.begin(), row.end()));
        }
    }

  private:
    const program::Program& program_;
    std::map<std::uint64_t, Bytes> rows_;
};

/// The context of the same step of another replica's turn.
StepContext in_turn_of(const plan::Turns& turns, const StepContext& context, std::uint32_t replica) {
    StepContext out = context;
    out.step = context.step - std::uint64_t{turns.replica_of(context.step)} * turns.steps +
               std::uint64_t{replica} * turns.steps;
    return out;
}

Bytes encode_outcome(const TurnStep& step) {
    Bytes out(kOutcomeBytes);
    out[0] = step.diverged ? 1 : 0;
    std::memcpy(out.data() + 1, &step.loss, sizeof step.loss);
    return out;
}

TurnStep decode_outcome(const Bytes& bytes) {
    TurnStep out{.diverged = bytes[0] != 0, .loss = 0.0F};
    std::memcpy(&out.loss, bytes.data() + 1, sizeof out.loss);
    return out;
}

class TurnSession final : public CellSession {
  public:
    TurnSession(
        const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, const plan::Layout& layout,
        std::unique_ptr<Collective> collective, const EngineOptions& options
    )
        : program_(program),
          rows_(std::move(rows)),
          collective_(std::move(collective)),
          rank_(program_, rows_, *collective_, options) {
        served_.layout = layout;
        served_.nodes = program_.step.size();
        served_.state_bytes = rank_.state_bytes();
    }
    ~TurnSession() override {
        try {
            if (!is_broken_) {
                take_outcomes(0);
            }
            send_order(*collective_, {.kind = kEnd, .first = 0, .second = 0});
        } catch (const std::runtime_error&) {
            // A rank is gone; the others see it too.
        }
    }
    TurnSession(const TurnSession&) = delete;
    TurnSession& operator=(const TurnSession&) = delete;

    void set_tensor(std::size_t index, const Tensor& tensor) override {
        take_outcomes(0);
        send_order(*collective_, {.kind = kSetTensor, .first = index, .second = 0});
        std::vector<Bytes> to(collective_->size());
        const auto owner = rank_.owner_of(index);
        for (std::uint32_t rank = 1; rank < collective_->size(); ++rank) {
            if (!owner || rank_.rank_of(*owner) == rank) {
                to[rank] = tensor.data;
            }
        }
        exchange(*collective_, std::move(to), std::vector<std::uint64_t>(collective_->size()));
        if (rank_.has(index)) {
            rank_.set_tensor(index, tensor);
        }
        steps_.clear();
        turns_begun_ = 0;
        is_boundary_ = true;
    }

    Tensor tensor(std::size_t index) override {
        if (!has_state()) {
            throw std::runtime_error("the state in the middle of a turn is not kept");
        }
        take_outcomes(0);
        const auto [rank, tensor] = place_of(index);
        send_order(*collective_, {.kind = kGetTensor, .first = tensor, .second = order_of(rank)});
        if (rank == 0) {
            return rank_.tensor(tensor, turns_begun_);
        }
        const canonical::TensorType& type = program_.state[tensor].type;
        std::vector<std::uint64_t> expected(collective_->size());
        expected[rank] = tensor_bytes(type);
        return {
            type.dtype, type.shape,
            std::move(exchange(*collective_, std::vector<Bytes>(collective_->size()), expected)[rank])};
    }

    Result<void, StepError> run_step(const StepContext& context) override {
        const plan::Turns& turns = rank_.turns();
        if (!steps_.contains(context.step)) {
            run_together(context);
        }
        if (!steps_.contains(context.step) || turns.ends_turn(context.step)) {
            take_outcomes(0);
        }
        const TurnStep step = steps_.at(context.step);
        replica_ = turns.replica_of(context.step);
        turns_begun_ = replica_ + 1;
        is_boundary_ = false;
        is_live_ = step.diverged || !steps_.contains(context.step + 1) || turns.ends_turn(context.step);
        if (step.diverged) {
            return Unexpected{StepError::kDiverged};
        }
        if (turns.ends_turn(context.step)) {
            if (turns_begun_ == turns.replicas) {
                TRY(end_round(context));
                turns_begun_ = 0;
                steps_.clear();
            }
            is_boundary_ = true;
        }
        loss_ = step.loss;
        return {};
    }

    float loss() const override { return loss_; }
    bool has_state() const override { return is_boundary_ || is_live_; }
    const Served& served() const override { return served_; }

  private:
    // Where a tensor of the state is: between two turns a worked tensor has the value with which the next one begins.
    std::pair<std::uint32_t, std::size_t> place_of(std::size_t index) const {
        for (const auto& [worked, source] : rank_.turns().worked[turns_begun_ % rank_.turns().replicas]) {
            if (worked == index) {
                return is_boundary_ ? place_of_kept(source) : std::pair(rank_.rank_of(replica_), index);
            }
        }
        return place_of_kept(index);
    }
    std::pair<std::uint32_t, std::size_t> place_of_kept(std::size_t index) const {
        const auto owner = rank_.owner_of(index);
        return {owner ? rank_.rank_of(*owner) : 0, index};
    }
    // Which rank a tensor is asked of, and when.
    std::uint64_t order_of(std::uint32_t rank) const { return std::uint64_t{rank} << 32U | turns_begun_; }

    // One step of this turn and of those that other ranks take at the same time.
    void run_together(const StepContext& context) {
        const plan::Turns& turns = rank_.turns();
        const std::uint32_t first = turns.replica_of(context.step);
        post_order(*collective_, {.kind = kStep, .first = context.seed, .second = context.step});
        std::vector<Bytes> batches(collective_->size());
        std::vector<std::pair<std::uint32_t, std::uint64_t>> others;
        const std::uint32_t end = std::min(first + collective_->size(), turns.replicas);
        for (std::uint32_t replica = first; replica < end; ++replica) {
            const std::uint32_t rank = rank_.rank_of(replica);
            if (rank != 0) {
                const StepContext theirs = in_turn_of(turns, context, replica);
                for (std::uint32_t r = 0; r < program_.batch_size; ++r) {
                    const Bytes row = rows_->row(row_of_batch(program_, theirs, r));
                    batches[rank].insert(batches[rank].end(), row.begin(), row.end());
                }
                others.emplace_back(rank, theirs.step);
            }
        }
        post(*collective_, std::move(batches));
        awaited_.push_back(std::move(others));
        if (const auto own = rank_.own_turn_from(first)) {
            const StepContext mine = in_turn_of(turns, context, *own);
            steps_[mine.step] = run_own(*own, mine);
        }
        take_outcomes(kAhead);
    }

    // What became of other ranks' steps, the last `later` of them excepted.
    void take_outcomes(std::size_t later) {
        is_broken_ = true;  // unless all goes well
        for (; awaited_.size() > later; awaited_.pop_front()) {
            std::vector<std::uint64_t> expected(collective_->size());
            for (const auto& [rank, step] : awaited_.front()) {
                expected[rank] = kOutcomeBytes;
            }
            const auto outcomes = collective_->exchange(std::vector<Bytes>(collective_->size()), expected, kSessionTag);
            for (const auto& [rank, step] : awaited_.front()) {
                steps_[step] = decode_outcome(outcomes[rank]);
            }
        }
        if (later == 0) {
            collective_->settle();
        }
        is_broken_ = false;
    }

    // A turn that has diverged stays where it is.
    TurnStep run_own(std::uint32_t replica, const StepContext& context) {
        const bool is_over = !rank_.turns().begins_turn(context.step) && steps_.contains(context.step - 1) &&
                             steps_.at(context.step - 1).diverged;
        const TurnStep step = is_over ? TurnStep{.diverged = true, .loss = 0.0F} : rank_.run_step(replica, context);
        served_.steps += step.diverged ? 0U : 1U;
        return step;
    }

    Result<void, StepError> end_round(const StepContext& context) {
        send_order(*collective_, {.kind = kEndRound, .first = context.seed, .second = context.step});
        const std::uint64_t before = collective_->sent_bytes();
        const auto result = rank_.end_round(context);
        served_.sent_bytes += collective_->sent_bytes() - before;
        return result;
    }

    const program::Program program_;
    std::shared_ptr<const canonical::RowSource> rows_;
    std::unique_ptr<Collective> collective_;
    TurnRank rank_;
    std::map<std::uint64_t, TurnStep> steps_;  // of the round, those of which rank 0 knows what became
    std::deque<std::vector<std::pair<std::uint32_t, std::uint64_t>>> awaited_;  // ranks, and the steps that they run
    bool is_broken_ = false;         // other ranks' messages are not what is expected
    std::uint32_t turns_begun_ = 0;  // of the round, by what has been asked for
    std::uint32_t replica_ = 0;      // whose step was the last
    bool is_boundary_ = true;        // between two turns
    bool is_live_ = false;           // the replica's rank has just run the last step
    float loss_ = 0.0F;
    Served served_;
};

class TurnMember {
  public:
    TurnMember(
        const program::Program& program, const plan::Layout& layout, Collective& collective,
        const EngineOptions& options
    )
        : program_(program),
          collective_(collective),
          rows_(std::make_shared<SentRows>(program)),
          rank_(program, rows_, collective, options) {
        served_.layout = layout;
        served_.nodes = program_.step.size();
        served_.state_bytes = rank_.state_bytes();
    }

    Served serve() {
        while (true) {
            const Order order = receive_order(collective_, program_.state.size());
            const StepContext context{.seed = order.first, .step = order.second, .dataset = program_.dataset};
            switch (order.kind) {
                case kStep:
                    run_step(context);
                    break;
                case kEndRound:
                    end_round(context);
                    break;
                case kSetTensor:
                    set_tensor(order.first);
                    break;
                case kGetTensor:
                    send_tensor(order.first, order.second);
                    break;
                default:
                    return served_;
            }
        }
    }

  private:
    void set_tensor(std::size_t index) {
        const canonical::TensorType& type = program_.state[index].type;
        Bytes data = receive(collective_, rank_.has(index) ? tensor_bytes(type) : 0);
        if (rank_.has(index)) {
            rank_.set_tensor(index, {type.dtype, type.shape, std::move(data)});
        }
        has_diverged_ = false;
    }

    void send_tensor(std::size_t index, std::uint64_t order) {
        if (order >> 32U != collective_.rank() || !rank_.has(index)) {
            return;
        }
        std::vector<Bytes> to(collective_.size());
        to[0] = rank_.tensor(index, static_cast<std::uint32_t>(order)).data;
        exchange(collective_, std::move(to), std::vector<std::uint64_t>(collective_.size()));
    }

    void run_step(const StepContext& context) {
        const plan::Turns& turns = rank_.turns();
        const auto own = rank_.own_turn_from(turns.replica_of(context.step));
        const Bytes batch = receive(collective_, own ? rows_->batch_bytes() : 0);
        std::vector<Bytes> to(collective_.size());
        if (own) {
            const StepContext mine = in_turn_of(turns, context, *own);
            rows_->set(mine, batch);
            has_diverged_ = has_diverged_ && !turns.begins_turn(mine.step);
            const TurnStep step = has_diverged_ ? TurnStep{.diverged = true, .loss = 0.0F} : rank_.run_step(*own, mine);
            has_diverged_ = step.diverged;
            served_.steps += step.diverged ? 0U : 1U;
            to[0] = encode_outcome(step);
        }
        post(collective_, std::move(to));
    }

    void end_round(const StepContext& context) {
        const std::uint64_t before = collective_.sent_bytes();
        static_cast<void>(rank_.end_round(context).has_value());
        served_.sent_bytes += collective_.sent_bytes() - before;
    }

    const program::Program& program_;
    Collective& collective_;
    std::shared_ptr<SentRows> rows_;
    TurnRank rank_;
    bool has_diverged_ = false;
    Served served_;
};

}  // namespace

std::unique_ptr<CellSession> open_turns(
    const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, const plan::Layout& layout,
    std::unique_ptr<Collective> collective, const EngineOptions& options
) {
    return std::make_unique<TurnSession>(program, std::move(rows), layout, std::move(collective), options);
}

Served serve_turns(
    const program::Program& program, const plan::Layout& layout, Collective& collective, const EngineOptions& options
) {
    return TurnMember(program, layout, collective, options).serve();
}

}  // namespace assay::engine::cell

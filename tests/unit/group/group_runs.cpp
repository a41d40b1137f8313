// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/group/group_runs.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include <core/codec/borsh.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/engine/cell/session.hpp>

namespace assay::group::testing {

using engine::Collective;
using engine::Contents;

namespace {

using dispute::testing::MemoryRows;
using dispute::testing::World;

constexpr std::uint32_t kBatch = 64;
constexpr std::uint64_t kRows = 300;
constexpr std::uint64_t kLedgerBytes = std::uint64_t{1} << 28U;

Model model_of(std::string name, program::Program program, std::shared_ptr<const canonical::RowSource> rows) {
    const canonical::StepContext context{.seed = kSeed, .step = 0, .dataset = rows->shape()};
    auto state = canonical::execute_graph(program.init, context, *rows, {});
    World world{
        .init = program.init,
        .step = program.step,
        .rows = std::move(rows),
        .state = *std::move(state),
        .batch_size = program.batch_size};
    return {std::move(name), std::move(program), std::move(world)};
}

// Lies once about what it signs, and says at the end what signing cost.
class Double final : public Collective {
  public:
    Double(std::unique_ptr<SignedCollective> inner, std::optional<Lie> lie, StatementCost& cost, std::uint32_t& lies)
        : inner_(std::move(inner)), lie_(lie), cost_(cost), lies_(lies) {}
    Double(const Double&) = delete;
    Double& operator=(const Double&) = delete;
    ~Double() override { cost_ = inner_->cost(); }
    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        count(to);
        return inner_->exchange(std::move(to), expected, tag);
    }
    void settle() override { inner_->settle(); }
    bool is_stated() const override { return true; }
    std::vector<Bytes> exchange_stated(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag, const Contents& contents
    ) override {
        count(to);
        for (std::uint32_t other = 0; other < size() && lie_ && lie_->rank == rank(); ++other) {
            if (contents.to[other] != nullptr && lie_->step == step_) {
                tell(*contents.to[other], tag, to[other]);
            }
        }
        return inner_->exchange_stated(std::move(to), expected, tag, contents);
    }
    void begin_segment(const Hash256& before, std::uint64_t first_step) override {
        inner_->begin_segment(before, first_step);
        step_ = first_step;
    }
    void compare_state(const engine::GivenTensor& given, const canonical::Tensor& tensor) override {
        inner_->compare_state(given, tensor);
    }
    void end_segment() override { inner_->end_segment(); }
    void begin_step(std::uint64_t step) override {
        inner_->begin_step(step);
        step_ = step;
    }

  private:
    static Lie::Kind kind_of(const plan::MessagePiece& piece, std::uint32_t tag) {
        if (piece.source == canonical::Source::kState) {
            return Lie::Kind::kState;
        }
        constexpr std::uint32_t kSessionTag = 0;
        const Lie::Kind whole = tag == kSessionTag ? Lie::Kind::kTaken : Lie::Kind::kValues;
        return piece.part ? Lie::Kind::kPart : whole;
    }

    // Of what a message says of one node, or of one tensor, the first piece may be altered.
    void tell(const plan::MessagePieces& message, std::uint32_t tag, Bytes& bytes) {
        const plan::MessagePiece* last = nullptr;
        for (const plan::MessagePiece& piece : message.pieces) {
            const bool is_new = last == nullptr || last->source != piece.source || last->index != piece.index;
            last = &piece;
            if (is_new && kind_of(piece, tag) == lie_->kind && lie_->skipped-- == 0) {
                bytes[piece.offset + lie_->byte] ^= static_cast<std::uint8_t>(lie_->byte == 0 ? 0x01 : 0x10);
                lie_.reset();
                ++lies_;
                return;
            }
        }
    }

    std::unique_ptr<SignedCollective> inner_;
    std::optional<Lie> lie_;
    StatementCost& cost_;
    std::uint32_t& lies_;
    std::uint64_t step_ = 0;
};

// Tells the others that what a step leads to is not finite, and goes on.
class Denying final : public Collective {
  public:
    explicit Denying(std::unique_ptr<Collective> inner) : inner_(std::move(inner)) {}
    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        for (Bytes& message : to) {
            message = message == Bytes{1} ? Bytes{0} : message;
        }
        return inner_->exchange(std::move(to), expected, tag);
    }
    void settle() override { inner_->settle(); }

  private:
    std::unique_ptr<Collective> inner_;
};

Hash256 task_hash() {
    Hash256 out;
    out.data.fill(5);
    return out;
}

std::vector<canonical::Tensor> run_steps(
    const Model& model, engine::CellSession& session, std::uint64_t first_step, std::uint64_t steps, GroupRun& out
) {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t step = first_step; step < first_step + steps; ++step) {
        if (!session.run_step(model.context(step))) {
            throw std::runtime_error("the model diverges");
        }
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::vector<canonical::Tensor> state;
    for (std::size_t i = 0; i < model.world.state.size(); ++i) {
        state.push_back(session.tensor(i));
    }
    out.root = dispute::testing::root_of(state);
    return state;
}

// A tensor with values that are not the state's.
canonical::Tensor other_tensor(canonical::Tensor tensor, std::uint8_t by) {
    for (std::uint8_t& byte : tensor.data) {
        byte ^= by;
    }
    return tensor;
}

// By an honest rank 0 nothing of this happens.
void order_more(const Model& model, engine::CellSession& session, std::uint64_t next_step, Doubles::More more) {
    if (more == Doubles::More::kLastStep || more == Doubles::More::kNextStep) {
        const std::uint64_t step = more == Doubles::More::kNextStep ? next_step : next_step - 1;
        static_cast<void>(session.run_step(model.context(step)).has_value());
    }
    for (std::size_t i = 0; i < model.world.state.size() && more == Doubles::More::kSecondStates; ++i) {
        for (const std::uint8_t by : {std::uint8_t{1}, std::uint8_t{2}}) {
            session.set_tensor(i, other_tensor(model.world.state[i], by));
            static_cast<void>(session.tensor(i));
        }
    }
}

void lead(
    const Model& model, const plan::Layout& layout, std::uint64_t steps, const Doubles& doubles,
    std::unique_ptr<Collective> collective, GroupRun& out
) {
    const auto session =
        engine::open_session(model.program, model.world.rows, layout, std::move(collective), engine::EngineOptions{});
    session->begin_segment(dispute::testing::root_of(model.world.state), 0);
    for (std::size_t i = 0; i < model.world.state.size(); ++i) {
        session->set_tensor(i, model.world.state[i]);
    }
    if (doubles.begins_twice) {
        session->begin_segment(dispute::testing::root_of(model.world.state), 0);
    }
    out.middle = run_steps(model, *session, doubles.first_run, steps, out);
    if (doubles.more_steps > 0) {
        session->begin_segment(*out.root, steps);
        for (std::size_t i = 0; i < out.middle.size() && !doubles.keeps_state; ++i) {
            session->set_tensor(i, out.middle[i]);
        }
        run_steps(model, *session, steps, doubles.more_steps, out);
    }
    order_more(model, *session, steps, doubles.more);
    if (doubles.ends) {
        session->end_segment();
    }
    out.served[0] = session->served();
}

}  // namespace

Model small_mlp(std::uint32_t classes) {
    program::MlpConfig config;
    config.features = 64;
    config.hidden = {64, 64};
    config.classes = classes;
    config.scale = 1.0F / 64.0F;
    config.batch_size = kBatch;
    config.dataset_rows = kRows;
    program::OptimizerConfig optimizer;
    optimizer.kind = program::OptimizerKind::kAdamW;
    optimizer.clip_norm = 0.5F;
    return model_of(
        "mlp", program::build_mlp(config, optimizer),
        std::make_shared<MemoryRows>(canonical::DatasetShape{kRows, 65}, 64)
    );
}

Model small_cnn() {
    program::CnnConfig config;
    config.height = 8;
    config.width = 8;
    config.channels = 2;
    config.filters = {64, 64};
    config.classes = 64;
    config.batch_norm = true;
    config.scale = 1.0F / 64.0F;
    config.batch_size = kBatch;
    config.dataset_rows = kRows;
    program::OptimizerConfig optimizer;
    optimizer.kind = program::OptimizerKind::kSgdMomentum;
    optimizer.learning_rate = 0.05F;
    return model_of(
        "cnn", program::build_cnn(config, optimizer),
        std::make_shared<MemoryRows>(canonical::DatasetShape{kRows, 129}, 64)
    );
}

Model small_gpt() {
    program::GptConfig config;
    config.vocabulary = 64;
    config.context = 32;
    config.layers = 2;
    config.heads = 2;
    config.width = 64;
    config.rotary = true;  // the gradient of learned positions is a sum over samples, 32 of which a rank would need
    config.batch_size = 4;
    config.dataset_rows = kRows;
    program::OptimizerConfig optimizer;
    optimizer.kind = program::OptimizerKind::kAdamW;
    optimizer.clip_norm = 0.5F;
    return model_of(
        "gpt", program::build_gpt(config, optimizer),
        std::make_shared<MemoryRows>(canonical::DatasetShape{kRows, 33}, 64)
    );
}

std::vector<Model> models() {
    std::vector<Model> out;
    out.push_back(small_mlp());
    out.push_back(small_cnn());
    out.push_back(small_gpt());
    return out;
}

crypto::SecretKey key_of(std::uint32_t rank) {
    Bytes bytes(32, 3);
    bytes[31] = static_cast<std::uint8_t>(rank + 1);
    return crypto::SecretKey::from_bytes(bytes).value();
}

Signers signers_of(std::uint32_t ranks) {
    Signers out{.chain_id = "assay-test", .task = task_hash(), .accounts = {}};
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out.accounts.push_back(key_of(rank).account());
    }
    return out;
}

GroupRun run_group(const Model& model, const plan::Layout& layout, std::uint64_t steps, const Doubles& doubles) {
    const std::uint32_t ranks = layout.ranks();
    const Hash256 before = dispute::testing::root_of(model.world.state);
    GroupRun out;
    out.costs.resize(ranks);
    out.failures.resize(ranks);
    out.served.resize(ranks);
    out.rank_errors.resize(ranks);
    std::vector<std::shared_ptr<Findings>> findings;
    std::vector<std::uint32_t> lies(ranks);
    auto links = engine::connect_threads(ranks);
    std::vector<std::unique_ptr<Collective>> collectives;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const crypto::SecretKey key = doubles.key ? doubles.key(rank) : key_of(rank);
        Signers signers = doubles.signers.value_or(signers_of(ranks));
        signers.accounts[rank] = key.account();
        out.ledgers.push_back(std::make_shared<Ledger>(out.directory->path() / std::to_string(rank), kLedgerBytes));
        const SegmentCheck check = [before, steps](const Hash256& root, std::uint64_t first_step) {
            return first_step == 0 ? root == before : first_step == steps;
        };
        auto under = doubles.under ? doubles.under(std::move(links[rank])) : std::move(links[rank]);
        if (rank == 0 && doubles.denies_steps) {
            under = std::make_unique<Denying>(std::move(under));
        }
        auto stated = std::make_unique<SignedCollective>(
            std::move(under), signers, key, out.ledgers[rank], doubles.check ? doubles.check : check
        );
        findings.push_back(stated->findings());
        collectives.push_back(std::make_unique<Double>(std::move(stated), doubles.lie, out.costs[rank], lies[rank]));
        if (const auto lie = doubles.misstated.find(rank); lie != doubles.misstated.end()) {
            collectives[rank] = adversary::make_misstating(std::move(collectives[rank]), lie->second);
        }
    }
    const auto guarded = [&](std::uint32_t rank, const auto& work) {
        try {
            work();
        } catch (const engine::RankError& error) {
            out.rank_errors[rank] = error;
            out.failures[rank] = error.what();
        } catch (const std::exception& error) {
            out.failures[rank] = error.what();
        }
    };
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            guarded(rank, [&] {
                const auto is_same = [&](const program::Program& program, const plan::Layout& /*layout*/) {
                    return (codec::encode(program) == codec::encode(model.program)) != doubles.is_other_program;
                };
                out.served[rank] = engine::serve_cell(
                    std::move(collectives[rank]), engine::EngineOptions{},
                    engine::Terms{
                        .program = is_same,
                        .seed = doubles.seed,
                        .steps = doubles.segment_steps.value_or(std::max(steps, doubles.more_steps))}
                );
            });
        });
    }
    guarded(0, [&] { lead(model, layout, steps, doubles, std::move(collectives[0]), out); });
    threads.clear();
    for (const std::uint32_t count : lies) {
        out.lies += count;
    }
    for (const auto& of_rank : findings) {
        out.findings.push_back(of_rank->unsettled());
    }
    return out;
}

}  // namespace assay::group::testing

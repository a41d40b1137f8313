// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <core/dispute/commitment.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/group/first_state.hpp>

using namespace assay;
using canonical::Tensor;
using engine::Collective;
using engine::GivenTensor;
using engine::RankError;
using group::FirstState;
using plan::Block;
using plan::IndexSet;

namespace {

Tensor make_tensor(std::uint32_t rows, std::uint32_t cols, std::uint8_t seed) {
    Tensor out = canonical::make_tensor(canonical::DType::kF32, {rows, cols});
    for (std::size_t i = 0; i < out.data.size(); ++i) {
        out.data[i] = static_cast<std::uint8_t>(seed + 7 * i);
    }
    return out;
}

/// A state of three tensors, of which ranks 1 and 2 have blocks that cut tiles: several ranges, edges, one element,
/// nothing.
struct Given {
    std::vector<Tensor> state{make_tensor(70, 50, 1), make_tensor(1, 1, 2), make_tensor(64, 32, 3)};
    std::vector<plan::Placement> placements = make_placements();

    static std::vector<plan::Placement> make_placements() {
        IndexSet ends(0, 3);
        ends.add(60, 70);
        return {
            {{}, {IndexSet(10, 45), IndexSet(0, 50)}, {ends, IndexSet(5, 33)}},
            {{}, {IndexSet(0, 1), IndexSet(0, 1)}, {}},
            {{}, {IndexSet(0, 32), IndexSet(0, 32)}, {IndexSet(32, 64), IndexSet(0, 32)}}};
    }
    Hash256 root() const {
        std::vector<Hash256> commitments;
        for (const Tensor& tensor : state) {
            commitments.push_back(dispute::commit_tensor(tensor));
        }
        return dispute::state_root(commitments);
    }
    Tensor block(std::size_t tensor, std::uint32_t rank) const {
        const Block all = plan::whole(state[tensor].shape);
        return engine::cell::take_block(state[tensor], all, placements[tensor][rank]);
    }
};

/// Alters what rank 0 sends: the byte at `offset` of a message to rank 1, of the tensor with this number.
class Altering final : public Collective {
  public:
    Altering(std::unique_ptr<Collective> inner, std::size_t tensor, std::size_t offset)
        : inner_(std::move(inner)), tensor_(tensor), offset_(offset) {}
    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        if (rank() == 0 && tensor_-- == 0) {
            REQUIRE(offset_ < to[1].size());
            to[1][offset_] ^= 1U;
        }
        return inner_->exchange(std::move(to), expected, tag);
    }
    void settle() override { inner_->settle(); }

  private:
    std::unique_ptr<Collective> inner_;
    std::size_t tensor_;
    std::size_t offset_;
};

struct Outcome {
    bool is_compared = false;
    std::string failure;
};

using Wrap = std::function<std::unique_ptr<Collective>(std::unique_ptr<Collective>)>;

/// What comes of it on ranks 1 and 2, where `alter` may change the blocks that they have.
std::vector<Outcome> compare(
    const Given& given, const Hash256& before, const Wrap& wrap = {},
    const std::function<void(std::uint32_t rank, std::size_t tensor, Tensor& block)>& alter = {}
) {
    auto links = engine::connect_threads(3);
    if (wrap) {
        links[0] = wrap(std::move(links[0]));
    }
    std::vector<Outcome> out(3);
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        threads.emplace_back([&, rank, own = std::move(links[rank])] {
            FirstState first(before);
            for (std::size_t i = 0; i < given.state.size(); ++i) {
                Tensor tensor = rank == 0 ? given.state[i] : given.block(i, rank);
                if (alter) {
                    alter(rank, i, tensor);
                }
                const GivenTensor of{
                    .index = i,
                    .tensors = given.state.size(),
                    .type = {given.state[i].dtype, given.state[i].shape},
                    .placement = given.placements[i]};
                try {
                    first.compare(*own, of, tensor);
                } catch (const RankError& error) {
                    CHECK(error.rank() == 0);
                    CHECK(error.fault() == engine::RankFault::kOtherState);
                    out[rank].failure = error.what();
                } catch (const std::runtime_error&) {
                    return;  // another rank has left
                }
            }
            out[rank].is_compared = first.is_compared();
        });
    }
    threads.clear();
    return out;
}

const std::string kHashes = "rank 0 gives hashes of another state than that of the checkpoint";
std::string another(std::size_t tensor) {
    return "rank 0 gives another value of tensor " + std::to_string(tensor) + " than the checkpoint has";
}

}  // namespace

TEST_CASE("STM-3: blocks of the first state lead to its root, whatever tiles they cut") {
    const Given given;
    const auto outcomes = compare(given, given.root());
    for (const std::uint32_t rank : {1U, 2U}) {
        CHECK(outcomes[rank].is_compared);
        CHECK(outcomes[rank].failure.empty());
    }
}

TEST_CASE("STM-3: a block of another state is refused, in whatever place it differs") {
    const Given given;
    for (std::size_t tensor = 0; tensor < 3; ++tensor) {
        const std::size_t size = given.block(tensor, 1).data.size();
        for (const std::size_t offset : {std::size_t{0}, size / 2, size - 1}) {
            const auto outcomes =
                compare(given, given.root(), {}, [&](std::uint32_t rank, std::size_t index, Tensor& block) {
                    if (rank == 1 && index == tensor) {
                        block.data[offset] ^= 0x80U;
                    }
                });
            CHECK_FALSE(outcomes[1].is_compared);
            CHECK(outcomes[1].failure == another(tensor));
            CHECK(outcomes[2].is_compared);
        }
    }
}

TEST_CASE("STM-3: hashes and tiles beside the blocks cannot make another state pass") {
    const Given given;
    const auto altered = [&](std::size_t tensor, std::size_t offset) {
        return compare(given, given.root(), [&](std::unique_ptr<Collective> links) {
            return std::make_unique<Altering>(std::move(links), tensor, offset);
        })[1];
    };
    constexpr std::size_t kHashBytes = 6 * Hash256::kSizeBytes;  // of the first tensor's tiles
    CHECK(altered(0, 0).failure == another(0));                  // of a tile that it has
    CHECK(altered(0, kHashBytes - 1).failure == kHashes);        // and of one that it has not
    CHECK(altered(0, kHashBytes).failure == another(0));         // a value beside its block
    CHECK(altered(0, kHashBytes + 4 * 50 * 10).failure == another(0));
    CHECK(altered(2, Hash256::kSizeBytes).failure == kHashes);
    Hash256 other = given.root();
    other.data[0] ^= 1U;
    for (const std::uint32_t rank : {1U, 2U}) {
        const Outcome outcome = compare(given, other)[rank];
        CHECK(outcome.failure == kHashes);
        CHECK_FALSE(outcome.is_compared);
    }
}

// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/stated_messages.hpp>

#include <algorithm>
#include <utility>

#include <core/merkle/tree.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::fuzz {
namespace {

using plan::Block;
using plan::IndexSet;
using plan::Passage;

std::vector<std::shared_ptr<const plan::MessagePieces>> make_messages() {
    program::MlpConfig model;
    model.features = 40;
    model.hidden = {64};
    model.classes = 5;
    model.batch_size = 64;
    model.dataset_rows = 64;
    const program::Program program = program::build_mlp(model, program::OptimizerConfig{});
    const auto product = std::find_if(program.step.begin(), program.step.end(), [](const canonical::Node& node) {
        return node.op == canonical::Op::kContract;
    });
    const auto index = static_cast<std::uint32_t>(product - program.step.begin());
    const Block part{IndexSet(0, 3), IndexSet(1, 40)};
    const std::vector<std::vector<Passage>> all{
        {{canonical::Source::kState, 0, plan::whole(program.state[0].type.shape), 4, {}, 1}},
        {{canonical::Source::kNode, index, part, 4, {}, 0},
         {canonical::Source::kNode, index, {IndexSet(5, 6), IndexSet(0, 2)}, 4, {}, 0}},
        {{canonical::Source::kNode, index, part, 6, IndexSet(0, 32), 0}}};
    std::vector<std::shared_ptr<const plan::MessagePieces>> out;
    for (const std::vector<Passage>& passages : all) {
        out.push_back(std::make_shared<const plan::MessagePieces>(plan::pieces_of(passages, program.step).value()));
    }
    return out;
}

}  // namespace

const std::vector<std::shared_ptr<const plan::MessagePieces>>& stated_messages() {
    static const auto kMessages = make_messages();
    return kMessages;
}

crypto::SecretKey member_key(std::uint32_t rank) {
    return crypto::SecretKey::from_bytes(Bytes(32, static_cast<std::uint8_t>(rank + 1))).value();
}

group::Told told_of(
    std::uint32_t author, dispute::Statement occasion, const std::shared_ptr<const plan::MessagePieces>& message,
    ByteView values
) {
    group::Told out{
        .author = author, .statement = std::move(occasion), .signature = {}, .message = message, .values = {}};
    std::vector<Hash256> leaves;
    for (std::size_t i = 0; i < message->pieces.size(); ++i) {
        out.values.push_back(dispute::values_hash(plan::values_of(message->pieces[i], values)));
        leaves.push_back(dispute::piece_leaf(out.piece(i)));
    }
    out.statement.pieces = static_cast<std::uint32_t>(leaves.size());
    out.statement.root = merkle::root_of(leaves);
    out.signature = member_key(author).sign(dispute::statement_digest(kGroupChain, out.statement).view());
    return out;
}

}  // namespace assay::fuzz

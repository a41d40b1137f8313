// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/equivocation.hpp>

#include <map>
#include <tuple>
#include <utility>

#include <core/codec/borsh.hpp>

namespace assay::group {

namespace {

// What a statement is about, and a piece of it, but for the values.
using Subject = std::tuple<std::uint32_t, Bytes, Bytes>;

Bytes occasion_of(dispute::Statement statement) {
    statement.pieces = 0;
    statement.root = {};
    return codec::encode(statement);
}

}  // namespace

std::optional<Equivocation> find_equivocation(const std::vector<std::shared_ptr<const Told>>& told) {
    std::map<Subject, std::pair<const Told*, std::size_t>> first;
    for (const auto& message : told) {
        const Bytes occasion = occasion_of(message->statement);
        for (std::size_t i = 0; i < message->values.size(); ++i) {
            Subject subject(message->author, occasion, codec::encode(piece_of(message->message->pieces[i], {})));
            const auto [found, is_new] = first.try_emplace(std::move(subject), message.get(), i);
            const auto& [other, at] = found->second;
            if (!is_new && other->values[at] != message->values[i]) {
                return Equivocation{
                    .author = message->author,
                    .one = other->stated(at),
                    .one_signature = other->signature,
                    .other = message->stated(i),
                    .other_signature = message->signature};
            }
        }
    }
    return std::nullopt;
}

bool is_of(const dispute::Statement& statement, const Occasion& occasion) {
    return statement.task == occasion.task && statement.before == occasion.before &&
           statement.session == occasion.session && statement.step >= occasion.first_step;
}

bool is_proven(const Equivocation& shown, const Occasion& occasion, const std::function<IsSigned>& is_signed) {
    // The other statement is of the same occasion if the two equivocate.
    const dispute::Statement& one = shown.one.statement;
    return is_of(one, occasion) && dispute::check_equivocation(shown.one, shown.other).has_value() &&
           is_signed(shown.author, one, shown.one_signature) &&
           is_signed(shown.author, shown.other.statement, shown.other_signature);
}

}  // namespace assay::group

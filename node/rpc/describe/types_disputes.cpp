// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/types.hpp>

#include <contracts/state/dispute.hpp>
#include <core/dispute/bisection.hpp>

namespace assay::rpc::describe {

namespace {

Schema pinpoint() {
    return object({
        {"step", integer()},
        {"node", nullable(integer())},
        {"op", nullable(text()), "the node's primitive"},
        {"tile", nullable(integer())},
        {"partial", nullable(integer())},
        {"tensor", nullable(integer()), "of the state, where no node is meant"},
    });
}

Members summary() {
    return {
        {"id", hash()},
        {"task", hash()},
        {"segment", integer()},
        {"responder", account(), "who stands by the claim"},
        {"challenger", account()},
        {"state", words(contracts::DisputeState::kForced, &contracts::to_string)},
        {"reason", nullable(ref("Reason")), "how it ended"},
        {"level", words(dispute::Level::kProof, &dispute::to_string), "what the position is down to"},
        {"rounds", integer()},
        {"to_move", nullable(one_of({"responder", "challenger"})), "null where no game is on"},
        {"pinpoint", pinpoint(), "where the first wrong value is, as far as the parties have said"},
        {"responder_clock", nullable(integer()), "blocks that it has left"},
        {"challenger_clock", nullable(integer())},
        {"deadline", height(), "of the next move; 0: none"},
        {"opened_at", height()},
        {"ended_at", height(), "0: it has not"},
        {"onchain_bytes", integer(), "of all its moves"},
        {"referee_us", nullable(number()), "how long this node took to judge the proof"},
        {"slashed", amount()},
        {"paid", amount(), "to the winner"},
        {"burned", amount()},
        {"subject", one_of({"segment", "verdict", "profile", "statement"}), "what the claim is about"},
        {"part", nullable(text()), "of a verdict or a profile"},
        {"second", flag(), "the verdict is one of the second window"},
        {"seal", nullable(hash()), "of a challenge of a verdict (DSP-41)"},
    };
}

}  // namespace

void add_dispute_types(Schema& components) {
    components["DisputeSummary"] = object(summary());
    components["Dispute"] = object(join(
        summary(),
        {{"moves", array(object({{"tx", hash()}, {"height", height()}, {"action", text()}, {"size_bytes", integer()}})),
          "the opening counts as one"},
         {"raw", hex()},
         {"first_height", height(), "from where on moves are listed"}}
    ));
}

}  // namespace assay::rpc::describe

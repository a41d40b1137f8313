// SPDX-License-Identifier: Apache-2.0
#include <client/referee/judge.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>

#include <client/referee/answers.hpp>
#include <client/referee/json.hpp>
#include <client/referee/values.hpp>
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/state.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <core/dispute/one_step_verifier.hpp>

namespace assay::referee {
namespace {

using contracts::Dispute;
using contracts::ProveMove;
using contracts::Task;

/// The slots that the caller has brought.
class GivenSlots final : public contracts::StateView {
  public:
    std::optional<Bytes> get(const Bytes& key) const override {
        const auto found = slots_.find(key);
        return found == slots_.end() ? std::nullopt : std::optional(found->second);
    }
    void put(const Bytes& key, const Bytes& value) { slots_.emplace(key, value); }

  private:
    std::map<Bytes, Bytes> slots_;
};

template <class Wanted, class... Alternatives>
consteval std::uint8_t number_of(const std::variant<Alternatives...>* /*list*/) {
    const std::array<bool, sizeof...(Alternatives)> found{std::is_same_v<Wanted, Alternatives>...};
    return static_cast<std::uint8_t>(std::find(found.begin(), found.end(), true) - found.begin());
}
constexpr std::uint8_t kProveMove = number_of<ProveMove>(static_cast<const contracts::Action*>(nullptr));

/// A transaction with a proof: contracts::Tx with one alternative of its action, since decoders of all actions are
/// large.
struct ProofTx {
    std::string chain_id;
    AccountId sender;
    std::uint64_t nonce = 0;
    Amount fee;
    std::uint8_t action = 0;  ///< kProveMove
    ProveMove move;
    std::optional<AccountId> owner;
    Signature signature;
    static constexpr auto fields() {
        return Fields<
            &ProofTx::chain_id, &ProofTx::sender, &ProofTx::nonce, &ProofTx::fee, &ProofTx::action, &ProofTx::move,
            &ProofTx::owner, &ProofTx::signature>{};
    }
};

struct Case {
    Dispute dispute;
    ProofTx tx;
};

bool is_checkpoint(const std::optional<Bytes>& record) {
    return record && codec::decode<contracts::Checkpoint>(*record).has_value();
}

/// Whether the claim is the one that the chain makes about this segment (DSP-37); nullopt if the records do not tell:
/// one is missing, the dispute is about something else, or a group may have cut the task since.
std::optional<bool> is_claim_of(const Dispute& dispute, const Task& task, const JudgeArguments& arguments) {
    const std::uint32_t segment = dispute.segment;
    const bool is_solvers = std::holds_alternative<contracts::SolverClaim>(dispute.subject);
    if (!is_solvers || task.group) {
        return std::nullopt;
    }
    if (segment < first_segment(task.spec) || segment > last_segment(task)) {
        return false;
    }
    GivenSlots slots;
    if (segment != evaluation_segment(task)) {
        if (!is_checkpoint(arguments.after) || (segment != 0 && !is_checkpoint(arguments.before))) {
            return std::nullopt;
        }
        slots.put(contracts::keys::checkpoint(task.id, segment), *arguments.after);
        if (segment != 0) {
            slots.put(contracts::keys::checkpoint(task.id, segment - 1), *arguments.before);
        }
    }
    return codec::encode(contracts::make_claim(slots, task, segment)) == codec::encode(dispute.claim);
}

void write(JsonWriter& out, const char* name, std::optional<bool> value) {
    value ? out.boolean(name, *value) : out.null(name);
}

template <class T>
void write(JsonWriter& out, const char* name, std::optional<T> value) {
    value ? out.number(name, *value) : out.null(name);
}

void write_place(JsonWriter& out, const Case& c) {
    const dispute::Pinpoint at = dispute::pinpoint(c.dispute.position);
    auto tile = at.tile;
    auto tensor = at.tensor;
    if (const auto* shown = std::get_if<dispute::DivergenceProof>(&c.tx.move.proof)) {
        tile = shown->opening.tile;
        tensor = shown->opening.tensor;
    }
    out.begin_object("place").number("segment", c.dispute.segment);
    out.boolean("initialisation", c.dispute.claim.initialisation).number("step", at.step);
    write(out, "node", at.node);
    at.op ? out.text("op", canonical::to_string(*at.op)) : out.null("op");
    write(out, "tile", tile);
    write(out, "partial", at.partial);
    write(out, "tensor", tensor);
    out.end_object();
}

/// How the chain ended it, and whether this ruling says the same; null if no proof ended it.
void write_chain(JsonWriter& out, const Dispute& dispute, const Result<dispute::Ruling, dispute::ProofError>& ruling) {
    const contracts::DisputeEnd* end = dispute.end();
    out.begin_object("chain").text("state", contracts::to_string(dispute.state()));
    end != nullptr ? out.text("reason", contracts::to_string(end->reason)) : out.null("reason");
    const bool is_refuted = end != nullptr && end->reason == contracts::Reason::kLostDispute;
    const bool is_upheld = end != nullptr && end->reason == contracts::Reason::kFalseAccusation;
    std::optional<bool> agrees;
    if (is_refuted || is_upheld) {
        agrees = ruling && (*ruling == dispute::Ruling::kClaimRefuted) == is_refuted;
    }
    write(out, "agrees", agrees);
    out.end_object();
}

void write_parties(JsonWriter& out, const Case& c) {
    const AccountId& sender = c.tx.owner ? *c.tx.owner : c.tx.sender;  // OPR-2
    const bool is_responder = sender == c.dispute.responder;
    const char* other = sender == c.dispute.challenger ? "challenger" : "other";
    out.begin_object("parties").hex("responder", c.dispute.responder).hex("challenger", c.dispute.challenger);
    out.hex("sender", sender).text("prover", is_responder ? "responder" : other).end_object();
}

/// Returns what is wrong with the records that were given besides, or nullptr.
const char* write_checks(JsonWriter& out, const Case& c, const JudgeArguments& arguments) {
    std::optional<Task> task;
    if (arguments.task) {
        auto decoded = codec::decode<Task>(*arguments.task);
        if (!decoded) {
            return "the task's record does not decode";
        }
        task = *std::move(decoded);
    }
    const bool is_own = task && task->id == c.dispute.task;
    out.begin_object("checks").hex("disputeId", c.dispute.id).hex("taskId", c.dispute.task);
    out.text("chainId", c.tx.chain_id).boolean("namesDispute", c.tx.move.dispute == c.dispute.id);
    const ByteView body = ByteView(arguments.transaction).first(arguments.transaction.size() - Signature::kSizeBytes);
    const Hash256 signed_hash = contracts::signing_hash(body);
    out.boolean("signed", crypto::verify_signature(c.tx.sender, signed_hash.view(), c.tx.signature));
    write(out, "task", task ? std::optional(is_own) : std::nullopt);
    write(out, "claim", is_own ? is_claim_of(c.dispute, *task, arguments) : std::nullopt);
    out.end_object();
    return nullptr;
}

Result<Case, const char*> decode_case(const JudgeArguments& arguments) {
    auto dispute = codec::decode<Dispute>(arguments.dispute);
    if (!dispute) {
        return Unexpected{"the dispute's record does not decode"};
    }
    auto tx = codec::decode<ProofTx>(arguments.transaction);
    if (!tx || tx->action != kProveMove) {
        return Unexpected{"the transaction does not decode as one with a prove_move"};
    }
    return Case{*std::move(dispute), *std::move(tx)};
}

}  // namespace

std::string judge(const JudgeArguments& arguments) {
    const auto decoded = decode_case(arguments);
    if (!decoded) {
        return make_error(decoded.error());
    }
    const Case& c = *decoded;
    const auto ruling = dispute::judge(c.dispute.claim, c.dispute.position, c.tx.move.proof);
    JsonWriter out;
    out.boolean("ok", true);
    if (ruling) {
        out.text("verdict", *ruling == dispute::Ruling::kClaimRefuted ? "refuted" : "upheld").null("refusal");
    } else {
        out.text("verdict", "refused");
        write_refusal(out, ruling.error());
    }
    write_place(out, c);
    write_values(out, c.dispute, c.tx.move.proof, ruling, arguments.claimed_tile);
    write_chain(out, c.dispute, ruling);
    write_parties(out, c);
    if (const char* problem = write_checks(out, c, arguments)) {
        return make_error(problem);
    }
    return out.finish();
}

}  // namespace assay::referee

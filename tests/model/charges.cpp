// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>

#include <contracts/params/gas.hpp>
#include <core/codec/borsh.hpp>
#include <tests/model/crowd.hpp>

/// Fees, answers without one, and what a receipt may say of a transaction that is refused.
namespace assay::model {
namespace {

using contracts::TxError;

/// What the model does not compute but takes from the receipt.
bool is_chains_to_say(const contracts::Action& action, TxError code) {
    const auto* verdict = std::get_if<contracts::ChallengeVerdict>(&action);
    const auto* profile = std::get_if<contracts::ChallengeProfile>(&action);
    return code == TxError::kNotMeasured &&
           ((verdict != nullptr && verdict->part == contracts::VerdictPart::kMeasurement) ||
            (profile != nullptr && contracts::is_measured(profile->part)));
}

std::string show(const std::set<TxError>& why) {
    std::string out;
    for (const TxError error : why) {
        out += std::string(out.empty() ? "" : ", ") + to_string(error);
    }
    return out.empty() ? "nothing" : out;
}

}  // namespace

/// DTY-2: looks at the state before the block.
Model::Why Model::admit(const Sent& sent) {
    if (!sent.broken.empty()) {
        return sent.broken;
    }
    speak_as(sent);
    const contracts::Action& action = sent.body.action;
    Why out = why_not_sent(sent);
    const auto most = answer_bytes(action);
    if (!most) {
        // DTY-1; what no state could make right is an error besides
        const Why of_itself{TxError::kFieldOutOfRange, TxError::kSpecInvalid, TxError::kOverflow,
                            TxError::kKeyNotProven,    TxError::kNotStated,   TxError::kNoEvidence,
                            TxError::kOwnerOnly};
        std::erase_if(out, [&](TxError error) { return !of_itself.contains(error); });
        out.insert(TxError::kFeeTooLow);
        return out;
    }
    if (sent.bytes.size() > *most) {
        out.insert(TxError::kTooLarge);
    }
    const auto owed = owed_by(world_, params_, who_, action);
    if (!owed || owed->due != sent.body.nonce) {
        out.insert(TxError::kNotOwed);
    } else if (answered_.contains(*owed)) {
        out.insert(TxError::kAnswered);
    }
    const auto* acceptance = std::get_if<contracts::AcceptTask>(&action);
    if (acceptance != nullptr && !acceptance->seats.empty()) {
        out.insert(TxError::kFeeTooLow);  // GRP-2
    }
    if (const auto* shares = std::get_if<contracts::ShareKeys>(&action)) {
        const Task* task = find(shares->task);
        const bool is_owed = task != nullptr && task->state == contracts::TaskState::kVerifying && task->solver == who_;
        out.merge(is_owed ? Why{} : Why{TxError::kFeeTooLow});  // PRV-3
    }
    if (out.empty()) {
        answered_.insert(*owed);
    }
    return out;
}

Model::Why Model::charge(const Sent& sent) {
    Why unpaid = why_not_paid(sent);
    if (unpaid.empty()) {
        // FEE-1, FEE-3: every fee of the block is taken before its first action.
        Person& sender = world_.people[sent.body.sender];
        sender.balance -= sent.body.fee.grains;
        sender.nonce += 1;
        world_.treasury += treasury_part(sent);
        world_.burned += sent.body.fee.grains - treasury_part(sent);
        gas_ += gas_of(sent);
        bytes_ += sent.bytes.size();
    }
    return unpaid;
}

std::uint64_t Model::treasury_part(const Sent& sent) const {
    // FEE-1, DTY-3
    return (gas_of(sent) + imposed_by(sent.body.action, params_)) * params_.gas_price_min.grains;
}

void Model::speak_as(const Sent& sent) {
    who_ = sent.body.owner.value_or(sent.body.sender);
    nonce_ = sent.body.nonce;
    size_ = sent.bytes.size();
}

std::uint64_t Model::gas_of(const Sent& sent) const { return contracts::gas_of_bytes(sent.bytes, params_); }

std::uint64_t Model::base_fee() const { return std::max(world_.base_fee.value_or(0), params_.gas_price_min.grains); }

void Model::move_base_fee() {
    // FEE-2
    const std::uint64_t target = params_.block_gas_max / 2;
    const std::uint64_t by_bytes = bytes_ * params_.block_gas_max / params_.block_size_max;
    const std::uint64_t used = std::min<std::uint64_t>(gas_ > by_bytes ? gas_ : by_bytes, params_.block_gas_max);
    std::uint64_t next = base_fee();
    if (used > target) {
        next += std::max<std::uint64_t>(1, next * (used - target) / target / 8);
    } else if (used < target) {
        const std::uint64_t fall = std::max<std::uint64_t>(1, next * (target - used) / target / 8);
        next = fall > next ? 0 : next - fall;
    }
    next = std::min<std::uint64_t>(next, 1'000'000'000);
    world_.base_fee.reset();
    if (next > params_.gas_price_min.grains) {
        world_.base_fee = next;
    }
}

std::string Model::check_receipt(const Sent& sent, const Why& unpaid, const contracts::Receipt& receipt) {
    const auto code = static_cast<TxError>(receipt.code);
    const auto told = [&](const std::set<TxError>& expected) {
        return std::string(action_name(sent.body.action)) + " by " + name_of(sent.body.sender) + ": the chain says " +
               (receipt.code == 0 ? "ok" : to_string(code)) + ", the model knows of " + show(expected);
    };
    if (!unpaid.empty()) {
        return unpaid.contains(code) && !receipt.is_charged ? std::string{} : told(unpaid);
    }
    // DTY-3: an answer without effect leaves no trace.
    if (receipt.is_charged != (receipt.code == 0 || !is_answer(sent))) {
        return told({});
    }
    speak_as(sent);
    const Why reasons = why_not_sent(sent);
    if (reasons.empty() && receipt.code == 0) {
        if (is_answer(sent) && flaw_ == Flaw::kChargesAnswers) {
            ++world_.people[who_].nonce;
        }
        std::visit([this](const auto& action) { act(action); }, sent.body.action);
        return {};
    }
    const bool agree = receipt.code != 0 && (reasons.contains(code) || is_chains_to_say(sent.body.action, code));
    if (agree && is_answer(sent)) {
        ++seen_["answer overtaken"];
    }
    return agree ? std::string{} : told(reasons);
}

Model::Why Model::why_not_sent(const Sent& sent) const {
    Why out = why(sent.body.action);
    if (!sent.body.owner) {
        return out;
    }
    static const std::set<std::string> kOwners{
        "transfer", "bond",           "unbond",          "submit_task",  "cancel_task",
        "unjail",   "propose_params", "propose_upgrade", "propose_halt", "register_validator",
        "vote",     "name_operator"};
    if (kOwners.contains(action_name(sent.body.action))) {
        out.insert(TxError::kOwnerOnly);
    }
    if (*sent.body.owner == sent.body.sender) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const auto named = world_.operators.find(*sent.body.owner);
    if (named == world_.operators.end() || named->second != sent.body.sender) {
        out.insert(TxError::kNotOperator);
    }
    return out;
}

Model::Why Model::why(const contracts::NameOperator& a) const {
    return a.account == who_ ? Why{TxError::kFieldOutOfRange} : Why{};
}

void Model::act(const contracts::NameOperator& a) {
    world_.operators.erase(who_);
    if (a.account) {
        world_.operators.emplace(who_, *a.account);
    }
}

Model::Why Model::why_not_paid(const Sent& sent) const {
    // TX-1 to TX-5, TX-7, DTY-3
    if (!sent.broken.empty()) {
        return sent.broken;
    }
    Why out;
    const auto found = world_.people.find(sent.body.sender);
    const Person person = found == world_.people.end() ? Person{} : found->second;
    if (sent.body.nonce != person.nonce) {
        out.insert(sent.body.nonce < person.nonce ? TxError::kNonceTooLow : TxError::kNonceTooHigh);
    }
    const std::uint64_t imposed = imposed_by(sent.body.action, params_) * params_.gas_price_min.grains;
    if (sent.body.fee.grains < gas_of(sent) * base_fee() + imposed) {
        out.insert(TxError::kFeeTooLow);
    }
    if (sent.body.fee.grains > person.balance) {
        out.insert(TxError::kCannotPayFee);
    }
    return out;
}

}  // namespace assay::model

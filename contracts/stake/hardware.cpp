// SPDX-License-Identifier: Apache-2.0
#include <contracts/stake/hardware.hpp>

#include <contracts/chain/slots.hpp>
#include <contracts/stake/staking.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint32_t kBasisPoints = 10'000;

bool is_of_class(std::uint32_t number, const Candidate& candidate) {
    return number == 0 || candidate.hardware_class == number;
}

}  // namespace

Result<void, TxError> check_class(const Params& params, std::uint32_t number) noexcept {
    if (number > params.hardware_classes.size()) {
        return Unexpected{TxError::kHardwareUnknown};  // HW-1
    }
    return {};
}

Result<void, TxError> check_stateless(const RegisterHardware& action) noexcept {
    if (action.role != Role::kSolver && action.role != Role::kVerifier) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6: nobody is drawn by the machine for any other
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& /*view*/, const Params& params, const AccountId& /*sender*/, const RegisterHardware& action
) noexcept {
    TRY(check_class(params, action.hardware_class));
    if (action.hardware_class != 0 && action.score < params.hardware_classes[action.hardware_class - 1].least_score) {
        return Unexpected{TxError::kScoreTooLow};  // HW-2
    }
    return {};
}

Result<void, TxError> execute(Context& context, const RegisterHardware& action) noexcept {
    // HW-2
    set_hardware(
        context.state, action.role, context.actor, {action.hardware_class, action.score, context.height()}
    );
    Stake stake = get_stake(context.state, action.role, context.actor);
    if (stake.is_unlisted) {
        stake.is_unlisted = false;  // TASK-6
        put_stake(context, action.role, context.actor, stake);
    }
    return {};
}

std::vector<Candidate> of_class(std::uint32_t number, const std::vector<Candidate>& candidates) {
    // HW-3
    std::vector<Candidate> out;
    for (const Candidate& candidate : candidates) {
        if (is_of_class(number, candidate)) {
            out.push_back(candidate);
        }
    }
    return out;
}

void prefer_class(std::uint32_t number, std::vector<Candidate>& candidates) {
    // HW-4
    if (number == 0) {
        return;
    }
    __extension__ using Wide = unsigned __int128;
    Wide all = 0;
    Wide alike = 0;
    std::vector<Candidate> preferred = candidates;
    for (Candidate& candidate : preferred) {
        all += candidate.weight;
        if (!is_of_class(number, candidate)) {
            candidate.weight = 0;
        }
        alike += candidate.weight;
    }
    if (alike != 0 && alike * kBasisPoints >= all * kPreferredShareBps) {
        candidates = std::move(preferred);
    }
}

}  // namespace assay::contracts

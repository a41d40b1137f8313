// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/account.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/stake.hpp>
#include <contracts/state/task.hpp>

/// The state as contracts see it: typed slots over an ordered map of bytes, whose root is the app hash (STA rules).
namespace assay::contracts {

/// Committed state of some height. The caller supplies it; contracts never do I/O themselves.
class StateView {
  public:
    virtual ~StateView() = default;
    virtual std::optional<Bytes> get(const Bytes& key) const = 0;
};

using Changes = std::map<Bytes, std::optional<Bytes>>;

/// STA-2: the keys of slots: one prefix byte, then the fixed-size parts. Auditors ask for proofs of these.
namespace keys {
Bytes params();
Bytes supply();
Bytes account(const AccountId& account);
Bytes stake(Role role, const AccountId& account);
Bytes task(const TaskId& task);
Bytes checkpoint(const TaskId& task, std::uint32_t index);
Bytes dispute(const DisputeId& dispute);
Bytes validator(const AccountId& account);
Bytes validators();  ///< the accounts that are registered, a list
Bytes banned();      ///< likewise those that signed twice
Bytes terms(Role role, const AccountId& account);
Bytes profile(const TaskId& task, std::uint32_t place);
Bytes beacon();
Bytes base_fee();  ///< FEE-2: what a unit of gas costs; no such slot while it is gas_price_min
}  // namespace keys

}  // namespace assay::contracts

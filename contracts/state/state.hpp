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

/// The state as seen by contracts: typed slots over an ordered key-value map, whose Merkle root is the app hash (STA
/// rules).
namespace assay::contracts {

/// Read access to the committed state at some height. Supplied by the caller; contracts do no I/O.
class StateView {
  public:
    virtual ~StateView() = default;
    virtual std::optional<Bytes> get(const Bytes& key) const = 0;
};

using Changes = std::map<Bytes, std::optional<Bytes>>;

/// STA-2: slot keys: one prefix byte, then the fixed-size parts. Auditors request proofs for these keys.
namespace keys {
Bytes params();
Bytes supply();
Bytes account(const AccountId& account);
Bytes stake(Role role, const AccountId& account);
Bytes task(const TaskId& task);
Bytes checkpoint(const TaskId& task, std::uint32_t index);
Bytes dispute(const DisputeId& dispute);
Bytes validator(const AccountId& account);
Bytes validators();  ///< list of registered validator accounts
Bytes banned();      ///< list of accounts banned for double signing
Bytes operator_of(const AccountId& owner);
Bytes terms(Role role, const AccountId& account);
Bytes profile(const TaskId& task, std::uint32_t place);
Bytes beacon();
Bytes base_fee();  ///< FEE-2: price of a unit of gas; absent while it equals gas_price_min
}  // namespace keys

}  // namespace assay::contracts

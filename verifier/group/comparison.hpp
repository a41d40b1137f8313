// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/group/equivocation.hpp>
#include <verifier/group/ledger.hpp>

namespace assay::group {

/// Who has equivocated, with the evidence for `report_equivocation` (STM-11).
struct Finding {
    AccountId member;
    Equivocation evidence;
};

/// What was found in a session. Thread-safe: ranks find it in a thread, and their worker reports it in another.
class Findings {
  public:
    void add(Finding finding);
    /// All that were added since the last call.
    std::vector<Finding> take();
    /// Everybody of whom something was ever added.
    std::set<AccountId> members() const;

  private:
    mutable std::mutex mutex_;
    std::vector<Finding> findings_;
    std::set<AccountId> members_;
};

/// What a rank was told in a segment, message by message, to be compared with what others were told: a rank that has
/// told two others different things of one has signed both (STM-7). Messages that say something of the same pieces are
/// compared, by their roots; evidence travels only where these differ.
class Heard {
  public:
    void add(const Told& told);
    void clear();

    /// Compares with the other ranks: all of them call it at the same time. `is_signed` tells whether the author has
    /// signed the statement. Throws as Collective::exchange() does, and engine::RankError if a rank shows more than it
    /// can have been told.
    using IsSigned = bool(std::uint32_t author, const dispute::Statement& statement, const Signature& signature);
    std::vector<Equivocation> compare(
        engine::Collective& links, const Ledger& ledger, std::uint64_t first_step,
        const std::function<IsSigned>& is_signed
    ) const;

  private:
    /// Author, step, and the pieces by their hash.
    using Place = std::tuple<std::uint32_t, std::uint64_t, Hash256>;
    std::map<Place, Hash256> roots_;  ///< of what was told first there
    std::map<std::shared_ptr<const plan::MessagePieces>, Hash256> hashes_;
};

}  // namespace assay::group

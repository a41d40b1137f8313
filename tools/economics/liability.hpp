// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/economics/setting.hpp>

/// Law 2 in figures: what each way to lose a stake costs who causes it, and what honest accounts lose by it.
namespace assay::economics {

/// One row of docs/protocol/liability.md, "Ways to lose", by the text of its first cell.
struct Liability {
    std::string row;
    std::string meaning;  ///< what the two amounts are
    double cost = 0.0;    ///< ASY that it costs the attacker at least
    double harm = 0.0;    ///< ASY that honest accounts lose at most together, what they win back deducted
    double alone = 0.0;   ///< the most that one of them loses, over what it costs then; 0: no more than `harm` says

    /// At most 1 where law 2 holds; 0 where nothing is imposed; infinite where it costs nothing.
    double ratio() const;
    /// The same of the one honest account that loses most.
    double ratio_alone() const;
};
/// For `setting`, on a chain with the default limits of blocks and the beacon.
std::vector<Liability> liability_of(const Setting& setting, const Costs& costs);

/// Fees that somebody chooses to pay, in ASY, which count as nobody's harm.
struct Voluntary {
    std::string who;
    std::string what;
    double fee = 0.0;
};
std::vector<Voluntary> voluntary_of(const Setting& setting);

}  // namespace assay::economics

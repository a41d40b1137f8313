// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/economics/setting.hpp>

/// Law 2 in numbers: for each way to lose a stake, what it costs the one who causes it and what honest accounts lose.
namespace assay::economics {

/// One row of "Ways to lose" in docs/protocol/liability.md, identified by the text of its first cell.
struct Liability {
    std::string row;
    std::string meaning;  ///< explains the two amounts
    double cost = 0.0;    ///< minimum cost to the attacker, in ASY
    double harm = 0.0;    ///< maximum total loss of honest accounts, in ASY, after what they win back
    double alone = 0.0;   ///< maximum ratio of loss to cost for a single account; 0: not more than ratio()

    /// Returns harm over cost. At most 1 if law 2 holds; 0 if there is no harm; infinite if the harm costs nothing.
    double ratio() const;
    /// Returns the same for the single honest account that loses most.
    double ratio_alone() const;
};
/// Returns the rows for `setting`, on a chain with the default limits of blocks and of the beacon.
std::vector<Liability> liability_of(const Setting& setting, const Costs& costs);

/// Fees that an account pays voluntarily, in ASY; they do not count as harm.
struct Voluntary {
    std::string who;
    std::string what;
    double fee = 0.0;
};
std::vector<Voluntary> voluntary_of(const Setting& setting);

}  // namespace assay::economics

// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/committee.hpp>

#include <algorithm>
#include <cmath>

namespace assay::economics {
namespace {

constexpr double kTenth = 0.1;
constexpr double kConvicted = 0.5;  // of a solver's bond, burned by AVL-5
constexpr std::uint32_t kMostSeats = 1'001;

/// The probability that just `hits` of `seats` fall to members with `share` of the stake.
double exactly(std::uint32_t seats, double share, std::uint32_t hits) {
    if (share <= 0.0 || share >= 1.0) {
        return hits == (share >= 1.0 ? seats : 0) ? 1.0 : 0.0;
    }
    const double ways = std::lgamma(seats + 1.0) - std::lgamma(hits + 1.0) - std::lgamma(seats - hits + 1.0);
    return std::exp(ways + hits * std::log(share) + (seats - hits) * std::log1p(-share));
}

/// The same for `least` and more.
double at_least(std::uint32_t seats, double share, std::uint32_t least) {
    double out = 0.0;
    for (std::uint32_t hits = least; hits <= seats; ++hits) {
        out += exactly(seats, share, hits);
    }
    return out;
}

/// Honest members of one committee who do not fail: accounts of equal stake.
struct Members {
    double share;  ///< of a seat, that it falls to one of them
    double accounts;
    std::uint32_t seats;

    Members(const MembersPay& pay, const Silence& silence)
        : share((1.0 - silence.coalition) * (1.0 - silence.failing)),
          accounts((1.0 - silence.coalition) * pay.verifiers),
          seats(pay.seats) {}
    /// Their number on average, where so many seats are theirs.
    double of_seats(double count) const {
        return accounts > 0.0 ? accounts * (1.0 - std::pow(1.0 - 1.0 / accounts, count)) : 0.0;
    }
    double mean() const {
        double out = 0.0;
        for (std::uint32_t count = 0; count <= seats; ++count) {
            out += exactly(seats, share, count) * of_seats(count);
        }
        return out;
    }
};

}  // namespace

double majority(std::uint32_t seats, double share) { return at_least(seats, share, majority_of(seats)); }

double found_withheld(std::uint32_t seats, const Silence& silence) {
    const double silent = 1.0 - (1.0 - silence.coalition) * (1.0 - silence.failing);
    return at_least(seats, silent, seats - seats / 2);
}

double convicted_falsely(std::uint32_t seats, const Silence& silence) {
    return std::pow(found_withheld(seats, silence), kSittings);
}

std::uint32_t least_seats(const Silence& silence, double bound) {
    for (std::uint32_t seats = 1; seats <= kMostSeats; seats += 2) {
        if (convicted_falsely(seats, silence) <= bound) {
            return seats;
        }
    }
    return 0;
}

double nobody_consents(std::uint32_t seats, double share) { return exactly(seats, share, 0); }

double attested_falsely(std::uint32_t seats, double share) {
    return 1.0 - std::pow(1.0 - majority(seats, share), kSittings);
}

Grains attestation_fee(const Parameters& parameters, const Setting& setting) {
    __extension__ using Wide = __int128;
    return static_cast<Grains>(
        static_cast<Wide>(parameters.attest_fee) * setting.verifier_bond / std::max<Grains>(1, parameters.verifier_bond)
    );
}

MembersPay pay_of_members(const Parameters& parameters, const Costs& costs, const Setting& setting) {
    return {
        .seats = parameters.committee_seats,
        .fee = to_asy(attestation_fee(parameters, setting)),
        .transaction = to_asy(costs.attestation_fees),
        .download = to_asy(setting.fetch_cost),
        .verifiers = costs.adversary.verifiers};
}

SharedLoss loss_by_silence(const Setting& s, const MembersPay& pay, const Silence& silence, std::uint32_t segments) {
    const double falsely = convicted_falsely(pay.seats, silence);
    const double withheld = found_withheld(pay.seats, silence);
    const Members honest(pay, silence);
    double available = 0.0;  // members on average, of committees that find it available
    for (std::uint32_t seats = majority_of(pay.seats); seats <= pay.seats; ++seats) {
        available += exactly(pay.seats, honest.share, seats) * honest.of_seats(seats);
    }
    // A committee that finds the segments withheld pays nobody, and another one sits.
    const double sittings = 1.0 + withheld + withheld * withheld;
    SharedLoss out;
    // AVL-8: the tenths are returned where the solver is convicted.
    out.own = kTenth * to_asy(s.verifier_bond) * segments * (1.0 - falsely);
    out.matched = out.own;
    out.convicted = falsely * (to_asy(s.net_reward()) + kConvicted * to_asy(s.solver_bond));
    out.earned = sittings * (pay.fee * available - (pay.transaction + pay.download) * honest.mean());
    return out;
}

SharedLoss loss_while_attesting(
    const Setting& s, const MembersPay& pay, const Silence& silence, std::uint32_t segments
) {
    const double tenths = kTenth * to_asy(s.verifier_bond) * segments;
    SharedLoss out;
    out.own = std::max(0.0, tenths - silence.coalition * pay.seats * (pay.fee - pay.transaction));
    out.matched = tenths;
    out.earned = (pay.fee - pay.transaction - pay.download) * Members(pay, silence).mean();
    return out;
}

}  // namespace assay::economics

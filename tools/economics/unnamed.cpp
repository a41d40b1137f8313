// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/unnamed.hpp>

namespace assay::economics {

std::vector<Unnamed> unnamed_parameters() {
    const std::string of_bond = "a part of the bond, whose constraints are named by its least amount";
    const std::string growth =
        "what is checked more of dearer tasks is a comfort to their submitters: honesty pays with the least too";
    const std::string validators = "consensus: what validators lose does not depend on tasks";
    const std::string threshold = "tolerance mode: it follows from measured distances, not from prices";
    const std::string kept =
        "kept results: how long, and how often they are shown; retention_price names what pays for them";
    const std::string votes =
        "votes: the time in which validators find a majority, and others leave what it will change (GOV-7)";
    return {
        {"protocol_version", "the version of the rules, which has no price"},
        {"tx_size_max", "bytes: the least is the largest proof (PAR-7), the most what a network carries"},
        {"block_size_max", "bytes: the most is what a network carries in the time of a block"},
        {"solver_bond_bps", of_bond},
        {"verifier_bond_bps", of_bond},
        {"challenger_bond_bps", of_bond},
        {"unbonding_blocks",
         "stake that unbonds answers for nothing; the wait is the price of leaving a draw that one has seen coming"},
        {"verifiers_per_segment", growth},
        {"value_per_check", growth},
        {"value_per_verifier", growth},
        {"segments_checked_max", growth},
        {"verifiers_per_segment_max", growth},
        {"hardware_classes", "a table of machines: their speeds enter the model as compute_speed"},
        {"validator_stake_min", validators},
        {"validators_max", validators},
        {"double_sign_slash_bps", validators},
        {"downtime_blocks", validators},
        {"jail_blocks", validators},
        {"validator_unbonding_ms", validators},
        {"trusting_period_ms", "light clients: it follows from validator_unbonding_ms (PAR-8)"},
        {"profilers", threshold},
        {"profilers_min", threshold},
        {"profile_segments", threshold},
        {"profiling_fee_bps", "tolerance mode: WRK-6 asks for a fee of which the profilers' part pays for their work"},
        {"threshold_quantile_ppm", threshold},
        {"threshold_confidence_ppm", threshold},
        {"threshold_margin_thousandths", threshold},
        {"threshold_separation", threshold},
        {"growth_max_thousandths", threshold},
        {"vote_blocks", votes},
        {"vote_delay_blocks", votes},
        {"retention_blocks_max", kept},
        {"retention_shows", kept},
        {"retention_show_blocks", kept},
        {"share_blocks",
         "private tasks: how long keys can be waited for; who shares none loses a bond, whatever the time (PRV-4)"},
        {"contributors_max", "beacon.rounds, which is named by draw_price, is about their number"},
    };
}

}  // namespace assay::economics

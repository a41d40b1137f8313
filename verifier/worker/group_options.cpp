// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/group_options.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <core/crypto/address.hpp>

namespace assay::worker {

void add_group_options(CLI::App& command, WorkerOptions& options) {
    const auto read_account = [&options](const std::string& text) {
        const auto account = crypto::decode_address(text);
        if (!account) {
            throw CLI::ValidationError("--partner", "\"" + text + "\" is no account's address");
        }
        options.partners.push_back(*account);
    };
    command.add_option_function<std::vector<std::string>>(
        "--partner",
        [read_account](const std::vector<std::string>& texts) {
            std::for_each(texts.begin(), texts.end(), read_account);
        },
        "Lead a group: an account that trains every so many-th segment; once for each seat"
    );
    auto* together = command.add_option(
        "--together", options.together,
        "Lead a group that computes each step together, divided as by --plan of a cell; each member answers for what "
        "it tells the others"
    );
    command
        .add_flag(
            "--demand", options.demands,
            "As such a lead, say on the chain when a member is lost: it and this account pay the same, and the second "
            "time it has no seat any more"
        )
        ->needs(together);
    command.add_flag(
        "--admit", options.admits,
        "As a member of such a group, let others join it: sign lists of seats in which this account has a smaller share"
    );
    command
        .add_flag(
            "--balance", options.balances,
            "As such a lead, give more of the seats to members that compute faster, for the next segment: each "
            "computes "
            "and earns by its seats. The task has to admit more seats than there are members"
        )
        ->needs(together);
    command
        .add_option(
            "--share-min", options.share_min,
            "As a member of such a group, let its lead balance: sign lists in which this account has a smaller share, "
            "down to so many hundredths of an equal one"
        )
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    command
        .add_option(
            "--audit-every", options.audit_every,
            "As a member of such a group, replay alone one of so many segments, at random, and accuse who has stated "
            "something wrong; 0: none"
        )
        ->capture_default_str();
    auto* address = command.add_option(
        "--link-address", options.link_address,
        "Where the other members of a group that computes each step together reach this machine, as in 10.0.0.2"
    );
    together->needs(address);
    command.add_option(
        "--lead", options.lead_urls,
        "Train in groups: URL of a lead's artifact server, whose offers of seats are signed; may be given several times"
    );
}

}  // namespace assay::worker

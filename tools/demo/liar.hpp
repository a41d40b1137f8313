// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <tools/demo/lying_node.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/outsider.hpp>
#include <tools/demo/own_command.hpp>

/// An attacker that poses as the node of honest users.
namespace assay::demo {

/// Runs two lying nodes. One serves the command line of a customer and tells it one lie after the other. The other
/// serves the whistleblower and the second verifier, and lies while the demo's own task is judged. The attacker has no
/// account: its aim is that others sign what they did not want to sign.
class Liar final : public Outsider {
  public:
    Liar(Network& network, Narrator& narrator);

    /// Tells the customer all lies.
    void prepare(const Packer& pack) override;
    void act(const contracts::Task& own) override;
    /// Returns what the customer lost beyond what it wanted to pay.
    std::uint64_t harm() override;
    /// {"told", "refused", "lies", "payments", "workers"}; see docs/operations/demo.md.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    /// A lie to the customer, the command that the customer runs meanwhile, and how that command must end.
    struct Lie {
        const char* name;
        std::string told;  ///< description in words
        LyingNode::Lie alter;
        std::vector<std::string> command;
        int status;
        const char* error;
    };

    std::vector<Lie> lies() const;
    void meet_the_chain();
    void tell(const Lie& lie);
    void deny_a_payment();
    void invent_a_round();
    void lie_to_workers();
    std::filesystem::path log_of(const std::string& worker) const;
    std::vector<std::string> payment(const char* amount) const;
    CommandResult run(const std::vector<std::string>& command, const std::string& url);
    /// Returns how many transactions the customer has signed since the last call. Adds those that it was not asked for
    /// to signed_wrong_.
    std::uint64_t count_signed();
    std::uint64_t balance(const std::string& name);
    /// Describes what workers sent through the lying node because it showed them a false state of the chain.
    nlohmann::json describe_workers();
    bool is_wrong(const contracts::Tx& tx);
    bool is_executed(const contracts::Tx& tx);

    Narrator& narrator_;
    LyingNode customers_node_;
    LyingNode workers_node_;
    nlohmann::json lies_ = nlohmann::json::array();
    std::uint64_t refused_ = 0;
    std::uint64_t asked_ = 0;        ///< grains that the customer wanted to pay
    std::uint64_t asked_times_ = 0;  ///< number of payments
    std::set<Bytes> signed_;         ///< transactions that the customer signed
    std::uint64_t signed_wrong_ = 0;
    std::uint64_t fees_ = 0;  ///< fees that it agreed to
    std::vector<contracts::Tx> of_workers_;
};

}  // namespace assay::demo

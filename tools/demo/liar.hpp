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

/// Somebody who answers for the node that honest users ask.
namespace assay::demo {

/// Runs two lying nodes. One serves the command line of a customer and tells it one lie after the other; the other serves the
/// whistleblower and the second verifier, and lies as long as the demo's own task is judged. It has no account: what it
/// wants is that others sign what they did not want to sign.
class Liar final : public Outsider {
  public:
    Liar(Network& network, Narrator& narrator);

    /// Tells the customer every lie.
    void prepare(const Packer& pack) override;
    void act(const contracts::Task& own) override;
    /// What the customer lost beyond what it wanted to pay.
    std::uint64_t harm() override;
    /// {"told", "refused", "lies", "payments", "workers"}, as docs/operations/demo.md has it.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    /// One lie to the customer, what the customer does meanwhile, and how that has to end.
    struct Lie {
        const char* name;
        std::string told;  ///< in words
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
    /// Counts what the customer has signed since this was asked last, and what of it nobody had asked it for.
    std::uint64_t count_signed();
    std::uint64_t balance(const std::string& name);
    /// Of what workers sent by way of the lying node: what a false picture of the chain made them send.
    nlohmann::json describe_workers();
    bool is_wrong(const contracts::Tx& tx);
    bool is_executed(const contracts::Tx& tx);

    Narrator& narrator_;
    LyingNode customers_node_;
    LyingNode workers_node_;
    nlohmann::json lies_ = nlohmann::json::array();
    std::uint64_t refused_ = 0;
    std::uint64_t asked_ = 0;         ///< grains that the customer wanted to move
    std::uint64_t asked_times_ = 0;   ///< payments
    std::set<Bytes> signed_;          ///< transactions of the customer
    std::uint64_t signed_wrong_ = 0;
    std::uint64_t fees_ = 0;          ///< that it agreed to
    std::vector<contracts::Tx> of_workers_;
};

}  // namespace assay::demo

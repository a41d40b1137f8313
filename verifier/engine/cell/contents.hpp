// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/plan.hpp>

/// Internal to the cell: what the messages of an exchange hold.
namespace assay::engine::cell {

/// Throws std::runtime_error if ranks cannot answer for what they send by this plan.
void check_statable(const plan::Plan& plan, const canonical::Graph& graph);

/// Collects the passages of each message in the order of its bytes.
class ContentsOf {
  public:
    explicit ContentsOf(std::uint32_t ranks) : to_(ranks), from_(ranks) {}
    void send(std::uint32_t to, plan::Passage passage);
    void receive(std::uint32_t from, plan::Passage passage);
    /// Parts must have whole partials. What is said to several ranks alike is one object.
    Contents build(const canonical::Graph& graph) const;

  private:
    using Passages = std::vector<plan::Passage>;
    std::vector<Passages> to_;
    std::vector<Passages> from_;
};

}  // namespace assay::engine::cell

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Answers of the node as text for people.
namespace assay::cli {

/// Rows in aligned columns. A column whose name ends in '>' is aligned to the right.
class Table {
  public:
    explicit Table(std::vector<std::string> columns);
    /// As many cells as there are columns.
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    std::string text() const;

  private:
    std::vector<std::string> columns_;
    std::vector<bool> right_;
    std::vector<std::vector<std::string>> rows_;
};

/// Names and values, one line each, values aligned.
class Facts {
  public:
    void add(const std::string& name, const std::string& value);
    std::string text() const;

  private:
    std::vector<std::pair<std::string, std::string>> lines_;
};

/// A value as one word or more: "-" for null.
std::string to_text(const nlohmann::json& value);
/// The RPC's grains in a decimal string as "1.5 ASY"; "-" for null.
std::string amount_text(const nlohmann::json& grains);

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <client/audit_check.hpp>

namespace assay::client {

/// A table in CSV (RFC 4180), for spreadsheets.
struct CsvTable {
    std::string name;  ///< "tasks", "payments" or "penalties"
    std::string text;
};

/// Returns what people ask a verified file for: its tasks, who was paid and who lost stake; of an account's file that
/// account's payments and losses only. The tables follow from the facts alone. Text that a spreadsheet would take for
/// a formula begins with an apostrophe.
std::vector<CsvTable> audit_tables(const AuditFacts& facts);

}  // namespace assay::client

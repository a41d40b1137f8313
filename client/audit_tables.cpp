// SPDX-License-Identifier: Apache-2.0
#include <client/audit_tables.hpp>

#include <array>
#include <ctime>
#include <variant>

#include <client/penalty.hpp>
#include <core/base/amount.hpp>
#include <core/crypto/address.hpp>

namespace assay::client {
namespace {

namespace history = contracts::history;

/// RFC 4180; and no cell may start a formula, because titles are text of strangers.
std::string cell(std::string text) {
    if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) {
        text.insert(text.begin(), '\'');
    }
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string out = "\"";
    for (const char c : text) {
        out += c == '"' ? "\"\"" : std::string(1, c);
    }
    return out + '"';
}

class Csv {
  public:
    explicit Csv(const std::vector<std::string>& columns) { add(columns); }
    void add(const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text_ += (i == 0 ? "" : ",") + cell(cells[i]);
        }
        text_ += "\r\n";
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

/// ASY without the unit, so that a spreadsheet can add it up.
std::string in_asy(Amount amount) {
    const std::string text = to_text(amount);
    return text.substr(0, text.find(' '));
}

std::string time_of(const AuditFacts& facts, Height height) {
    const auto found = facts.block_times_ms.find(height);
    if (found == facts.block_times_ms.end()) {
        return "";
    }
    const auto seconds = static_cast<std::time_t>(found->second / 1'000U);
    std::tm parts{};
    if (::gmtime_r(&seconds, &parts) == nullptr) {
        return "";
    }
    std::array<char, 32> out{};
    return {out.data(), std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string hash_text(const Hash256& hash) { return hash.is_zero() ? "" : to_hex(hash.view()); }

bool is_of(const AuditFacts& facts, const AccountId& account) {
    return facts.subject.kind != AuditSubject::Kind::kAccount || facts.subject.account == account;
}

/// The recipient zero stands for no account.
std::string recipient(const history::Paid& paid) {
    if (!paid.to.is_zero()) {
        return crypto::to_address(paid.to);
    }
    return paid.reason == contracts::Reason::kTax    ? "treasury"
           : paid.reason == contracts::Reason::kRoom ? "burned"
                                                     : "nobody";
}

std::string tasks_table(const AuditFacts& facts) {
    Csv out(
        {"task", "title", "state", "submitter", "solver", "reward_asy", "verification_fee_asy", "checkpoints",
         "submitted_height", "submitted_time", "last_height", "last_time", "records"}
    );
    for (const auto& [task, records] : facts.tasks) {
        const Height last = records.empty() ? task.submitted_at : records.back().height;
        out.add(
            {to_hex(task.id.view()), task.spec.title, contracts::to_string(task.state),
             crypto::to_address(task.submitter), task.solver ? crypto::to_address(*task.solver) : "",
             in_asy(task.spec.reward), in_asy(task.spec.verification_fee), std::to_string(task.checkpoints),
             std::to_string(task.submitted_at.value), time_of(facts, task.submitted_at), std::to_string(last.value),
             time_of(facts, last), std::to_string(records.size())}
        );
    }
    return out.text();
}

std::string payments_table(const AuditFacts& facts) {
    Csv out({"task", "record", "height", "time", "to", "amount_asy", "reason", "transaction"});
    for (const auto& [task, records] : facts.tasks) {
        for (const contracts::HistoryRecord& record : records) {
            const auto* paid = std::get_if<history::Paid>(&record.event);
            if (paid == nullptr || !is_of(facts, paid->to)) {
                continue;
            }
            out.add(
                {to_hex(task.id.view()), std::to_string(record.index), std::to_string(record.height.value),
                 time_of(facts, record.height), recipient(*paid), in_asy(paid->amount),
                 contracts::to_string(paid->reason), hash_text(record.tx)}
            );
        }
    }
    return out.text();
}

std::string penalties_table(const AuditFacts& facts) {
    Csv out(
        {"task", "record", "height", "time", "from", "amount_asy", "burned_asy", "reason", "segment", "dispute",
         "meaning"}
    );
    for (const auto& [task, records] : facts.tasks) {
        for (const Penalty& penalty : find_penalties(records)) {
            if (!is_of(facts, penalty.from)) {
                continue;
            }
            out.add(
                {to_hex(task.id.view()), std::to_string(penalty.index), std::to_string(penalty.height.value),
                 time_of(facts, penalty.height), crypto::to_address(penalty.from), in_asy(penalty.amount),
                 in_asy(penalty.burned), contracts::to_string(penalty.reason),
                 penalty.segment ? std::to_string(*penalty.segment) : "",
                 penalty.dispute ? to_hex(penalty.dispute->view()) : "", meaning(penalty)}
            );
        }
    }
    return out.text();
}

}  // namespace

std::vector<CsvTable> audit_tables(const AuditFacts& facts) {
    return {{"tasks", tasks_table(facts)}, {"payments", payments_table(facts)}, {"penalties", penalties_table(facts)}};
}

}  // namespace assay::client

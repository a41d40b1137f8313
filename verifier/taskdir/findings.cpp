// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/findings.hpp>

#include <algorithm>

namespace assay::taskdir {

const char* to_string(Severity severity) noexcept {
    switch (severity) {
        case Severity::kNote:
            return "note";
        case Severity::kWarning:
            return "warning";
        case Severity::kError:
            return "error";
    }
    return "";
}

std::string to_text(const Finding& finding) {
    if (finding.file.empty()) {
        return finding.message;
    }
    std::string out = finding.file;
    if (finding.line > 0) {
        out.append(":").append(std::to_string(finding.line));
    }
    if (!finding.key.empty()) {
        out.append(": ").append(finding.key);
    }
    return out.append(": ").append(finding.message);
}

std::size_t Findings::count(Severity severity) const {
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [severity](const Finding& f) {
        return f.severity == severity;
    }));
}

void Findings::throw_if_wrong() const {
    const auto first =
        std::find_if(all_.begin(), all_.end(), [](const Finding& f) { return f.severity == Severity::kError; });
    if (first == all_.end()) {
        return;
    }
    const std::size_t more = count(Severity::kError) - 1;
    std::string message = to_text(*first);
    if (more > 0) {
        message.append(" (and ").append(std::to_string(more)).append(" more; `assay task lint` lists them)");
    }
    throw TaskDirectoryError(message);
}

void Findings::add(Severity severity, const std::string& key, const std::string& message) {
    const auto line = lines_.find(key);
    all_.push_back({severity, file_, line == lines_.end() ? 0 : line->second, key, message});
}

}  // namespace assay::taskdir

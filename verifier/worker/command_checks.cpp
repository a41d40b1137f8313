// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/command_checks.hpp>

#include <cstdint>

#include <core/system/log/log.hpp>
#include <verifier/sandbox/option.hpp>
#include <verifier/sandbox/sandbox.hpp>
#include <verifier/worker/failure.hpp>

namespace assay::worker {

void set_listen(WorkerOptions& options, const std::string& listen) {
    const std::size_t colon = listen.rfind(':');
    if (colon == std::string::npos) {
        throw UsageError("--listen: \"" + listen + "\" has no port; give ADDRESS:PORT, as in 127.0.0.1:4000");
    }
    const std::string port = listen.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos ||
        std::stoul(port) > 65'535) {
        throw UsageError("--listen: \"" + port + "\" is not a port; give a number from 0 to 65535");
    }
    options.listen_address = listen.substr(0, colon);
    options.listen_port = static_cast<std::uint16_t>(std::stoul(port));
}

void check_owner(const WorkerOptions& options) {
    if (!options.owner) {
        return;
    }
    if (!options.partners.empty() || !options.lead_urls.empty()) {
        throw UsageError(
            "--owner cannot be used in a group: its members sign statements with the key of the account that has the "
            "seat; start the worker with that key, or leave out --partner and --lead"
        );
    }
    if (options.join_grains != 0) {
        throw UsageError(
            "--join bonds stake, which only the owner's key may do: bond with `assay stake bond whistleblower`, and "
            "leave out --join"
        );
    }
}

void check_sandbox() {
    if (sandbox::mode() == sandbox::Mode::kOff) {
        log::warning(sandbox::kOffWarning);
        return;
    }
    if (const auto refusal = sandbox::probe()) {
        throw FileError(refusal->message + "; " + sandbox::kAdvice);
    }
}

}  // namespace assay::worker

// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/spilled_state.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include <unistd.h>

#include <core/base/assert.hpp>

namespace assay::artifacts {
namespace {

std::runtime_error failure(const std::string& what) {
    return std::runtime_error("a state on disk cannot be " + what + ": " + std::strerror(errno));
}

/// Calls `move(done)`, which returns how many more bytes it moved, until all are.
template <class Move>
void move_all(std::size_t size, const char* what, Move move) {
    for (std::size_t done = 0; done < size;) {
        const ssize_t moved = move(done);
        if (moved > 0) {
            done += static_cast<std::size_t>(moved);
        } else if (moved == 0 || errno != EINTR) {
            throw failure(what);
        }
    }
}

}  // namespace

SpilledState::SpilledState(
    const std::filesystem::path& directory, std::size_t count,
    const std::function<canonical::Tensor(std::size_t)>& tensor
) {
    std::string name = (directory / "spilled-state-XXXXXX").string();
    file_ = mkstemp(name.data());
    if (file_ < 0) {
        throw failure("kept in " + directory.string());
    }
    unlink(name.c_str());
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const canonical::Tensor each = tensor(i);
        entries_.push_back({.type = {.dtype = each.dtype, .shape = each.shape}, .offset = end});
        move_all(each.data.size(), "written", [&](std::size_t done) {
            return pwrite(file_, each.data.data() + done, each.data.size() - done, static_cast<off_t>(end + done));
        });
        end += each.data.size();
    }
}

SpilledState::~SpilledState() {
    if (file_ >= 0) {
        close(file_);
    }
}

SpilledState::SpilledState(SpilledState&& other) noexcept
    : file_(std::exchange(other.file_, -1)), entries_(std::move(other.entries_)) {}

SpilledState& SpilledState::operator=(SpilledState&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(entries_, other.entries_);
    return *this;
}

canonical::Tensor SpilledState::load(std::size_t index) const {
    ASSERT(index < entries_.size());
    const Entry& entry = entries_[index];
    canonical::Tensor out = canonical::make_tensor(entry.type.dtype, entry.type.shape);
    move_all(out.data.size(), "read", [&](std::size_t done) {
        return pread(file_, out.data.data() + done, out.data.size() - done, static_cast<off_t>(entry.offset + done));
    });
    return out;
}

}  // namespace assay::artifacts

// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/partial_file.hpp>

#include <fcntl.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::artifacts {

PartialFile::PartialFile(const ContentStore& store, const Hash256& hash, std::uint64_t size_bytes)
    : store_(store),
      expected_(hash),
      size_bytes_(size_bytes),
      path_(store.partial_path(hash, size_bytes)),
      file_(path_, O_RDWR | O_CREAT),
      parts_((size_bytes + kPartBytes - 1) / kPartBytes, Part::kMissing) {
    if (!file_.try_lock()) {
        throw StoreError("cannot download into " + path_.string() + ": another download does");
    }
    const std::uint64_t found = file_.size_bytes();
    if (found == size_bytes && size_bytes != 0) {  // a crash in finish()
        std::fill(parts_.begin(), parts_.end(), Part::kDone);
    } else if (found == size_bytes + parts_.size()) {
        Bytes marks(parts_.size());
        file_.read_at(size_bytes, marks);
        std::transform(marks.begin(), marks.end(), parts_.begin(), [](std::uint8_t mark) {
            return mark == static_cast<std::uint8_t>(Part::kDone) ? Part::kDone : Part::kMissing;
        });
    } else {
        file_.resize(0);
    }
    file_.resize(size_bytes + parts_.size());
    done_ = static_cast<std::uint64_t>(std::count(parts_.begin(), parts_.end(), Part::kDone));
}

bool PartialFile::is_complete() const {
    const std::lock_guard lock(mutex_);
    return done_ == parts_.size();
}

std::uint64_t PartialFile::parts_done() const {
    const std::lock_guard lock(mutex_);
    return done_;
}

std::uint64_t PartialFile::end_of(std::uint64_t part) const { return std::min((part + 1) * kPartBytes, size_bytes_); }

std::optional<PartialFile::Claim> PartialFile::claim(std::uint64_t bytes_max) {
    const std::lock_guard lock(mutex_);
    const auto run_of = [this](Part state) {
        const auto first = std::find(parts_.begin(), parts_.end(), state);
        return std::pair(first, std::find_if(first, parts_.end(), [state](Part part) { return part != state; }));
    };
    auto [first, end] = run_of(Part::kMissing);
    if (first == end) {
        std::tie(first, end) = run_of(Part::kClaimed);
        first += (end - first) / 2;
    }
    if (first == end) {
        return std::nullopt;
    }
    const std::uint64_t count_max =
        std::max<std::uint64_t>(1, bytes_max / kPartBytes + (bytes_max % kPartBytes != 0 ? 1 : 0));
    const auto count = std::min<std::uint64_t>(count_max, static_cast<std::uint64_t>(end - first));
    std::fill_n(first, count, Part::kClaimed);
    const auto part = static_cast<std::uint64_t>(first - parts_.begin());
    return Claim{.first = part * kPartBytes, .end = end_of(part + count - 1)};
}

bool PartialFile::write(std::uint64_t offset, ByteView bytes) {
    ASSERT(!bytes.empty() && offset + bytes.size() <= size_bytes_);
    const std::uint64_t first = offset / kPartBytes;
    {
        const std::lock_guard lock(mutex_);
        if (parts_[first] == Part::kDone) {
            return false;
        }
    }
    file_.write_at(offset, bytes);
    const std::uint64_t end = offset + bytes.size();
    for (std::uint64_t part = first; part < parts_.size() && end_of(part) <= end; ++part) {
        complete(part);
    }
    return true;
}

void PartialFile::complete(std::uint64_t part) {
    const std::lock_guard lock(mutex_);
    const auto mark = static_cast<std::uint8_t>(Part::kDone);
    file_.write_at(size_bytes_ + part, {&mark, 1});
    done_ += parts_[part] == Part::kDone ? 0U : 1U;
    parts_[part] = Part::kDone;
    hash_what_is_there();
}

void PartialFile::hash_what_is_there() {
    Bytes bytes;
    for (; hashed_ < parts_.size() && parts_[hashed_] == Part::kDone; ++hashed_) {
        bytes.resize(end_of(hashed_) - hashed_ * kPartBytes);
        file_.read_at(hashed_ * kPartBytes, bytes);
        hash_.update(bytes);
    }
}

void PartialFile::release(const Claim& claim) {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t part = claim.first / kPartBytes; part < parts_.size() && end_of(part) <= claim.end; ++part) {
        if (parts_[part] == Part::kClaimed) {
            parts_[part] = Part::kMissing;
        }
    }
}

bool PartialFile::finish() {
    bool is_right = false;
    {
        const std::lock_guard lock(mutex_);
        ASSERT(done_ == parts_.size());
        hash_what_is_there();
        is_right = hash_.finish() == expected_;
    }
    if (!is_right) {
        clear();
        return false;
    }
    file_.resize(size_bytes_);
    file_.sync();
    store_.adopt(path_, expected_);
    return true;
}

void PartialFile::clear() {
    const std::lock_guard lock(mutex_);
    file_.resize(0);
    file_.resize(size_bytes_ + parts_.size());
    std::fill(parts_.begin(), parts_.end(), Part::kMissing);
    done_ = hashed_ = 0;
    hash_ = crypto::Sha256();
}

}  // namespace assay::artifacts

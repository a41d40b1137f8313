// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/partial_file.hpp>

#include <fcntl.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include <core/base/assert.hpp>
#include <core/sealed/files/check.hpp>
#include <verifier/artifacts/sealing.hpp>

namespace assay::artifacts {
namespace {

/// From this size on a file is hashed while more of it arrives.
constexpr std::uint64_t kHasherBytes = 8U << 20U;

}  // namespace

UncheckedParts::UncheckedParts(std::uint64_t size_bytes) {
    for (std::uint64_t end = 0; end < size_bytes;) {
        end += std::min(kPartBytes, size_bytes - end);
        ends_.push_back(end);
    }
}

bool SealedParts::is_right(const File& file, std::uint64_t size_bytes, const Hash256& name) const {
    const auto root = sealed::check_sealed(FileSource(file, size_bytes));
    return root && *root == name;
}

PartialFile::PartialFile(const ContentStore& store, const Hash256& name, std::shared_ptr<const PartPlan> plan)
    : store_(store),
      name_(name),
      plan_(std::move(plan)),
      size_bytes_(plan_->ends().empty() ? 0 : plan_->ends().back()),
      path_(store.partial_path(name, size_bytes_).string() + plan_->mark()),
      file_(path_, O_RDWR | O_CREAT),
      parts_(plan_->ends().size(), Part::kMissing) {
    if (!file_.try_lock()) {
        throw StoreError("cannot download into " + path_.string() + ": another download does");
    }
    const std::uint64_t found = file_.size_bytes();
    if (found == size_bytes_ && size_bytes_ != 0) {  // a crash in finish()
        std::fill(parts_.begin(), parts_.end(), Part::kDone);
    } else if (found == size_bytes_ + parts_.size()) {
        Bytes marks(parts_.size());
        file_.read_at(size_bytes_, marks);
        std::transform(marks.begin(), marks.end(), parts_.begin(), [](std::uint8_t mark) {
            return mark == static_cast<std::uint8_t>(Part::kDone) ? Part::kDone : Part::kMissing;
        });
    } else {
        file_.resize(0);
    }
    file_.resize(size_bytes_ + parts_.size());
    check_marked();
    done_ = static_cast<std::uint64_t>(std::count(parts_.begin(), parts_.end(), Part::kDone));
    if (plan_->needs_hash() && size_bytes_ >= kHasherBytes) {
        hasher_ = std::thread([this] { run_hasher(); });
    }
}

PartialFile::~PartialFile() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    changed_.notify_all();
    if (hasher_.joinable()) {
        hasher_.join();
    }
}

void PartialFile::check_marked() {
    for (std::uint64_t part = 0; !plan_->needs_hash() && part < parts_.size(); ++part) {
        if (parts_[part] == Part::kDone && !plan_->is_right(part, file_)) {
            parts_[part] = Part::kMissing;
        }
    }
}

bool PartialFile::is_complete() const {
    const std::lock_guard lock(mutex_);
    return done_ == parts_.size();
}

std::uint64_t PartialFile::parts_done() const {
    const std::lock_guard lock(mutex_);
    return done_;
}

std::uint64_t PartialFile::part_at(std::uint64_t offset) const {
    const auto& ends = plan_->ends();
    return static_cast<std::uint64_t>(std::upper_bound(ends.begin(), ends.end(), offset) - ends.begin());
}

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
    const std::uint64_t begin = plan_->begin_of(static_cast<std::uint64_t>(first - parts_.begin()));
    std::uint64_t claimed_end = begin;
    for (; first != end && (claimed_end == begin || claimed_end - begin < bytes_max); ++first) {
        *first = Part::kClaimed;
        claimed_end = plan_->ends()[static_cast<std::size_t>(first - parts_.begin())];
    }
    return Claim{.first = begin, .end = claimed_end};
}

PartialFile::Written PartialFile::write(std::uint64_t offset, ByteView bytes) {
    ASSERT(!bytes.empty() && offset + bytes.size() <= size_bytes_);
    // Locked from the first byte to the mark: nobody else writes into a part that has been checked.
    std::unique_lock lock(mutex_);
    while (!bytes.empty()) {
        const std::uint64_t part = part_at(offset);
        if (parts_[part] == Part::kDone) {
            return Written::kNotNeeded;
        }
        const std::uint64_t end = plan_->ends()[part];
        const ByteView piece = bytes.first(std::min<std::uint64_t>(bytes.size(), end - offset));
        file_.write_at(offset, piece);
        offset += piece.size();
        bytes = bytes.subspan(piece.size());
        if (offset == end) {
            if (!plan_->is_right(part, file_)) {
                return Written::kWrong;
            }
            mark_done(part);
            if (hasher_.joinable()) {
                changed_.notify_all();
            } else {
                hash_what_is_there(lock);
            }
        }
    }
    return Written::kTaken;
}

void PartialFile::mark_done(std::uint64_t part) {
    const auto mark = static_cast<std::uint8_t>(Part::kDone);
    file_.write_at(size_bytes_ + part, {&mark, 1});
    ++done_;
    parts_[part] = Part::kDone;
}

bool PartialFile::is_next_there() const { return hashed_ < parts_.size() && parts_[hashed_] == Part::kDone; }

void PartialFile::hash_what_is_there(std::unique_lock<std::mutex>& lock) {
    Bytes bytes;
    while (plan_->needs_hash() && !is_hashing_ && !is_over_ && is_next_there()) {
        const std::uint64_t begin = plan_->begin_of(hashed_);
        bytes.resize(plan_->ends()[hashed_] - begin);
        is_hashing_ = true;
        lock.unlock();
        std::exception_ptr thrown;
        try {
            file_.read_at(begin, bytes);  // nobody writes into a part that is complete
            hash_.update(bytes);
        } catch (...) {
            thrown = std::current_exception();
        }
        lock.lock();
        is_hashing_ = false;
        changed_.notify_all();
        if (thrown) {
            std::rethrow_exception(thrown);
        }
        ++hashed_;
    }
}

void PartialFile::run_hasher() {
    std::unique_lock lock(mutex_);
    while (!is_over_ && !thrown_) {
        try {
            hash_what_is_there(lock);
        } catch (...) {
            thrown_ = std::current_exception();
            changed_.notify_all();
            return;
        }
        changed_.wait(lock, [this] { return is_over_ || is_next_there(); });
    }
}

void PartialFile::release(const Claim& claim) {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t part = part_at(claim.first); part < parts_.size() && plan_->ends()[part] <= claim.end; ++part) {
        if (parts_[part] == Part::kClaimed) {
            parts_[part] = Part::kMissing;
        }
    }
}

bool PartialFile::finish() {
    bool is_right = false;
    {
        std::unique_lock lock(mutex_);
        ASSERT(done_ == parts_.size());
        if (hasher_.joinable()) {
            changed_.wait(lock, [this] { return thrown_ || (!is_hashing_ && hashed_ == parts_.size()); });
        } else {
            hash_what_is_there(lock);
        }
        if (thrown_) {
            std::rethrow_exception(thrown_);
        }
        is_right = plan_->needs_hash() ? hash_.finish() == name_ : plan_->is_right(file_, size_bytes_, name_);
    }
    if (!is_right) {
        clear();
        return false;
    }
    file_.resize(size_bytes_);
    if (!plan_->needs_hash()) {
        file_.sync();
    }
    store_.adopt(path_, name_);
    return true;
}

void PartialFile::clear() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_hashing_; });
    file_.resize(0);
    file_.resize(size_bytes_ + parts_.size());
    std::fill(parts_.begin(), parts_.end(), Part::kMissing);
    done_ = hashed_ = 0;
    hash_ = crypto::Sha256();
}

}  // namespace assay::artifacts

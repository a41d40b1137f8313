// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/hash_batch.hpp>

#include <algorithm>
#include <utility>

#ifdef ASSAY_MULTI_BUFFER
#include <memory>
#include <mutex>

#include <intel-ipsec-mb.h>
#endif

namespace assay::crypto {
namespace {

// Enough for 16 lanes of 8 KiB, and little enough to stay in a core's cache.
constexpr std::size_t kWaitingMax = std::size_t{128} << 10U;

#ifdef ASSAY_MULTI_BUFFER

struct FreeManager {
    void operator()(IMB_MGR* manager) const noexcept { ::free_mb_mgr(manager); }
};
using Manager = std::unique_ptr<IMB_MGR, FreeManager>;

// Null if the processor does not have what the library needs.
Manager make_manager() {
    Manager manager(::alloc_mb_mgr(0));
    if (!manager) {
        return nullptr;
    }
    if ((manager->features & IMB_FEATURE_SHANI) != 0) {
        // The widest vectors are as fast when all of their lanes are full, and several times slower when few are.
        ::init_mb_mgr_sse(manager.get());
    } else {
        ::init_mb_mgr_auto(manager.get(), nullptr);
    }
    return ::imb_get_errno(manager.get()) == 0 ? std::move(manager) : nullptr;
}

// A manager takes 200 KB and a third of a millisecond to make, and serves one thread at a time.
class Managers {
  public:
    // Null if this processor cannot have one.
    Manager take() {
        const std::scoped_lock lock(mutex_);
        if (!free_.empty()) {
            Manager manager = std::move(free_.back());
            free_.pop_back();
            return manager;
        }
        Manager manager = can_make_ ? make_manager() : nullptr;
        can_make_ = manager != nullptr;
        return manager;
    }
    void give_back(Manager manager) {
        if (manager) {
            const std::scoped_lock lock(mutex_);
            free_.push_back(std::move(manager));
        }
    }

  private:
    std::mutex mutex_;
    std::vector<Manager> free_;
    bool can_make_ = true;
};

// Hashes what ends at `ends`; returns false if it cannot.
bool hash_all(ByteView data, const std::vector<std::size_t>& ends, Hash256* out) {
    static Managers managers;
    Manager manager = managers.take();
    if (!manager) {
        return false;
    }
    std::size_t done = 0;
    bool is_right = true;
    const auto note = [&](const IMB_JOB* job) {
        if (job != nullptr) {
            is_right = is_right && job->status == IMB_STATUS_COMPLETED;
            ++done;
        }
    };
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        IMB_JOB* const job = IMB_GET_NEXT_JOB(manager.get());
        *job = {};
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->cipher_mode = IMB_CIPHER_NULL;
        job->cipher_direction = IMB_DIR_ENCRYPT;
        job->hash_alg = IMB_AUTH_SHA_256;
        job->src = data.data() + begin;
        job->msg_len_to_hash_in_bytes = ends[i] - begin;
        job->auth_tag_output = out[i].data.data();
        job->auth_tag_output_len_in_bytes = Hash256::kSizeBytes;
        begin = ends[i];
        note(IMB_SUBMIT_JOB(manager.get()));
        while (const IMB_JOB* const other = IMB_GET_COMPLETED_JOB(manager.get())) {
            note(other);
        }
    }
    while (const IMB_JOB* const job = IMB_FLUSH_JOB(manager.get())) {
        note(job);
    }
    managers.give_back(std::move(manager));
    return is_right && done == ends.size();
}

#else

bool hash_all(ByteView /*data*/, const std::vector<std::size_t>& /*ends*/, Hash256* /*out*/) { return false; }

#endif

}  // namespace

void HashBatch::add_rows(ByteView data, std::size_t row_bytes, std::size_t stride, std::size_t rows) {
    append(waiting_, tag_.prefix());
    const std::size_t begin = waiting_.size();
    waiting_.resize(begin + rows * row_bytes);
    for (std::size_t row = 0; row < rows; ++row) {
        const ByteView values = data.subspan(row * stride, row_bytes);
        std::copy(
            values.begin(), values.end(), waiting_.begin() + static_cast<std::ptrdiff_t>(begin + row * row_bytes)
        );
    }
    ends_.push_back(waiting_.size());
    if (waiting_.size() >= kWaitingMax) {
        hash_waiting();
    }
}

std::vector<Hash256> HashBatch::finish() {
    hash_waiting();
    return std::exchange(done_, {});
}

void HashBatch::hash_waiting() {
    const std::size_t first = done_.size();
    done_.resize(first + ends_.size());
    if (ends_.size() < 2 || !hash_all(waiting_, ends_, done_.data() + first)) {
        std::size_t begin = 0;
        for (std::size_t i = 0; i < ends_.size(); ++i) {
            done_[first + i] = sha256(ByteView(waiting_).subspan(begin, ends_[i] - begin));
            begin = ends_[i];
        }
    }
    waiting_.clear();
    ends_.clear();
}

}  // namespace assay::crypto

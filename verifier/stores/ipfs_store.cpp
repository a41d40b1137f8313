// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/crypto/hash.hpp>
#include <verifier/stores/block_index.hpp>
#include <verifier/stores/cid.hpp>
#include <verifier/stores/kinds.hpp>

namespace assay::stores {
namespace {

constexpr const char* kGatewayHere = "http://127.0.0.1:8080";
constexpr const char* kApiHere = "http://127.0.0.1:5001";

std::string or_of_environment(const std::string& given, const char* name, const char* otherwise) {
    const char* value = given.empty() ? std::getenv(name) : given.c_str();
    return value == nullptr || *value == '\0' ? otherwise : value;
}

/// Reads by the interface of trustless gateways, and writes by the RPC of Kubo.
class IpfsStore final : public Store {
  public:
    explicit IpfsStore(const IpfsLocation& at)
        : Store(encode_location(at)),
          at_(at),
          gateway_(or_of_environment(at.gateway, "ASSAY_IPFS_GATEWAY", kGatewayHere)),
          api_(or_of_environment(at.api, "ASSAY_IPFS_API", kApiHere)) {}

    ReadEnd read(
        const ObjectName& object, std::uint64_t first, std::optional<std::uint64_t> last, const http::BodySink& sink,
        const http::HttpLimits& limits
    ) override {
        if (const ReadEnd got = learn_index(limits); got != ReadEnd::kDone) {
            return got;
        }
        const IndexEntry* entry = index_->find(object.artifact, object.is_leaves);
        if (entry == nullptr) {
            return ReadEnd::kMissing;
        }
        const std::uint64_t end = last ? std::min(*last + 1, entry->size_bytes) : entry->size_bytes;
        while (first < end) {
            const std::uint64_t number = first / kBlockBytes;
            Hash256 hash;
            if (const ReadEnd got = hash_of(*entry, number, limits, hash); got != ReadEnd::kDone) {
                return got;
            }
            const std::uint64_t begin = number * kBlockBytes;
            std::string block;
            if (const ReadEnd got = get_block(hash, limits, block); got != ReadEnd::kDone) {
                return got;
            }
            if (block.size() != std::min(kBlockBytes, entry->size_bytes - begin)) {
                return ReadEnd::kWrong;
            }
            const std::uint64_t stop = std::min<std::uint64_t>(end - begin, block.size());
            const ByteView piece = as_bytes(block).subspan(first - begin, stop - (first - begin));
            if (!sink(first, piece)) {
                break;
            }
            first += piece.size();
        }
        return ReadEnd::kDone;
    }

    std::optional<std::uint64_t> size_of(const ObjectName& object, const http::HttpLimits& limits) override {
        const bool is_known = learn_index(limits) == ReadEnd::kDone;
        const IndexEntry* entry = is_known ? index_->find(object.artifact, object.is_leaves) : nullptr;
        return entry == nullptr ? std::nullopt : std::optional(entry->size_bytes);
    }

    void put(const ObjectName& object, const std::filesystem::path& file, const Progress& progress) override {
        need_index();
        std::ifstream in(file, std::ios::binary);
        if (!in) {
            throw StoreRefused(RefusalKind::kMissing, "cannot read " + file.string());
        }
        IndexEntry entry{.artifact = object.artifact, .is_leaves = object.is_leaves, .size_bytes = 0, .lists = {}};
        Bytes block(kBlockBytes);
        Bytes list;
        while (in.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(block.size())) ||
               in.gcount() > 0) {
            const auto size = static_cast<std::size_t>(in.gcount());
            append(list, put_block(ByteView(block).first(size)).view());
            entry.size_bytes += size;
            if (list.size() == kBlockBytes) {
                entry.lists.push_back(put_block(std::exchange(list, {})));
            }
            if (progress) {
                progress(size);
            }
        }
        if (!list.empty()) {
            entry.lists.push_back(put_block(list));
        }
        index_->put(std::move(entry));
    }

    /// The address of the node's RPC is nobody else's business.
    std::string finish() override {
        need_index();
        const Bytes bytes = encode_block_index(*index_);
        if (bytes.size() > kBlockBytes) {
            throw StoreRefused(
                RefusalKind::kUnable, location() + ": one location takes at most some ten thousand artifacts"
            );
        }
        return encode_location(IpfsLocation{.index = put_block(bytes), .gateway = at_.gateway});
    }

    std::vector<StoredEntry> list() override {
        need_index();
        std::vector<StoredEntry> out;
        for (const IndexEntry& entry : index_->entries) {
            if (!entry.is_leaves) {
                const bool is_pinned = entry.lists.empty() || is_block_pinned(entry.lists.front());
                out.push_back({.artifact = entry.artifact, .size_bytes = entry.size_bytes, .is_pinned = is_pinned});
            }
        }
        return out;
    }

    void set_pinned(const Hash256& artifact, bool is_pinned) override {
        need_index();
        bool is_known = false;
        for (const bool is_leaves : {false, true}) {
            if (const IndexEntry* entry = index_->find(artifact, is_leaves)) {
                is_known = true;
                pin_blocks(*entry, is_pinned);
            }
        }
        if (!is_known) {
            throw StoreRefused(RefusalKind::kMissing, location() + " does not list " + to_hex(artifact.view()));
        }
        if (is_pinned) {
            pin_block(*at_.index, true);
        }
    }

    /// The node deletes blocks that nobody has pinned when it collects its own garbage.
    void remove(const Hash256& artifact) override { set_pinned(artifact, false); }

  private:
    http::HttpLimits limits_of(const http::HttpLimits& limits, std::uint64_t body_max) const {
        http::HttpLimits out = limits;
        out.body_max = body_max;
        out.public_only = limits.public_only && !at_.gateway.empty();  // otherwise it is the machine's own
        return out;
    }

    ReadEnd get_block(const Hash256& hash, const http::HttpLimits& limits, std::string& block) const {
        const http::HttpCall call{
            .url = gateway_ + "/ipfs/" + encode_cid(hash) + "?format=raw",
            .fields = {{"Accept", "application/vnd.ipld.raw"}}};
        try {
            http::HttpResponse answer = http::http_call(call, limits_of(limits, kBlockBytes));
            if (answer.status != 200) {
                return ReadEnd::kMissing;
            }
            block = std::move(answer.body);
        } catch (const http::NetTooLarge&) {
            return ReadEnd::kWrong;
        }
        return crypto::sha256(as_bytes(block)) == hash ? ReadEnd::kDone : ReadEnd::kWrong;
    }

    ReadEnd learn_index(const http::HttpLimits& limits) {
        if (index_) {
            return ReadEnd::kDone;
        }
        if (!at_.index) {
            return ReadEnd::kMissing;
        }
        std::string block;
        const ReadEnd got = get_block(*at_.index, limits, block);
        if (got == ReadEnd::kDone) {
            index_ = decode_block_index(as_bytes(block));
        }
        return got == ReadEnd::kDone && !index_ ? ReadEnd::kWrong : got;
    }

    /// Before writing: a location without an index begins with an empty one.
    void need_index() {
        if (!at_.index && !index_) {
            index_.emplace();
        }
        const ReadEnd got = learn_index(limits());
        if (got != ReadEnd::kDone) {
            throw StoreRefused(
                got == ReadEnd::kMissing ? RefusalKind::kMissing : RefusalKind::kRefused,
                location() + ": " + gateway_ + " does not give the block that lists what is there" +
                    (got == ReadEnd::kWrong ? ", but another" : "; name another with gateway=URL")
            );
        }
    }

    ReadEnd hash_of(const IndexEntry& entry, std::uint64_t block, const http::HttpLimits& limits, Hash256& hash) {
        const std::uint64_t number = block / kHashesPerList;
        const Hash256& list = entry.lists[number];
        auto known = lists_.find(list);
        if (known == lists_.end()) {
            std::string bytes;
            if (const ReadEnd got = get_block(list, limits, bytes); got != ReadEnd::kDone) {
                return got;
            }
            const std::uint64_t left = block_count(entry.size_bytes) - number * kHashesPerList;
            auto hashes = decode_block_list(as_bytes(bytes), std::min(left, kHashesPerList));
            if (!hashes) {
                return ReadEnd::kWrong;
            }
            known = lists_.emplace(list, *std::move(hashes)).first;
        }
        hash = known->second[block % kHashesPerList];
        return ReadEnd::kDone;
    }

    http::HttpResponse rpc(const std::string& target, ByteView body = {}, bool is_form = false) const {
        http::HttpResponse answer = http::http_call(
            {.method = "POST", .url = api_ + "/api/v0/" + target, .body = body, .is_form = is_form}, limits()
        );
        if (answer.status == 401 || answer.status == 403) {
            throw StoreRefused(
                RefusalKind::kCredentials, location() + ": the node at " + api_ +
                                               " lets nobody write from here (status " + std::to_string(answer.status) +
                                               "): its API.Authorizations, or a proxy before it, decide"
            );
        }
        return answer;
    }

    Hash256 put_block(ByteView bytes) const {
        const Hash256 hash = crypto::sha256(bytes);
        const auto answer = rpc("block/put?cid-codec=raw&mhtype=sha2-256&pin=true", bytes, true);
        const auto json = nlohmann::json::parse(answer.body, nullptr, false);
        const bool is_named = json.is_object() && json.contains("Key") && json["Key"].is_string();
        if (answer.status != 200 || !is_named || json["Key"] != encode_cid(hash)) {
            throw StoreRefused(
                RefusalKind::kRefused, location() + ": the node at " + api_ + " did not take a block (status " +
                                           std::to_string(answer.status) + "), or gave it another name than its CID"
            );
        }
        return hash;
    }

    void pin_blocks(const IndexEntry& entry, bool is_pinned) {
        for (std::uint64_t block = 0; block < block_count(entry.size_bytes); ++block) {
            Hash256 hash;
            if (hash_of(entry, block, limits(), hash) != ReadEnd::kDone) {
                throw StoreRefused(
                    RefusalKind::kMissing, location() + ": " + gateway_ + " does not give a list of blocks"
                );
            }
            pin_block(hash, is_pinned);
        }
        for (const Hash256& list : entry.lists) {
            pin_block(list, is_pinned);
        }
    }

    void pin_block(const Hash256& hash, bool is_pinned) const {
        const auto answer = rpc(std::string(is_pinned ? "pin/add" : "pin/rm") + "?arg=" + encode_cid(hash));
        const bool is_not_pinned = !is_pinned && answer.body.find("not pinned") != std::string::npos;
        if (answer.status != 200 && !is_not_pinned) {
            throw StoreRefused(
                RefusalKind::kRefused, location() + ": the node at " + api_ + " does not " +
                                           (is_pinned ? "pin " : "unpin ") + encode_cid(hash) + " (status " +
                                           std::to_string(answer.status) + ")"
            );
        }
    }

    bool is_block_pinned(const Hash256& hash) const { return rpc("pin/ls?arg=" + encode_cid(hash)).status == 200; }

    IpfsLocation at_;
    std::string gateway_;
    std::string api_;
    std::optional<BlockIndex> index_;
    std::map<Hash256, std::vector<Hash256>> lists_;
};

}  // namespace

std::unique_ptr<Store> make_ipfs_store(const IpfsLocation& location) { return std::make_unique<IpfsStore>(location); }

}  // namespace assay::stores

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <core/crypto/hash.hpp>
#include <core/crypto/md5.hpp>
#include <verifier/stores/kinds.hpp>
#include <verifier/stores/s3_answers.hpp>

namespace assay::stores {
namespace {

/// What one request of a multipart upload carries, unless there would be more parts than services take.
constexpr std::uint64_t kPartBytes = 16U << 20U;
constexpr std::uint64_t kPartsMax = 10'000;
constexpr std::uint64_t kSenders = 4;  // of parts; each has one in memory
constexpr int kAttempts = 3;
constexpr std::chrono::milliseconds kPause{200};  // before the second attempt; the third waits for twice as long

/// RFC 3986: what is no unreserved character, as a signature wants it in a query.
std::string escaped(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const bool is_plain = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' ||
                              c == '.' || c == '_' || c == '~';
        const auto byte = static_cast<unsigned char>(c);
        out += is_plain ? std::string(1, c) : std::string{'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
    return out;
}

/// The URL of the bucket, without a slash at its end.
std::string url_of_bucket(const S3Location& at) {
    const std::string endpoint = at.endpoint.empty() ? "https://s3." + at.region + ".amazonaws.com" : at.endpoint;
    if (at.style == S3Location::Style::kPath) {
        return endpoint + "/" + at.bucket;
    }
    const std::size_t host = endpoint.find("://") + 3;
    return endpoint.substr(0, host) + at.bucket + "." + endpoint.substr(host);
}

/// The service answered that it has a problem of its own.
class ServiceDown final : public StoreRefused {
  public:
    using StoreRefused::StoreRefused;
};

/// The ETag of a part, as services name one that they keep unencrypted or under their own keys.
std::string tag_of(const Bytes& part) { return "\"" + to_hex(crypto::md5(part)) + "\""; }

using Uploads = std::vector<S3OpenUpload>;

class S3Store final : public Store {
  public:
    S3Store(const S3Location& at, const std::optional<Credentials>& credentials)
        : Store(encode_location(at)),
          at_(at),
          credentials_(credentials),
          bucket_(url_of_bucket(at)),
          prefix_(at.prefix.empty() ? "" : at.prefix + "/") {}

    ReadEnd read(
        const ObjectName& object, std::uint64_t first, std::optional<std::uint64_t> last, const http::BodySink& sink,
        const http::HttpLimits& limits
    ) override {
        return read_url(call("GET", path_of(object)), first, last, sink, limits);
    }

    std::optional<std::uint64_t> size_of(const ObjectName& object, const http::HttpLimits& limits) override {
        return size_at_url(call("GET", path_of(object)), limits);
    }

    void put(const ObjectName& object, const std::filesystem::path& file, const Progress& progress) override {
        std::ifstream in(file, std::ios::binary);
        std::error_code error;
        const std::uint64_t size_bytes = std::filesystem::file_size(file, error);
        if (!in || error) {
            throw StoreRefused(RefusalKind::kMissing, "cannot read " + file.string());
        }
        const auto note = [&](std::uint64_t bytes) {
            if (progress) {
                progress(bytes);
            }
        };
        if (size_bytes <= kPartBytes) {
            send("PUT", path_of(object), "", next_part(in, file, size_bytes));
            note(size_bytes);
            return;
        }
        put_in_parts(file, path_of(object), size_bytes, note);
    }

    std::vector<StoredEntry> list() override {
        std::map<Hash256, StoredEntry> found;
        std::set<Hash256> pinned;
        std::string token;
        do {
            // The parameters in the order of their names, as the signature has them.
            const std::string query = (token.empty() ? "" : "continuation-token=" + escaped(token) + "&") +
                                      "list-type=2&prefix=" + escaped(prefix_);
            const auto listing = decode_s3_listing(send("GET", "", query, {}).body);
            if (!listing) {
                throw StoreRefused(RefusalKind::kRefused, location() + ": the service's list is not what S3 answers");
            }
            for (const S3Object& object : listing->objects) {
                note(object, found, pinned);
            }
            token = listing->next;
        } while (!token.empty());
        std::vector<StoredEntry> out;
        for (auto& [artifact, entry] : found) {
            entry.is_pinned = pinned.contains(artifact);
            out.push_back(entry);
        }
        return out;
    }

    void set_pinned(const Hash256& artifact, bool is_pinned) override {
        if (is_pinned) {
            send("PUT", pin_path_of(artifact), "", to_bytes("pinned\n"));
        } else {
            send("DELETE", pin_path_of(artifact), "", {});
        }
    }

    void remove(const Hash256& artifact) override {
        send("DELETE", path_of({artifact, true}), "", {});
        send("DELETE", path_of({artifact, false}), "", {});
    }

  private:
    /// `name` is below the prefix; empty: the bucket itself.
    http::HttpCall call(
        const std::string& method, const std::string& name, const std::string& query = "", ByteView body = {}
    ) const {
        http::HttpCall out{.method = method, .url = bucket_ + "/" + (name.empty() ? "" : prefix_ + name), .body = body};
        out.url += query.empty() ? "" : "?" + query;
        if (!body.empty()) {
            out.fields.emplace_back("Content-Type", "application/octet-stream");
        }
        if (credentials_) {
            out.signing = http::HttpSigning{
                .key_id = credentials_->key_id,
                .secret = credentials_->secret,
                .session_token = credentials_->session_token,
                .region = at_.region,
                .payload_sha256 = to_hex(crypto::sha256(body).view())};
        }
        return out;
    }

    /// Makes a request, anew if nobody answered or the service says that it has a problem.
    http::HttpResponse send(
        const std::string& method, const std::string& name, const std::string& query, const Bytes& body
    ) const {
        for (int attempt = 1;; ++attempt) {
            try {
                auto answer = http::http_call(call(method, name, query, body), limits());
                const bool is_missing = answer.status == 404 && method == "DELETE";
                if (answer.status / 100 == 2 || is_missing) {
                    return answer;
                }
                if (answer.status / 100 != 5 || attempt == kAttempts) {
                    refuse(method, name, answer);
                }
            } catch (const http::NetError&) {
                if (attempt == kAttempts || is_stopped()) {
                    throw;
                }
            }
            std::this_thread::sleep_for(kPause * attempt);
        }
    }

    [[noreturn]] void refuse(const std::string& method, const std::string& name, const http::HttpResponse& answer)
        const {
        const auto said = decode_s3_error(answer.body);
        std::string text = location() + ": the service refuses " + method + " of " +
                           (name.empty() ? "the bucket" : "\"" + prefix_ + name + "\"") + " with status " +
                           std::to_string(answer.status) + (said ? " (" + *said + ")" : "");
        if (answer.status == 401 || answer.status == 403) {
            text += credentials_ ? "; do the credentials belong to this service, and may they do this?"
                                 : "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE";
            throw StoreRefused(RefusalKind::kCredentials, text);
        }
        if (answer.status == 404) {
            throw StoreRefused(RefusalKind::kMissing, text + "; does the bucket exist?");
        }
        if (answer.status / 100 == 5) {
            throw ServiceDown(RefusalKind::kRefused, text);
        }
        throw StoreRefused(RefusalKind::kRefused, text);
    }

    static Bytes next_part(std::ifstream& in, const std::filesystem::path& file, std::uint64_t size_bytes) {
        Bytes out(size_bytes);
        in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(size_bytes));
        if (static_cast<std::uint64_t>(in.gcount()) != size_bytes) {
            throw StoreRefused(RefusalKind::kRefused, file.string() + " became shorter while it was read");
        }
        return out;
    }

    /// One upload in parts.
    struct Upload {
        const std::filesystem::path& file;
        const std::string& name;
        std::string id;  ///< as the query has it
        std::uint64_t size_bytes = 0;
        std::uint64_t part_bytes = 0;
        std::atomic<std::uint64_t> next = 0;  ///< part, from 0 on
        std::mutex mutex{};
        std::map<std::uint64_t, std::string> tags{};  ///< by part
        std::map<std::uint64_t, std::string> kept{};  ///< what an earlier call has sent, likewise
        std::exception_ptr failure{};                 ///< the first

        std::uint64_t parts() const { return (size_bytes + part_bytes - 1) / part_bytes; }
    };

    /// Sends parts until there is none left, or one cannot be sent.
    void send_parts(Upload& upload, const std::function<void(std::uint64_t)>& note) const {
        try {
            std::ifstream in(upload.file, std::ios::binary);
            for (std::uint64_t part = upload.next++; part < upload.parts(); part = upload.next++) {
                const std::uint64_t begin = part * upload.part_bytes;
                in.seekg(static_cast<std::streamoff>(begin));
                const Bytes bytes = next_part(in, upload.file, std::min(upload.part_bytes, upload.size_bytes - begin));
                std::string tag = tag_of(bytes);
                const auto kept = upload.kept.find(part);
                if (kept == upload.kept.end() || kept->second != tag) {
                    std::string query = "partNumber=" + std::to_string(part + 1);
                    query += "&" + upload.id;
                    tag = named_tag(send("PUT", upload.name, query, bytes));
                }
                const std::lock_guard lock(upload.mutex);
                upload.tags[part] = std::move(tag);
                note(bytes.size());
            }
        } catch (...) {
            upload.next = upload.parts();
            const std::lock_guard lock(upload.mutex);
            upload.failure = upload.failure ? upload.failure : std::current_exception();
        }
    }

    std::string named_tag(const http::HttpResponse& answer) const {
        const auto tag = std::find_if(answer.fields.begin(), answer.fields.end(), [](const auto& field) {
            return field.first == "etag";
        });
        if (tag == answer.fields.end() || tag->second.find_first_of("<&") != std::string::npos) {
            throw StoreRefused(RefusalKind::kRefused, location() + ": the service names no ETag of a part");
        }
        return tag->second;
    }

    void complete(const Upload& upload) const {
        std::string parts = "<CompleteMultipartUpload>";
        for (const auto& [part, tag] : upload.tags) {
            parts += "<Part><PartNumber>" + std::to_string(part + 1) + "</PartNumber><ETag>" + tag + "</ETag></Part>";
        }
        const auto answer = send("POST", upload.name, upload.id, to_bytes(parts + "</CompleteMultipartUpload>"));
        if (const auto error = decode_s3_error(answer.body)) {
            throw StoreRefused(RefusalKind::kRefused, location() + ": the upload was not completed: " + *error);
        }
    }

    /// The upload of this object that an earlier call has begun last and did not end; empty if there is none, or the
    /// service does not list them.
    std::string open_upload(const std::string& name) const {
        S3OpenUpload last;
        try {
            const std::string query = "prefix=" + escaped(prefix_ + name) + "&uploads=";
            for (const S3OpenUpload& each : decode_s3_uploads(send("GET", "", query, {}).body).value_or(Uploads{})) {
                if (each.key == prefix_ + name && each.begun_s >= last.begun_s) {
                    last = each;
                }
            }
        } catch (const ServiceDown&) {
            throw;
        } catch (const StoreRefused&) {  // it may not list, and may write all the same
        }
        return last.id;
    }

    /// What an open upload has: ETags by part, from 0 on.
    std::map<std::uint64_t, std::string> parts_of(const std::string& name, const std::string& id) const {
        std::map<std::uint64_t, std::string> out;
        try {
            for (std::optional<std::uint64_t> from = 0; from;) {
                const std::string query = "part-number-marker=" + std::to_string(*from) + "&" + id;
                const auto page = decode_s3_parts(send("GET", name, query, {}).body);
                for (const S3Part& part : page ? page->parts : std::vector<S3Part>{}) {
                    out.emplace(part.number - 1, part.tag);
                }
                const bool goes_on = page && page->next && *page->next > *from;
                from = goes_on ? page->next : std::nullopt;
            }
        } catch (const ServiceDown&) {
            throw;
        } catch (const StoreRefused&) {  // what is not listed is sent again
        }
        return out;
    }

    std::string begin_upload(const std::string& name) const {
        const auto id = decode_s3_upload_id(send("POST", name, "uploads=", {}).body);
        if (!id) {
            throw StoreRefused(RefusalKind::kRefused, location() + ": the service begins no upload in parts");
        }
        return *id;
    }

    /// Sends a few parts at the same time, each from memory, and goes on with the upload that an earlier call has left.
    /// An upload that the service refuses is ended, so that its parts do not stay and cost money; one that is
    /// interrupted stays, for the next call.
    void put_in_parts(
        const std::filesystem::path& file, const std::string& name, std::uint64_t size_bytes,
        const std::function<void(std::uint64_t)>& note
    ) const {
        const std::string left = open_upload(name);
        Upload upload{
            .file = file,
            .name = name,
            .id = "uploadId=" + escaped(left.empty() ? begin_upload(name) : left),
            .size_bytes = size_bytes,
            .part_bytes = std::max(kPartBytes, size_bytes / kPartsMax + 1)};
        if (!left.empty()) {
            upload.kept = parts_of(name, upload.id);
        }
        {
            std::vector<std::jthread> others;
            while (others.size() + 1 < std::min(kSenders, upload.parts())) {
                others.emplace_back([&] { send_parts(upload, note); });
            }
            send_parts(upload, note);
        }
        try {
            if (upload.failure) {
                std::rethrow_exception(upload.failure);
            }
            complete(upload);
        } catch (const ServiceDown&) {
            throw;
        } catch (const StoreRefused&) {
            try {
                send("DELETE", name, upload.id, {});
            } catch (const std::exception&) {  // the first failure is the one to tell of
            }
            throw;
        }
    }

    void note(const S3Object& object, std::map<Hash256, StoredEntry>& found, std::set<Hash256>& pinned) const {
        if (!object.key.starts_with(prefix_)) {
            return;
        }
        const std::string name = object.key.substr(prefix_.size());
        constexpr std::string_view kPins = "pins/";
        if (const auto artifact = fixed_from_hex<Hash256>(name)) {
            found[*artifact] = {.artifact = *artifact, .size_bytes = object.size_bytes, .written_s = object.written_s};
        } else if (name.starts_with(kPins)) {
            if (const auto pin = fixed_from_hex<Hash256>(name.substr(kPins.size()))) {
                pinned.insert(*pin);
            }
        }
    }

    S3Location at_;
    std::optional<Credentials> credentials_;
    std::string bucket_;
    std::string prefix_;
};

}  // namespace

std::unique_ptr<Store> make_s3_store(const S3Location& location, const std::optional<Credentials>& credentials) {
    return std::make_unique<S3Store>(location, credentials);
}

}  // namespace assay::stores

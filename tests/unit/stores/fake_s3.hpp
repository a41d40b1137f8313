// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <client/http/http.hpp>
#include <core/base/bytes.hpp>
#include <core/crypto/md5.hpp>

namespace assay::test {

/// A bucket in memory behind the requests of S3, with what a test wants to go wrong.
class FakeS3 {
  public:
    explicit FakeS3(std::string path = "/bucket")
        : path_(std::move(path)), server_(options(), [this](const http::HttpRequest& request) {
              const std::lock_guard lock(mutex_);
              requests_.push_back(request);
              return answer(request);
          }) {}

    std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
    std::map<std::string, std::string> objects() const { return locked(objects_); }
    std::vector<http::HttpRequest> requests() const { return locked(requests_); }
    std::map<std::string, std::map<std::uint64_t, std::string>> open_uploads() const { return locked(uploads_); }
    /// Answers the next so many requests with 500.
    void fail_next(std::uint64_t count) {
        const std::lock_guard lock(mutex_);
        failing_ = count;
    }
    /// Answers each upload of a part from this one on with `status`; 0: none.
    void fail_parts_from(std::uint64_t number, unsigned status = 500) {
        const std::lock_guard lock(mutex_);
        failing_parts_ = number;
        failing_parts_status_ = status;
    }
    void refuse_listings(bool refuses) {
        const std::lock_guard lock(mutex_);
        refuses_listings_ = refuses;
    }
    void have_other_tags(bool has_other) {
        const std::lock_guard lock(mutex_);
        has_other_tags_ = has_other;
    }
    /// Replaces a part that an open upload has.
    void replace_part(std::uint64_t number, const std::string& bytes) {
        const std::lock_guard lock(mutex_);
        uploads_.at("id/1").at(number) = bytes;
    }

  private:
    template <class Value>
    Value locked(const Value& value) const {
        const std::lock_guard lock(mutex_);
        return value;
    }
    static http::HttpServerOptions options() {
        http::HttpServerOptions out;
        out.body_max = 64U << 20U;
        out.memory_max = 256U << 20U;
        return out;
    }
    static http::HttpResponse xml(std::string body) { return {200, "application/xml", std::move(body)}; }

    http::HttpResponse answer(const http::HttpRequest& request) {
        if (failing_ > 0) {
            --failing_;
            return {500, "application/xml", "<Error><Code>InternalError</Code><Message>again</Message></Error>"};
        }
        const std::size_t mark = request.target.find('?');
        const std::string path = request.target.substr(0, mark);
        const std::string query = mark == std::string::npos ? "" : request.target.substr(mark + 1);
        if (!path.starts_with(path_ + "/")) {
            return {404, "application/xml", "<Error><Code>NoSuchBucket</Code><Message>none</Message></Error>"};
        }
        const std::string key = path.substr(path_.size() + 1);
        if (key.empty() && query.ends_with("&uploads=")) {
            return refuses_listings_ ? refusal("AccessDenied", 403) : list_uploads();
        }
        if (query.starts_with("uploads=") || query.find("uploadId=") != std::string::npos) {
            return answer_upload(request, key, query);
        }
        if (key.empty()) {
            return list(query);
        }
        if (request.method == "PUT") {
            objects_[key] = request.body;
            return xml("");
        }
        if (request.method == "DELETE") {
            objects_.erase(key);
            return {204, "application/xml", ""};
        }
        const auto found = objects_.find(key);
        return found == objects_.end() ? http::HttpResponse{404, "application/xml", "<Error/>"}
                                       : http::HttpResponse{200, "application/octet-stream", found->second};
    }

    http::HttpResponse answer_upload(
        const http::HttpRequest& request, const std::string& key, const std::string& query
    ) {
        if (query.starts_with("uploads=")) {
            uploads_["id/1"].clear();
            upload_key_ = key;
            return xml("<InitiateMultipartUploadResult><UploadId>id/1</UploadId></InitiateMultipartUploadResult>");
        }
        if (query.find("uploadId=id%2F1") == std::string::npos || !uploads_.contains("id/1")) {
            return refusal("NoSuchUpload", 404);
        }
        if (request.method == "GET") {
            return list_parts(std::stoull(query.substr(query.find('=') + 1)));
        }
        if (request.method == "PUT") {
            const std::uint64_t number = std::stoull(query.substr(query.find('=') + 1));
            if (failing_parts_ != 0 && number >= failing_parts_) {
                return {failing_parts_status_, "application/xml", "<Error/>"};
            }
            uploads_["id/1"][number] = request.body;
            http::HttpResponse out = xml("");
            out.fields = {{"ETag", tag_of(request.body)}};
            return out;
        }
        if (request.method == "POST") {
            std::string wanted = "<CompleteMultipartUpload>";
            objects_[key].clear();
            for (const auto& [number, part] : uploads_["id/1"]) {
                wanted += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" + tag_of(part) +
                          "</ETag></Part>";
                objects_[key] += part;
            }
            if (request.body != wanted + "</CompleteMultipartUpload>") {
                return {400, "application/xml", "<Error><Code>InvalidPartOrder</Code><Message>parts</Message></Error>"};
            }
        }
        uploads_.erase("id/1");
        return request.method == "POST" ? xml("<CompleteMultipartUploadResult/>")
                                        : http::HttpResponse{204, "application/xml", ""};
    }

    static http::HttpResponse refusal(const std::string& code, int status) {
        return {
            static_cast<unsigned>(status), "application/xml",
            "<Error><Code>" + code + "</Code><Message>none</Message></Error>"};
    }
    /// Services that encrypt what they keep have another one.
    std::string tag_of(const std::string& part) const {
        return (has_other_tags_ ? "\"sealed-" : "\"") + to_hex(crypto::md5(as_bytes(part))) + "\"";
    }

    http::HttpResponse list_uploads() const {
        std::string out = "<ListMultipartUploadsResult><Upload><Key>another</Key><UploadId>id/0</UploadId></Upload>";
        for (const auto& [id, parts] : uploads_) {
            out += "<Upload><Key>" + upload_key_ + "</Key><UploadId>" + id +
                   "</UploadId><Initiated>2026-01-01T00:00:00.000Z</Initiated></Upload>";
        }
        return xml(out + "</ListMultipartUploadsResult>");
    }

    /// One at a time.
    http::HttpResponse list_parts(std::uint64_t after) const {
        std::string out = "<ListPartsResult>";
        const auto& parts = uploads_.at("id/1");
        if (const auto part = parts.upper_bound(after); part != parts.end()) {
            out += "<Part><PartNumber>" + std::to_string(part->first) + "</PartNumber><ETag>" + tag_of(part->second) +
                   "</ETag><Size>" + std::to_string(part->second.size()) + "</Size></Part>";
            if (std::next(part) != parts.end()) {
                out += "<IsTruncated>true</IsTruncated><NextPartNumberMarker>" + std::to_string(part->first) +
                       "</NextPartNumberMarker>";
            }
        }
        return xml(out + "</ListPartsResult>");
    }

    /// Two at a time.
    http::HttpResponse list(const std::string& query) const {
        constexpr std::string_view kToken = "continuation-token=";
        const std::string from =
            query.starts_with(kToken) ? query.substr(kToken.size(), query.find('&') - kToken.size()) : "";
        std::string out = "<ListBucketResult>";
        int count = 0;
        for (auto at = from.empty() ? objects_.begin() : objects_.find(decoded(from)); at != objects_.end(); ++at) {
            if (count++ == 2) {
                out +=
                    "<IsTruncated>true</IsTruncated><NextContinuationToken>" + at->first + "</NextContinuationToken>";
                break;
            }
            out += "<Contents><Key>" + at->first + "</Key><Size>" + std::to_string(at->second.size()) +
                   "</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>";
        }
        return xml(out + "</ListBucketResult>");
    }
    static std::string decoded(std::string text) {
        for (std::size_t at = text.find("%2F"); at != std::string::npos; at = text.find("%2F")) {
            text.replace(at, 3, "/");
        }
        return text;
    }

    std::string path_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> objects_;
    std::map<std::string, std::map<std::uint64_t, std::string>> uploads_;  ///< their parts
    std::string upload_key_;
    std::vector<http::HttpRequest> requests_;
    std::uint64_t failing_ = 0;
    std::uint64_t failing_parts_ = 0;
    unsigned failing_parts_status_ = 500;
    bool refuses_listings_ = false;
    bool has_other_tags_ = false;
    http::HttpServer server_;
};

}  // namespace assay::test

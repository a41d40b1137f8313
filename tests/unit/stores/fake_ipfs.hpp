// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <client/http/http.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/stores/cid.hpp>

namespace assay::test {

/// A trustless gateway and the part of a node's RPC that writes blocks.
class FakeIpfs {
  public:
    FakeIpfs()
        : server_(options(), [this](const http::HttpRequest& request) {
              const std::lock_guard lock(mutex_);
              requests_.push_back(request);
              return answer(request);
          }) {}

    std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
    std::map<std::string, std::string> blocks() const { return locked(blocks_); }
    std::set<std::string> pins() const { return locked(pins_); }
    std::vector<http::HttpRequest> requests() const { return locked(requests_); }
    void set_block(const std::string& cid, const std::string& bytes) {
        const std::lock_guard lock(mutex_);
        blocks_[cid] = bytes;
    }

  private:
    template <class Value>
    Value locked(const Value& value) const {
        const std::lock_guard lock(mutex_);
        return value;
    }
    static http::HttpServerOptions options() {
        http::HttpServerOptions out;
        out.body_max = 4U << 20U;
        return out;
    }

    http::HttpResponse answer(const http::HttpRequest& request) {
        const std::string gateway = "/ipfs/";
        if (request.method == "GET" && request.target.starts_with(gateway) && request.target.ends_with("?format=raw")) {
            const auto found =
                blocks_.find(request.target.substr(gateway.size(), request.target.find('?') - gateway.size()));
            return found == blocks_.end() ? http::HttpResponse{404, "text/plain", "none"}
                                          : http::HttpResponse{200, "application/vnd.ipld.raw", found->second};
        }
        if (request.target == "/api/v0/block/put?cid-codec=raw&mhtype=sha2-256&pin=true" && request.method == "POST") {
            const std::string bytes = file_of(request.body);
            const std::string cid = stores::encode_cid(crypto::sha256(as_bytes(bytes)));
            blocks_[cid] = bytes;
            pins_.insert(cid);
            return {200, "application/json", "{\"Key\":\"" + cid + "\",\"Size\":" + std::to_string(bytes.size()) + "}"};
        }
        const std::string cid = request.target.substr(request.target.find("arg=") + 4);
        if (request.target.starts_with("/api/v0/pin/add?")) {
            pins_.insert(cid);
            return {200, "application/json", "{}"};
        }
        const bool was_pinned = pins_.contains(cid);
        if (request.target.starts_with("/api/v0/pin/rm?")) {
            pins_.erase(cid);
        }
        return was_pinned ? http::HttpResponse{200, "application/json", "{}"}
                          : http::HttpResponse{500, "application/json", "{\"Message\":\"not pinned\"}"};
    }

    /// The one file of a multipart form.
    static std::string file_of(const std::string& form) {
        const std::string boundary = "\r\n" + form.substr(0, form.find("\r\n"));
        const std::size_t begin = form.find("\r\n\r\n") + 4;
        return form.substr(begin, form.rfind(boundary) - begin);
    }

    mutable std::mutex mutex_;
    std::map<std::string, std::string> blocks_;
    std::set<std::string> pins_;
    std::vector<http::HttpRequest> requests_;
    http::HttpServer server_;
};

}  // namespace assay::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <core/base/bytes.hpp>
#include <client/http/http.hpp>
#include <verifier/artifacts/chunks.hpp>

namespace assay::test {

/// What is wrong with a server of chunks.
enum class Trick : std::uint8_t {
    kNone,
    kNoLeaves,     ///< an older server: only the whole file
    kNoChunks,     ///< the hashes and the whole file
    kWrongLeaves,  ///< one bit of them
    kOtherLeaves,  ///< those of a longer dataset
    kWrongChunk,   ///< one bit of each answer
    kOtherChunks,  ///< the right length, from the beginning of the file whatever was asked for
    kShort,
    kLong,
    kWholeForChunks,  ///< does not look at what is asked for
    kOnlyChunks,      ///< no whole file
};

/// Serves one dataset over HTTP, whatever hash is asked for: all of it, its chunks and their hashes.
class ChunkServer {
  public:
    explicit ChunkServer(Bytes file, Bytes leaves, Trick trick = Trick::kNone)
        : file_(std::move(file)),
          leaves_(std::move(leaves)),
          trick_(trick),
          server_(std::make_unique<http::HttpServer>(
              http::HttpServerOptions{},
              [this](const http::HttpRequest& request) {
                  http::HttpResponse out = answer(request.target);
                  ++requests_;
                  bytes_sent_ += out.body.size();
                  return out;
              }
          )) {}

    std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
    void play(Trick trick) { trick_ = trick; }
    /// Of bodies.
    std::uint64_t bytes_sent() const { return bytes_sent_; }
    std::uint64_t requests() const { return requests_; }

  private:
    http::HttpResponse answer(const std::string& target) const {
        const Trick trick = trick_;
        http::HttpResponse out{.status = 200, .content_type = "application/octet-stream", .body = {}};
        if (target.ends_with("/leaves")) {
            out.status = trick == Trick::kNoLeaves ? 404 : 200;
            out.body = string_of(leaves_);
            out.body[0] = static_cast<char>(out.body[0] ^ (trick == Trick::kWrongLeaves ? 1 : 0));
            out.body.append(trick == Trick::kOtherLeaves ? 32 : 0, 'x');
        } else if (const std::size_t at = target.find("/chunks/"); at != std::string::npos) {
            const auto chunks = artifacts::decode_chunk_list(target.substr(at + 8));
            if (!chunks || trick == Trick::kNoChunks || trick == Trick::kNoLeaves) {
                out.status = 404;
            } else {
                out.body = body_of(*chunks, trick);
            }
        } else if (trick == Trick::kOnlyChunks) {
            out.status = 404;
        } else {
            out.body = string_of(file_);
        }
        return out;
    }

    std::string body_of(const std::vector<std::uint64_t>& chunks, Trick trick) const {
        if (trick == Trick::kWholeForChunks) {
            return string_of(file_);
        }
        std::string body;
        for (const std::uint64_t chunk : chunks) {
            const std::uint64_t begin = chunk * canonical::kChunkBytes;
            const std::uint64_t size = std::min<std::uint64_t>(canonical::kChunkBytes, file_.size() - begin);
            body += string_of(ByteView(file_).subspan(begin, size));
        }
        if (trick == Trick::kWrongChunk) {
            body.back() = static_cast<char>(body.back() ^ 1);
        } else if (trick == Trick::kOtherChunks) {
            body = string_of(ByteView(file_).first(body.size()));
        } else if (trick == Trick::kShort) {
            body.pop_back();
        } else if (trick == Trick::kLong) {
            body += 'x';
        }
        return body;
    }

    Bytes file_;
    Bytes leaves_;
    std::atomic<Trick> trick_;
    std::atomic<std::uint64_t> bytes_sent_{0};
    std::atomic<std::uint64_t> requests_{0};
    std::unique_ptr<http::HttpServer> server_;
};

}  // namespace assay::test

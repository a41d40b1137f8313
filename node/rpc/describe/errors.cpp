// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/errors.hpp>

#include <client/rpc_codes.hpp>

namespace assay::rpc::describe {

const char* name_of(int code) {
    switch (code) {
        case client::kParseError:
            return "parse_error";
        case client::kInvalidRequest:
            return "invalid_request";
        case client::kMethodNotFound:
            return "method_not_found";
        case client::kInvalidParams:
            return "invalid_params";
        case client::kNotFound:
            return "not_found";
        case client::kUnavailable:
            return "unavailable";
        case client::kTxRejected:
            return "tx_rejected";
        case client::kLimitExceeded:
            return "limit_exceeded";
        case client::kUnauthorized:
            return "unauthorized";
        case client::kRateLimited:
            return "rate_limited";
        default:
            return "internal_error";
    }
}

const char* hint_of(int code) {
    switch (code) {
        case client::kParseError:
            return "the body must be one JSON value in UTF-8";
        case client::kInvalidRequest:
            return "a request is {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":...,\"params\":{...}}";
        case client::kMethodNotFound:
            return "rpc.discover lists the methods";
        case client::kInvalidParams:
            return "rpc.discover describes each method's parameters";
        case client::kUnavailable:
            return "try again later, or leave the height out";
        case client::kTxRejected:
            return "data.reason says what the rules have against it";
        case client::kLimitExceeded:
            return "send less, or send it later";
        case client::kUnauthorized:
            return "send Authorization: Bearer with the text of the node's rpc.token_file; assay and assay-worker take "
                   "the file from --node-token-file or ASSAY_RPC_TOKEN_FILE";
        case client::kRateLimited:
            return "call again after data.retry_after_ms";
        case client::kNotFound:
            return "check the id; a transaction must be in a block or in the mempool";
        default:
            return "the node's log has more";
    }
}

}  // namespace assay::rpc::describe

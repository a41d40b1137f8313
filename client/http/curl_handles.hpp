// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <new>
#include <string>

#include <curl/curl.h>

#include <client/http/freed.hpp>
#include <client/http/http.hpp>

/// Owners of libcurl's handles.
namespace assay::http {

using Easy = std::unique_ptr<CURL, Freed<curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Freed<curl_multi_cleanup>>;
using List = std::unique_ptr<curl_slist, Freed<curl_slist_free_all>>;
using Form = std::unique_ptr<curl_mime, Freed<curl_mime_free>>;

/// Call before anything else of libcurl. Throws NetError.
void initialise_curl();

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
    if (const CURLcode code = curl_easy_setopt(easy, option, value); code != CURLE_OK) {
        throw NetError(std::string("libcurl refuses an option: ") + curl_easy_strerror(code));
    }
}

inline void append(List& list, const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) {
        throw std::bad_alloc();
    }
    static_cast<void>(list.release());  // `longer` owns what it held
    list.reset(longer);
}

}  // namespace assay::http

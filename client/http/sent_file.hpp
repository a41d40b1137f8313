// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::http {

/// Owns a file that is being sent.
struct SentFile {
    SentFile() = default;
    ~SentFile() { reset(); }
    SentFile(const SentFile&) = delete;
    SentFile& operator=(const SentFile&) = delete;
    void reset() {
        if (fd >= 0) {
            ::close(fd);
        }
        fd = -1;
        offset = end = size = 0;
    }
    bool open(const std::filesystem::path& path) {
        reset();
        fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status {};
        if (fd < 0 || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
            reset();
            return false;
        }
        size = end = status.st_size;
        return true;
    }
    int fd = -1;
    off_t offset = 0;  // of the next byte to send
    off_t end = 0;     // behind the last one
    off_t size = 0;    // of the whole file
};

}  // namespace assay::http

// SPDX-License-Identifier: Apache-2.0
#include <core/system/sync_folder.hpp>

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace assay::system {

bool sync_folder(const std::filesystem::path& folder) {
    const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const int result = ::fsync(fd);
    const int error = errno;
    ::close(fd);
    errno = error;
    return result == 0;
}

}  // namespace assay::system

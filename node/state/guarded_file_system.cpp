// SPDX-License-Identifier: Apache-2.0
#include <node/state/guarded_file_system.hpp>

#include <utility>

#include <rocksdb/file_system.h>

namespace assay::storage {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using Tell = std::function<void(const std::string&)>;

IOStatus looked_at(IOStatus status, const Tell& tell) {
    if (!status.ok()) {
        tell(status.ToString());
    }
    return status;
}

class GuardedFile final : public rocksdb::FSWritableFileOwnerWrapper {
  public:
    GuardedFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<const Tell> tell)
        : FSWritableFileOwnerWrapper(std::move(file)), tell_(std::move(tell)) {}

    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
        return looked_at(FSWritableFileOwnerWrapper::Append(data, options, debug), *tell_);
    }
    IOStatus Append(
        const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& info,
        IODebugContext* debug
    ) override {
        return looked_at(FSWritableFileOwnerWrapper::Append(data, options, info, debug), *tell_);
    }
    IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
        return looked_at(FSWritableFileOwnerWrapper::Flush(options, debug), *tell_);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
        return looked_at(FSWritableFileOwnerWrapper::Sync(options, debug), *tell_);
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
        return looked_at(FSWritableFileOwnerWrapper::Fsync(options, debug), *tell_);
    }
    IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
        return looked_at(FSWritableFileOwnerWrapper::Close(options, debug), *tell_);
    }

  private:
    std::shared_ptr<const Tell> tell_;
};

class GuardedFileSystem final : public rocksdb::FileSystemWrapper {
  public:
    GuardedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, Tell tell)
        : FileSystemWrapper(base), tell_(std::make_shared<const Tell>(std::move(tell))) {}

    const char* Name() const override { return "assay-guarded"; }

    IOStatus NewWritableFile(
        const std::string& name, const rocksdb::FileOptions& options, std::unique_ptr<rocksdb::FSWritableFile>* out,
        IODebugContext* debug
    ) override {
        std::unique_ptr<rocksdb::FSWritableFile> file;
        IOStatus status = looked_at(FileSystemWrapper::NewWritableFile(name, options, &file, debug), *tell_);
        if (status.ok()) {
            *out = std::make_unique<GuardedFile>(std::move(file), tell_);
        }
        return status;
    }

  private:
    std::shared_ptr<const Tell> tell_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> make_guarded_env(rocksdb::Env* base, std::function<void(const std::string&)> on_failure) {
    auto files = base == nullptr ? rocksdb::FileSystem::Default() : base->GetFileSystem();
    return rocksdb::NewCompositeEnv(std::make_shared<GuardedFileSystem>(std::move(files), std::move(on_failure)));
}

}  // namespace assay::storage

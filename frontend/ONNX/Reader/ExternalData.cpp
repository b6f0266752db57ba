// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens first and asks where the open file really is then, so that nobody can exchange a link
// between the check and the use. Refuses everything that is no regular file with one name.
#include "frontend/ONNX/Reader/ExternalData.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fovea::onnx {
namespace {

struct Descriptor {
  int number;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};

/// The path of an open file without any link; empty if the system does not say.
std::string realPath(int descriptor) {
  std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  char buffer[PATH_MAX];
  ssize_t size = readlink(link.c_str(), buffer, sizeof(buffer));
  return size <= 0 || size == sizeof(buffer) ? "" : std::string(buffer, size);
}

std::string realPath(const std::string &path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) ? buffer : "";
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool isBelow(const std::string &path, const std::string &folder) {
  if (folder.empty() || folder == "/")
    return false;
  return path.size() > folder.size() + 1 && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

/// `CACHE/blobs` for a model in `CACHE/snapshots/REVISION/...`, if it is a link into there.
std::string blobsOf(const std::string &modelPath) {
  struct stat status;
  if (lstat(modelPath.c_str(), &status) || !S_ISLNK(status.st_mode))
    return "";
  std::string folder = realPath(folderOf(modelPath));
  size_t at = folder.rfind("/snapshots/");
  if (at == std::string::npos)
    return "";
  std::string blobs = folder.substr(0, at) + "/blobs";
  return isBelow(realPath(modelPath), blobs) ? blobs : "";
}

std::string checkName(const std::string &location) {
  if (location.empty())
    return "expects the name of a file, got an empty one";
  if (location.find('\0') != std::string::npos || location.find('\\') != std::string::npos)
    return "expects a file name of letters, digits and '/', got " + quote(location);
  if (location[0] == '/')
    return "expects a file below the model's folder, got the absolute path " + quote(location);
  for (size_t begin = 0; begin <= location.size();) {
    size_t end = std::min(location.find('/', begin), location.size());
    std::string part = location.substr(begin, end - begin);
    if (part.empty() || part == "..")
      return "expects a file below the model's folder, got " + quote(location);
    begin = end + 1;
  }
  return "";
}

} // namespace

std::unique_ptr<FileView> openFile(const std::string &path, FileAccess access, std::string &error) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (file.number < 0 || fstat(file.number, &status)) {
    error = std::strerror(errno);
    return nullptr;
  }
  if (!S_ISREG(status.st_mode)) {
    error = "expects a regular file";
    return nullptr;
  }
  return FileView::open(file.number, static_cast<size_t>(status.st_size), path, access, error);
}

std::unique_ptr<FileView> openExternal(const std::string &modelPath, const std::string &location,
                                       FileAccess access, std::string &error) {
  error = checkName(location);
  if (!error.empty())
    return nullptr;
  std::string path = folderOf(modelPath) + "/" + location;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (file.number < 0 || fstat(file.number, &status)) {
    error = "expects external data that can be read, got " + quote(location) + ": " +
            std::strerror(errno);
    return nullptr;
  }
  if (!S_ISREG(status.st_mode)) {
    error = "expects external data to be a regular file, got " + quote(location);
    return nullptr;
  }
  std::string real = realPath(file.number), blobs = blobsOf(modelPath);
  if (!isBelow(real, realPath(folderOf(modelPath))) && !(!blobs.empty() && isBelow(real, blobs))) {
    error = "expects external data below the model's folder, got " + quote(location) +
            ", a link that leads to " + quote(real);
    return nullptr;
  }
  if (status.st_nlink > 1) {
    error = "expects external data that is one file with one name, got " + quote(location) +
            " with " + std::to_string(status.st_nlink) +
            " hard links, of which others may lie outside of the model's folder";
    return nullptr;
  }
  return FileView::open(file.number, static_cast<size_t>(status.st_size), path, access, error);
}

} // namespace fovea::onnx

#include "core/pack/shared_object.hpp"

#define BOOST_DLL_USE_STD_FS
#include <fmt/format.h>

#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace onedim {

struct SharedObject::Library {
  boost::dll::shared_library handle;
};

namespace {

// The dynamic loader's own message inside the text that Boost.DLL makes of it.
std::string loader_message(std::string_view what) {
  constexpr std::string_view kMarker = "dlerror system message: ";
  const size_t begin = what.find(kMarker);
  const size_t end = what.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::string(what);
  return std::string(what.substr(begin + kMarker.size(), end - begin - kMarker.size()));
}

Verdict explain(std::string_view message) {
  constexpr std::string_view kUndefined = "undefined symbol: ";
  constexpr std::string_view kMissing = ": cannot open shared object file";
  if (const size_t at = message.find(kUndefined); at != std::string_view::npos) {
    std::string_view symbol = message.substr(at + kUndefined.size());
    symbol = symbol.substr(0, symbol.find_first_of(", \t("));
    return {VerdictWord::kUnresolved,
            fmt::format("unresolved: {}; no library that it links defines this symbol", symbol)};
  }
  if (const size_t at = message.find(kMissing); at != std::string_view::npos) {
    return {VerdictWord::kUnavailable,
            fmt::format("needs {}, which is not on this machine", message.substr(0, at))};
  }
  return {VerdictWord::kUnavailable, fmt::format("the dynamic loader refuses it: {}", message)};
}

}  // namespace

SharedObject::SharedObject(std::filesystem::path path)
    : path_(std::move(path)), library_(std::make_unique<Library>()) {}

SharedObject::Opened SharedObject::open(const std::filesystem::path& path) {
  using boost::dll::load_mode::rtld_local;
  using boost::dll::load_mode::rtld_now;
  // Leaked on purpose, yet reachable: destroying a SharedObject would close its library.
  static auto& opened = *new std::vector<SharedObject*>;
  static std::mutex mutex;
  std::unique_ptr<SharedObject> object(new SharedObject(path));
  try {
    object->library_->handle.load(path, rtld_now | rtld_local);
  } catch (const std::exception& failure) {
    return {explain(loader_message(failure.what()))};
  } catch (...) {
    return {{VerdictWord::kPluginFault, "it throws while it is opened"}};
  }
  const std::lock_guard lock(mutex);
  opened.push_back(object.release());
  return {{}, opened.back()};
}

const void* SharedObject::find(const char* symbol) const {
  if (!library_->handle.has(symbol)) return nullptr;
  try {
    return &library_->handle.get<const char>(symbol);
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool SharedObject::contains(const void* address) const {
  std::error_code error;
  const std::filesystem::path owner = boost::dll::symbol_location_ptr(address, error);
  return !error && std::filesystem::equivalent(owner, path_, error) && !error;
}

}  // namespace onedim

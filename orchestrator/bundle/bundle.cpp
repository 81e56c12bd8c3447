#include "orchestrator/bundle/bundle.h"

#include <sys/random.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cctype>

#include "model/error.h"
#include "orchestrator/bundle/whole_file.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// Only what every file system and shell takes; a name cannot leave its folder.
std::string folder_word(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 80)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    out += plain ? c : '-';
  }
  return out.empty() || out[0] == '.' ? "run" + out : out;
}

[[noreturn]] void refuse(const std::string& what, const fs::path& where, const std::string& fix) {
  throw Error(ErrorKind::kOutput, what, where.string(), fix);
}

void make_folders(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    refuse(fmt::format("cannot make the folder: {}", failure.message()), folder,
           "choose a folder that you may write to with --out DIR or artifacts.dir");
}

fs::path make_named(const fs::path& parent, const std::string& stem) {
  make_folders(parent);
  for (int number = 1; number < 10000; ++number) {
    fs::path folder = parent / (number == 1 ? stem : fmt::format("{}-{}", stem, number));
    std::error_code failure;
    if (fs::create_directory(folder, failure)) return folder;
    if (failure && failure != std::errc::file_exists)
      refuse(fmt::format("cannot make the folder: {}", failure.message()), folder,
             "choose a folder that you may write to with --out DIR or artifacts.dir");
  }
  refuse("ten thousand folders of this name exist already", parent / stem, "give another --name");
}

// Whether it was there before.
bool claim_given(const fs::path& out) {
  std::error_code failure;
  const bool exists = fs::exists(out, failure);
  if (exists && !fs::is_directory(out, failure))
    refuse("the output is a file, not a folder", out, "give --out a folder that does not exist yet");
  if (exists && !fs::is_empty(out, failure))
    refuse("the output folder exists and is not empty", out,
           "give --out another folder, or remove this one; nl-stage never overwrites a bundle");
  make_folders(out);
  return exists;
}

// Two machines may begin runs of one name in one second, and write them to two folders of one name.
std::string unique_word() { return fmt::format("{:08x}", random_bits()); }

}  // namespace

std::uint32_t random_bits() {
  std::uint32_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits)
    throw Error(ErrorKind::kInternal, "the kernel gives no random numbers", "getrandom", "check the sandbox that nl-stage runs in");
  return bits;
}

Bundle Bundle::create(const Request& request, std::chrono::system_clock::time_point now) {
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  const auto utc = fmt::gmtime(seconds);
  const std::string stem = fmt::format("{:%Y%m%d-%H%M%S}-{}-{}", utc, folder_word(request.name), folder_word(request.mode));
  Bundle bundle;
  bundle.created_at_ = utc_text(std::chrono::floor<std::chrono::seconds>(now));
  bundle.run_id_ = stem + "-" + unique_word();
  if (request.out.empty()) {
    bundle.path_ = fs::absolute(make_named(request.parent, stem));
  } else {
    bundle.was_there_ = claim_given(request.out);
    bundle.path_ = fs::absolute(request.out);
  }
  // Both a need and the test that this folder can be written to.
  make_folders(bundle.path_ / "logs");
  bundle.write("config.yaml", "");
  return bundle;
}

void Bundle::discard() const {
  std::error_code ignored;
  if (!was_there_) return (void)fs::remove_all(path_, ignored);
  for (const auto& entry : fs::directory_iterator(path_, ignored)) fs::remove_all(entry.path(), ignored);
}

void Bundle::write(const fs::path& relative, std::string_view text) const {
  const fs::path file = path_ / relative;
  make_folders(file.parent_path());
  write_file_whole(file, text);
}

std::string free_space_of(const fs::path& file) {
  std::error_code failure;
  const auto space = fs::space(file.parent_path(), failure);
  if (failure) return "free space unknown";
  return fmt::format("{:.1f} MiB free on its disk", static_cast<double>(space.available) / (1 << 20));
}

void write_file_whole(const fs::path& file, std::string_view text) {
  WholeFile out(file);
  out.append(text);
  out.commit();
}

}  // namespace nl::orchestrator

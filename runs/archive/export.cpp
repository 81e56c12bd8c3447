#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "runs/archive/archive.h"
#include "runs/archive/scratch_folder.h"
#include "runs/archive/staging.h"
#include "runs/archive/tar.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

constexpr std::string_view kArchiveEndings[] = {".nlz", ".tar.zst"};
constexpr std::size_t kPieceBytes = 1 << 20;

void check_output(const fs::path& out) {
  const std::string name = out.filename();
  const bool known = std::any_of(std::begin(kArchiveEndings), std::end(kArchiveEndings),
                                 [&](std::string_view ending) { return name.size() > ending.size() && name.ends_with(ending); });
  if (!known) throw Error(ErrorKind::kUsage, "an archive is called NAME.nlz or NAME.tar.zst", out.string(), "give such a name with -o");
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(out, ignored)))
    throw Error(ErrorKind::kOutput, "the file exists", out.string(),
                "give -o another name, or remove it; nl-stage never overwrites an archive");
}

void check_interrupted(const fs::path& file) {
  if (Interrupts::signal() != 0) throw Error(ErrorKind::kInterrupted, "interrupted; nothing was left behind", file.string());
}

// Hashed once more on the way: a file that changes now would make an archive that nobody can unpack.
void write_file(TarWriter& tar, const StagedFile& staged) {
  tar.begin_file(staged.listed.path, staged.listed.size_bytes);
  std::ifstream stream(staged.file, std::ios::binary);
  Sha256 digest(*libcrypto());
  std::vector<char> piece(kPieceBytes);
  std::uintmax_t left = staged.listed.size_bytes;
  while (left > 0 && stream.read(piece.data(), static_cast<std::streamsize>(std::min<std::uintmax_t>(left, piece.size()))).gcount() > 0) {
    const std::string_view got(piece.data(), static_cast<std::size_t>(stream.gcount()));
    digest.add(got);
    tar.append(got);
    left -= got.size();
    check_interrupted(staged.file);
  }
  if (left > 0 || digest.hex(staged.file.string()) != staged.listed.sha256)
    throw Error(ErrorKind::kInput, "the file changed while it was read", staged.file.string(),
                "export the run when nothing writes to its bundle");
}

void write_archive(const ExportResult& result, const std::vector<StagedBundle>& bundles) {
  TarWriter tar(result.file);
  const std::string list = contents_text(result.contents);
  tar.begin_file(kContentsFile, list.size());
  tar.append(list);
  for (const StagedBundle& bundle : bundles)
    for (const StagedFile& file : bundle.files) write_file(tar, file);
  tar.commit();
}

}  // namespace

ExportResult export_runs(const ExportRequest& request) {
  const Activity packing("packing " + request.out.filename().string());
  const Interrupts interrupts;
  check_output(request.out);
  if (libcrypto() == nullptr)
    throw Error(ErrorKind::kTool, "there is no libcrypto here: an archive needs digests", "libcrypto.so.3", "install libssl3");
  ExportResult result;
  result.file = fs::absolute(request.out).lexically_normal();
  result.contents = {
      utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())), version(), request.redacted, {}, {}};
  const std::vector<ExportSource> sources = find_sources(request.runs, request.ledger_location);
  const ScratchFolder scratch(result.file.parent_path(), "export");
  std::vector<StagedBundle> bundles;
  for (const ExportSource& source : sources) {
    check_interrupted(result.file);
    bundles.push_back(stage_bundle(source, request.redacted, scratch.path()));
    result.contents.bundles.push_back(bundles.back().about);
    for (const StagedFile& file : bundles.back().files) result.contents.files.push_back(file.listed);
  }
  for (const ManifestFile& file : result.contents.files) result.unpacked_bytes += file.size_bytes;
  check_contents(result.contents, result.file.string());  // what import-bundle would refuse is not written
  write_archive(result, bundles);
  result.size_bytes = fs::file_size(result.file);
  return result;
}

}  // namespace nl::runs

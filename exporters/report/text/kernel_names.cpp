#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "exporters/report/text/figure_text.h"

// void at::native::vectorized_elementwise_kernel<(int)8, at::native::CUDAFunctor_add<c10::BFloat16>, …>(int, T2, T3)
//   → elementwise add (bf16)
// nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT → gemm 64x8x64 split-K (nvjet sm90)
namespace nl::exporters {
namespace {

struct KernelParts {
  std::string_view function;   // vectorized_elementwise_kernel
  std::string_view arguments;  // of its template, without the brackets
};

// Without the return type, the namespaces and the parameters.
KernelParts parts_of(std::string_view name) {
  std::size_t begin = 0, depth = 0, open = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool anonymous = name.substr(i).starts_with("(anonymous namespace)") || (depth == 0 && name.substr(i).starts_with("<unnamed>"));
    if (anonymous) {
      i = name.find(c == '(' ? ')' : '>', i);
      continue;
    }
    if (c == '<' || (c == '(' && depth > 0)) {
      if (depth++ == 0) open = i;
    } else if ((c == '>' || c == ')') && depth > 0) {
      const bool type = name.substr(i + 1).starts_with("::");  // std::enable_if<…>::type f<…>(…)
      if (--depth == 0 && !type) return {name.substr(begin, open - begin), name.substr(open + 1, i - open - 1)};
    } else if (depth == 0 && c == '(') {
      return {name.substr(begin, i - begin), {}};
    } else if (depth == 0 && (c == ' ' || c == ':')) {
      begin = i + 1;
    }
  }
  return {name, {}};
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string_view> identifiers_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) words.push_back(text.substr(i, end - i));
    i = end + (end == i);
  }
  return words;
}

std::string element_type(std::string_view arguments) {
  constexpr std::array<std::pair<std::string_view, const char*>, 10> kTypes = {{{"BFloat16", "bf16"},
                                                                                {"__nv_bfloat16", "bf16"},
                                                                                {"bfloat16_t", "bf16"},
                                                                                {"Half", "fp16"},
                                                                                {"__half", "fp16"},
                                                                                {"half_t", "fp16"},
                                                                                {"float", "fp32"},
                                                                                {"double", "fp64"},
                                                                                {"Float8_e4m3fn", "fp8"},
                                                                                {"Float8_e5m2", "fp8"}}};
  const auto words = identifiers_of(arguments);
  for (const std::string_view word : words)
    for (const auto& [type, shown] : kTypes)
      if (word == type) return shown;
  if (const auto opaque = std::find(words.begin(), words.end(), "OpaqueType"); opaque != words.end())
    for (auto word = opaque + 1; word != words.end(); ++word)
      if (std::isdigit(static_cast<unsigned char>(word->front())) != 0)
        return fmt::format("{} bytes", std::string(word->substr(0, word->find('u'))));
  if (arguments.find("lambda(long") != std::string_view::npos || arguments.find("<long>") != std::string_view::npos) return "int64";
  return arguments.find("lambda(bool") != std::string_view::npos ? "bool" : "";
}

bool cut_end(std::string_view& text, std::string_view end) {
  const bool there = text.size() > end.size() && text.ends_with(end);
  if (there) text.remove_suffix(end.size());
  return there;
}

bool cut_start(std::string_view& text, std::string_view start) {
  const bool there = text.size() > start.size() && text.starts_with(start);
  if (there) text.remove_prefix(start.size());
  return there;
}

// "CompareEq" → "compare eq", "masked_fill" → "masked fill"
std::string spaced(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto c = static_cast<unsigned char>(word[i]);
    const bool begins = std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(word[i - 1])) != 0;
    if (begins) out += ' ';
    out += word[i] == '_' ? ' ' : static_cast<char>(std::tolower(c));
  }
  return out;
}

// What an identifier among the arguments says of the work: "add" of CUDAFunctor_add; nothing where it only wraps another.
std::string functor_word(std::string_view word) {
  constexpr std::string_view kWrappers[] = {"gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel", "BinaryFunctor",
                                            "AUnaryFunctor",   "BUnaryFunctor",          "ReduceOp"};
  if (std::find(std::begin(kWrappers), std::end(kWrappers), word) != std::end(kWrappers)) return {};
  std::string_view rest = word;
  bool says = cut_start(rest, "CUDAFunctorOnSelf_") || cut_start(rest, "CUDAFunctor_") || cut_start(rest, "launch_");
  for (const std::string_view end : {"CUDAKernelImpl", "KernelImpl", "_kernel_cuda", "_kernel_impl", "_kernel", "_cuda_out", "_cuda",
                                     "Functor", "_functor", "Ops", "Op"})
    if (cut_end(rest, end)) {
      says = true;
      break;
    }
  if (!says) return {};
  cut_start(rest, "direct_");
  return spaced(rest);
}

std::string functor_of(std::string_view arguments) {
  for (const std::string_view word : identifiers_of(arguments))
    if (std::string functor = functor_word(word); !functor.empty()) return functor;
  return {};
}

std::string with_type(std::string text, const std::string& type) { return type.empty() ? text : fmt::format("{} ({})", text, type); }

bool is_tile(std::string_view word) {
  const std::size_t by = word.find('x');
  if (by == 0 || by == std::string_view::npos || by + 1 == word.size()) return false;
  return word.find_first_not_of("0123456789x") == std::string_view::npos;
}

std::vector<std::string_view> pieces_of(std::string_view name) {
  std::vector<std::string_view> pieces;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('_', start), name.size());
    if (end > start) pieces.push_back(name.substr(start, end - start));
    start = end + 1;
  }
  return pieces;
}

// "128x32", "8x5" → "128x32x8": a tile of the result, and how deep it is read at a time.
std::string tile_of(const std::vector<std::string_view>& pieces) {
  std::vector<std::string_view> tiles;
  std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(tiles), is_tile);
  if (tiles.empty()) return {};
  const bool whole = std::count(tiles[0].begin(), tiles[0].end(), 'x') > 1 || tiles.size() < 2;
  return whole ? std::string(tiles[0]) : fmt::format("{}x{}", std::string(tiles[0]), std::string(tiles[1].substr(0, tiles[1].find('x'))));
}

bool has_word(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

std::string architecture_of(const std::vector<std::string_view>& pieces) {
  for (const std::string_view piece : pieces)
    if (piece.starts_with("sm") && piece.size() > 2 && std::isdigit(static_cast<unsigned char>(piece[2])) != 0)
      return " " + std::string(piece);
  return {};
}

// Names that the libraries' generators make: parts between underscores, the tile among them. Empty: none of these.
std::string generated_name(std::string_view name) {
  const auto pieces = pieces_of(name);
  const std::string tile = pieces.size() < 3 ? std::string() : tile_of(pieces);
  if (tile.empty()) return {};
  const bool attention = has_word(name, "sdpa") || has_word(name, "flash") || has_word(name, "fmha");
  const bool gemm = has_word(name, "gemm") || name.starts_with("nvjet");
  const char* what = attention ? "attention" : gemm ? "gemm" : has_word(name, "fprop") ? "convolution" : nullptr;
  if (what == nullptr) return {};
  const char* type = has_word(name, "bf16") ? " bf16" : has_word(name, "_f16") ? " fp16" : has_word(name, "sgemm") ? " fp32" : "";
  return fmt::format("{} {}{}{} ({}{}{})", what, tile, has_word(name, "splitK") ? " split-K" : "",
                     has_word(name, "_bias") ? " with bias" : "", std::string(pieces[0]), architecture_of(pieces), type);
}

// triton_poi_fused_add_mul_3 → fused add mul (triton)
std::string triton_name(std::string_view name) {
  if (!cut_start(name, "triton_")) return {};
  for (const std::string_view kind : {"poi_", "red_", "per_", "tem_"}) cut_start(name, kind);
  const std::size_t number = name.find_last_not_of("0123456789");
  if (number != std::string_view::npos && number + 1 < name.size() && name[number] == '_') name = name.substr(0, number);
  return spaced(name) + " (triton)";
}

std::string plain_name(const KernelParts& parts) {
  std::string_view function = parts.function;
  if (parts.arguments.empty()) return std::string(function);
  cut_start(function, "vectorized_");
  if (!cut_end(function, "_kernel")) cut_end(function, "Kernel");
  if (function.starts_with("CatArrayBatchedCopy")) return with_type("concatenate", element_type(parts.arguments));
  if (function == "splitKreduce") return with_type("split-K reduce", element_type(parts.arguments));
  return with_type(spaced(function), element_type(parts.arguments));
}

// Where the bracket at `open` closes, or the end.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == '>' || text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0) return i;
  }
  return text.size();
}

}  // namespace

std::string readable_kernel_name(std::string_view name) {
  if (name.empty()) return "(no name)";
  const KernelParts parts = parts_of(name);
  if (std::string generated = generated_name(parts.function); !generated.empty()) return generated;
  if (std::string triton = triton_name(parts.function); !triton.empty()) return triton;
  const bool wraps = parts.function == "Kernel" || parts.function == "Kernel2" || parts.function == "device_kernel";
  if (wraps)
    for (const std::string_view word : identifiers_of(parts.arguments))
      if (std::string generated = generated_name(word); !generated.empty()) return generated;
  const bool maps = has_word(parts.function, "elementwise_"), reduces = parts.function == "reduce_kernel";
  const std::string functor = maps || reduces ? functor_of(parts.arguments) : std::string();
  if (!functor.empty()) return with_type(fmt::format("{} {}", reduces ? "reduce" : "elementwise", functor), element_type(parts.arguments));
  const std::string plain = plain_name(parts);
  return plain.empty() ? short_kernel_name(name) : plain;
}

// void at::native::reduce_kernel<(int)512, …>(T3) → void at::native::reduce_kernel<...>(...)
std::string short_kernel_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool unnamed = name.substr(i, 9) == "<unnamed>";
    if ((name[i] != '<' && name[i] != '(') || unnamed || name.substr(i, 11) == "(anonymous ") {
      out += name[i];
      if (unnamed) {
        out += "unnamed>";
        i += 8;
      }
      continue;
    }
    const std::size_t end = closing(name, i);
    out += name[i] == '<' ? "<...>" : end == i + 1 ? "()" : "(...)";
    i = end;
  }
  return out;
}

}  // namespace nl::exporters

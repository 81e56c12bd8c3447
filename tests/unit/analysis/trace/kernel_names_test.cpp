#include "analysis/trace/kernel_names.h"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "model/counters.h"
#include "parsers/ncu/csv.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using nl::test::kLlama;
using nl::test::kProbe;

namespace {

std::vector<nl::analysis::KernelNames::Entry> names_of(const nl::Trace& trace) {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<nl::analysis::KernelNames::Entry> entries;
  for (const auto& shape : trace.shapes)
    if (seen.emplace(trace.strings[shape.name], trace.strings[shape.mangled_name]).second)
      entries.push_back({trace.strings[shape.name], trace.strings[shape.mangled_name], trace.strings[shape.short_name]});
  return entries;
}

}  // namespace

TEST_CASE("every kernel that ncu names in the fixtures is one kernel of nsys") {
  const auto trace = nl::parsers::read_nsys_sqlite(kLlama + "nsys.sqlite");
  const auto entries = names_of(trace);
  REQUIRE(entries.size() > 40);
  const nl::analysis::KernelNames names(entries);
  std::size_t normalised = 0, exact = 0;
  for (const char* file : {"ncu_decode_raw.csv", "ncu_prefill_raw.csv"}) {
    for (const auto& launch : nl::parsers::read_ncu_csv(kLlama + file).launches) {
      const auto found = names.find(launch.kernel_name);
      INFO(launch.kernel_name);
      CHECK(found.entries.size() == 1);
      normalised += found.how == nl::KernelMatch::kNormalisedName;
      exact += found.how == nl::KernelMatch::kMangledName || found.how == nl::KernelMatch::kName;
    }
  }
  CHECK(normalised == 15);  // all of decode but the cutlass one
  CHECK(exact == 9);
}

TEST_CASE("kernels of one trace that differ are never one") {
  for (const std::string& file : {kLlama + "nsys.sqlite", kProbe + "probe_node.sqlite"}) {
    const auto trace = nl::parsers::read_nsys_sqlite(file);
    const auto entries = names_of(trace);
    for (std::size_t i = 0; i < entries.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        if (entries[i].name == entries[j].name) continue;
        INFO(entries[i].name << "\n" << entries[j].name);
        CHECK_FALSE(nl::analysis::same_kernel(entries[i].name, entries[j].name));
      }
  }
}

TEST_CASE("mangled names join exactly") {
  const auto trace = nl::parsers::read_nsys_sqlite(kProbe + "probe_node.sqlite");
  const auto entries = names_of(trace);
  const nl::analysis::KernelNames names(entries);
  for (const auto& launch : nl::parsers::read_ncu_csv(kProbe + "ncu_prefill_raw_mangled.csv").launches) {
    const auto found = names.find(launch.kernel_name);
    CHECK(found.how == nl::KernelMatch::kMangledName);
    REQUIRE(found.entries.size() == 1);
    CHECK(entries[found.entries[0]].mangled_name == launch.kernel_name);
  }
}

TEST_CASE("three tools' spellings of one kernel") {
  const char* nsys =
      "void at::native::vectorized_elementwise_kernel<(int)4, at::native::cos_kernel_cuda(at::TensorIteratorBase &)::[lambda() "
      "(instance 2)]::operator ()() const::[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)";
  const char* ncu =
      "void at::vectorized_elementwise_kernel<4, at::cos_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 2)]::operator "
      "()() const::[lambda(float) (instance 1)], std::array<char *, 2>>(int, T2, T3)";
  const char* cupti =
      "void at::native::vectorized_elementwise_kernel<4, at::native::cos_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
      "operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int, T2, T3)";
  CHECK(nl::analysis::same_kernel(nsys, ncu));
  CHECK(nl::analysis::same_kernel(nsys, cupti));
  CHECK(nl::analysis::same_kernel(ncu, cupti));
  CHECK(nl::analysis::same_kernel("at::(anonymous namespace)::f<true>(int)", "at::native::<unnamed>::f<(bool)1>(int)"));
  CHECK(nl::analysis::same_kernel("f<(int)-2>()", "f<-2>()"));
}

namespace {

// mangled, as nsys writes it, as ncu does
std::vector<std::array<std::string, 3>> spelled_names() {
  std::ifstream stream(NL_FIXTURES "/h200-names/kernels.tsv");
  std::vector<std::array<std::string, 3>> rows;
  for (std::string line; std::getline(stream, line);) {
    const auto first = line.find('\t'), second = line.find('\t', first + 1);
    rows.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return rows;
}

std::string as_the_library_writes_it(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  const std::string name = status == 0 ? text : mangled;
  std::free(text);
  return name;
}

}  // namespace

TEST_CASE("lambdas and unnamed namespaces join, whichever demangler wrote the two names") {
  const auto rows = spelled_names();
  REQUIRE(rows.size() == 84);
  std::vector<std::string> library;
  for (const auto& row : rows) library.push_back(as_the_library_writes_it(row[0]));
  std::vector<nl::analysis::KernelNames::Entry> nsys, collector;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    nsys.push_back({rows[i][1], "", ""});
    collector.push_back({library[i], "", ""});
  }
  const nl::analysis::KernelNames of_nsys(nsys), of_collector(collector);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::size_t> only{i};
    INFO("ncu: " << rows[i][2] << "\nnsys: " << rows[i][1] << "\nlibrary: " << library[i]);
    CHECK(of_nsys.find(rows[i][2]).entries == only);
    CHECK(of_nsys.find(library[i]).entries == only);
    CHECK(of_collector.find(rows[i][2]).entries == only);
    CHECK(of_collector.find(rows[i][1]).entries == only);
  }
}

TEST_CASE("what differs stays apart") {
  CHECK_FALSE(nl::analysis::same_kernel("a::scale(float *)", "b::scale(float *)"));
  CHECK_FALSE(nl::analysis::same_kernel("a::b::scale()", "b::a::scale()"));
  CHECK_FALSE(nl::analysis::same_kernel("f<(int)4>()", "f<(int)8>()"));
  CHECK_FALSE(nl::analysis::same_kernel("f<(int)4>()", "f<(int)-4>()"));
  CHECK_FALSE(nl::analysis::same_kernel("f<float>()", "f<int>()"));
  CHECK_FALSE(nl::analysis::same_kernel("f<unsigned int>()", "f<int>()"));
  CHECK_FALSE(nl::analysis::same_kernel("f(const T1 *)", "f(T1 *)"));
  CHECK_FALSE(nl::analysis::same_kernel("f<x::[lambda() (instance 1)]>()", "f<x::[lambda() (instance 2)]>()"));
}

TEST_CASE("a name that fits several kernels comes back with all of them") {
  const nl::analysis::KernelNames names({{"void a::x::scale<(int)1>(int)", "_Z1a", "scale"},
                                         {"void a::y::scale<(int)1>(int)", "_Z1b", "scale"},
                                         {"void b::scale<(int)1>(int)", "_Z1c", "scale"},
                                         {"void b::copy(int)", "_Z1d", "copy"}});
  const auto both = names.find("void a::scale<1>(int)");
  CHECK(both.how == nl::KernelMatch::kNormalisedName);
  CHECK(both.entries == std::vector<std::size_t>{0, 1});
  const auto one = names.find("void b::scale<1>(int)");
  CHECK(one.entries == std::vector<std::size_t>{2});
  const auto function = names.find("copy");
  CHECK(function.how == nl::KernelMatch::kShortName);
  CHECK(function.entries == std::vector<std::size_t>{3});
  CHECK(names.find("void c::scale<1>(int)").how == nl::KernelMatch::kNone);
  CHECK(names.find("").entries.empty());
}

TEST_CASE("broken names do no harm") {
  for (const char* name : {"", "(", "(int)", "((int)4", "f<", "::", "a::", "{lambda", "#1}", "<unnamed>", "(int)-", "\xff\xfe::f<\xff>"}) {
    INFO(name);
    CHECK(nl::analysis::same_kernel(name, name));
    CHECK(nl::analysis::kernel_name_key(name).size() <= std::string(name).size() + 20);
  }
}

TEST_CASE("names that differ behind a list of parameters, or in a bracket, are of two kernels") {
  CHECK(nl::analysis::same_kernel_but_parameters("f<a(int)::x>(T1)", "f<a(float*)::x>(T2 *)"));
  CHECK_FALSE(nl::analysis::same_kernel_but_parameters("f<a(int)::x>(T1)", "f<a(int)::y>(T1)"));
  CHECK_FALSE(nl::analysis::same_kernel_but_parameters("f<a(b(int), c)::x>(T1)", "f<a(b(int), c)::y>(T1)"));
  CHECK_FALSE(nl::analysis::same_kernel("f<a>", "f(a>"));
  CHECK_FALSE(nl::analysis::same_kernel("f<a>", "f<a"));
}

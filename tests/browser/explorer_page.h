#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace nl::test {

// A capture to explore, all of whose figures can be worked out by hand: 100 ms from 5 s of the capture on, ten decode steps that
// start every 10 ms and take 8 ms, the eighth 9.9 ms. Every step has ten kernels of 56 µs, one each 800 µs: the GPU is busy 7 % of a
// step. Even ones are matrix products of the operator aten::mm, odd ones elementwise; each is launched 10 µs before it starts by
// a call of 5 µs. Steps 0, 4 and 7 are listed slice by slice, all else is in buckets of 1 ms. By step 4's own budget
// 1 ms of its wait is launch latency.
nlohmann::json explorer_detail();

// The same with what says why the GPU waits. The main thread is seen each 500 µs: in audit_tokens, which put calls, in the waits that follow the
// sixth kernel of a step, else in forward. Of the gaps of the steps, those after add_kernel and before gemm_kernel come again: four times 744 µs.
nlohmann::json sampled_detail();

// What the page knows besides: bins, glossary, and the counters of the matrix product.
nlohmann::json explorer_facts();

// As large as a page's data become: 150,000 slices in windows, 4096 buckets, 20,000 steps.
nlohmann::json largest_detail();

// The report of rich_run() with this to explore, kept in the build folder under a name.
std::filesystem::path explorer_page(const std::string& name, const nlohmann::json& detail, const nlohmann::json& facts);

}  // namespace nl::test

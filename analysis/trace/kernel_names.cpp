#include "analysis/trace/kernel_names.h"

#include <algorithm>
#include <utility>

namespace nl::analysis {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A word with the scopes before it (at, native, reduce_kernel), or one character of punctuation.
struct Token {
  std::vector<std::string_view> chain;  // empty for punctuation
  std::string_view punctuation;
  bool is_word() const { return !chain.empty(); }
  std::string_view word() const { return chain.empty() ? punctuation : chain.back(); }
};

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ') {
        ++at_;
      } else if (skip_cast()) {
        continue;
      } else if (std::string_view word = take_scope(); !word.empty()) {
        take_chain(word);
      } else {
        take_punctuation();
      }
    }
    return std::move(tokens_);
  }

 private:
  bool starts_with(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

  // "(int)4", "(unsigned long)2", "(Mode)-1": a parenthesis that a literal follows is a cast.
  bool skip_cast() {
    if (text_[at_] != '(') return false;
    std::size_t end = at_ + 1;
    while (end < text_.size() &&
           (is_word_char(text_[end]) || text_[end] == ' ' || text_[end] == ':' || text_[end] == '<' || text_[end] == '>'))
      ++end;
    if (end == at_ + 1 || end + 1 >= text_.size() || text_[end] != ')') return false;
    const std::size_t literal = end + 1 + (text_[end + 1] == '-');
    if (literal >= text_.size() || !is_digit(text_[literal])) return false;
    at_ = end + 1;
    return true;
  }

  // One word, or one way to write an anonymous namespace; empty where neither stands here.
  std::string_view take_scope() {
    for (const std::string_view anonymous : {"<unnamed>", "(anonymous namespace)", "{anonymous}"}) {
      if (!starts_with(anonymous)) continue;
      at_ += anonymous.size();
      return "<unnamed>";
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void take_chain(std::string_view word) {
    Token token;
    token.chain.push_back(simplify(word));
    while (starts_with("::")) {
      const std::size_t before = at_;
      at_ += 2;
      const std::string_view next = take_scope();
      if (next.empty()) {
        at_ = before;
        break;
      }
      token.chain.push_back(next);
    }
    tokens_.push_back(std::move(token));
  }

  // "true" is "(bool)1", "2ul" is "(unsigned long)2".
  static std::string_view simplify(std::string_view word) {
    if (word == "true") return "1";
    if (word == "false") return "0";
    if (!is_digit(word[0])) return word;
    const std::size_t end = word.find_last_not_of("uUlL");
    return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(end) + 1, is_digit) ? word.substr(0, end + 1) : word;
  }

  // "{lambda(float)#1}" is "[lambda(float) (instance 1)]".
  void take_punctuation() {
    if (starts_with("{lambda")) {
      push("[");
      ++at_;
      ++open_lambdas_;
    } else if (text_[at_] == '#' && open_lambdas_ > 0) {
      push("(");
      tokens_.push_back({{"instance"}, {}});
      ++at_;
      const std::string_view number = take_scope();
      if (!number.empty()) tokens_.push_back({{number}, {}});
      push(")");
    } else if (text_[at_] == '}' && open_lambdas_ > 0) {
      push("]");
      ++at_;
      --open_lambdas_;
    } else {
      push(text_.substr(at_, 1));
      ++at_;
    }
  }
  void push(std::string_view punctuation) { tokens_.push_back({{}, punctuation}); }

  std::string_view text_;
  std::size_t at_ = 0;
  int open_lambdas_ = 0;
  std::vector<Token> tokens_;
};

std::string join(const std::vector<Token>& tokens) {
  std::string key;
  bool after_word = false;
  for (const auto& token : tokens) {
    if (after_word && token.is_word()) key += ' ';
    key += token.word();
    after_word = token.is_word();
  }
  return key;
}

// The name without what two demanglers write in different words: parameters ("T1 *" or "float*"), return types of functions
// inside template arguments, const. The number of a lambda stays.
//   void each<void a::run<float>(T1 *)::[lambda(int) (instance 1)]>(int, T1)
//   void each<a::run<float>(float*)::{lambda(int)#1}>(int, a::run<float>(float*)::{lambda(int)#1})
std::vector<Token> without_parameters(const std::vector<Token>& tokens) {
  std::vector<Token> kept;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool before_word = i + 1 < tokens.size() && tokens[i + 1].is_word();
    if (token.is_word()) {
      if (token.word() != "const" && (token.word() != "void" || !before_word)) kept.push_back(token);
      continue;
    }
    if (token.punctuation != "(") {
      kept.push_back(token);
      continue;
    }
    if (before_word && tokens[i + 1].word() == "instance" && i + 2 < tokens.size()) kept.push_back(tokens[i + 2]);
    for (int depth = 1; depth > 0 && i + 1 < tokens.size();) {
      ++i;
      depth += tokens[i].punctuation == "(" ? 1 : tokens[i].punctuation == ")" ? -1 : 0;
    }
  }
  return kept;
}

bool is_subsequence(const std::vector<std::string_view>& part, const std::vector<std::string_view>& whole) {
  std::size_t matched = 0;
  for (const auto scope : whole)
    if (matched < part.size() && part[matched] == scope) ++matched;
  return matched == part.size();
}

bool same_token(const Token& a, const Token& b) {
  if (a.is_word() != b.is_word() || a.word() != b.word()) return false;
  return is_subsequence(a.chain, b.chain) || is_subsequence(b.chain, a.chain);
}

}  // namespace

std::string kernel_name_key(std::string_view name) { return join(Tokenizer(name).run()); }

bool same_kernel(std::string_view a, std::string_view b) {
  const auto left = Tokenizer(a).run();
  const auto right = Tokenizer(b).run();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_token);
}

bool same_kernel_but_parameters(std::string_view a, std::string_view b) {
  const auto left = without_parameters(Tokenizer(a).run());
  const auto right = without_parameters(Tokenizer(b).run());
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_token);
}

KernelNames::KernelNames(std::vector<Entry> entries) : entries_(std::move(entries)) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    by_name_.emplace(entries_[i].name, i);
    if (!entries_[i].mangled_name.empty()) by_mangled_.emplace(entries_[i].mangled_name, i);
    if (!entries_[i].short_name.empty()) by_short_.emplace(entries_[i].short_name, i);
    by_key_.emplace(kernel_name_key(entries_[i].name), i);
    by_loose_key_.emplace(join(without_parameters(Tokenizer(entries_[i].name).run())), i);
  }
}

KernelNames::Found KernelNames::find(std::string_view name) const {
  Found found;
  const auto take = [&](KernelMatch how, auto range) {
    for (auto it = range.first; it != range.second; ++it) found.entries.push_back(it->second);
    std::sort(found.entries.begin(), found.entries.end());
    if (!found.entries.empty()) found.how = how;
    return !found.entries.empty();
  };
  if (take(KernelMatch::kMangledName, by_mangled_.equal_range(name))) return found;
  if (take(KernelMatch::kName, by_name_.equal_range(name))) return found;
  take(KernelMatch::kNormalisedName, by_key_.equal_range(kernel_name_key(name)));
  std::erase_if(found.entries, [&](std::size_t i) { return !same_kernel(name, entries_[i].name); });
  if (!found.entries.empty()) return found;
  const bool has_parameters = name.find('(') != std::string_view::npos;  // a bare name is a short one
  if (has_parameters) take(KernelMatch::kNormalisedName, by_loose_key_.equal_range(join(without_parameters(Tokenizer(name).run()))));
  std::erase_if(found.entries, [&](std::size_t i) { return !same_kernel_but_parameters(name, entries_[i].name); });
  if (!found.entries.empty()) return found;
  found.how = KernelMatch::kNone;
  take(KernelMatch::kShortName, by_short_.equal_range(name));
  return found;
}

}  // namespace nl::analysis

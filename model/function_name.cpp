#include "model/function_name.h"

#include <algorithm>

namespace nl {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::", kLambda = "{lambda", kOperator = "operator", kScope = "::";
constexpr std::string_view kSuffixes[] = {".cold", ".part.", ".isra.", ".constprop.", ".lto_priv.", ".localalias", ".llvm."};
// Longer ones first.
constexpr std::string_view kSigns[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&",
                                       "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "->", "<",
                                       ">",   "+",   "-",   "*",   "/",  "%",  "^",  "&",  "|",  "~",  "!",  "=",  ","};
constexpr std::string_view kTemplateLibraries[] = {
    "std::",   "__gnu_cxx::", "__gnu_parallel::", "boost::", "fmt::",    "thrust::",  "cub::",  "cuda::std::",  "cuda::__",
    "Eigen::", "absl::",      "nlohmann::",       "tbb::",   "spdlog::", "cutlass::", "cute::", "operator new", "operator delete"};

std::string without_anonymous(std::string_view text) {
  std::string out(text);
  for (std::size_t at; (at = out.find(kAnonymous)) != std::string::npos;) out.erase(at, kAnonymous.size());
  return out;
}

// Where the brackets that open at `at` are closed again; the end of the text where they are not.
std::size_t after_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    else if ((c == '>' && !arrow) || c == ')' || c == '}' || c == ']') --depth;
    if (depth == 0) return at + 1;
  }
  return at;
}

bool ends_with_word(std::string_view text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  if (text.size() == word.size()) return true;
  const char before = text[text.size() - word.size() - 1];
  return before == ':' || before == ' ';
}

// "operator<<", "operator()", "operator->": how many characters of what follows belong to it.
std::size_t operator_sign(std::string_view rest) {
  const auto sign = std::find_if(std::begin(kSigns), std::end(kSigns), [&](std::string_view each) { return rest.starts_with(each); });
  return sign == std::end(kSigns) ? 0 : sign->size();
}

// One function's path of scopes, read from left to right.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : text_(text) {}

  std::string read() {
    while (at_ < text_.size() && !done_) step();
    while (name_.ends_with(kScope)) name_.resize(name_.size() - kScope.size());
    return name_;
  }

 private:
  void step() {
    const char c = text_[at_];
    if (ends_with_word(name_, kOperator) && c != ' ') return take_operator();
    if (c == '<') at_ = after_brackets(text_, at_);
    else if (c == '(') parameters();
    else if (c == '{' || c == '\'') done_ = true;  // a lambda: it is of the function around it
    else if (c == '[') done_ = true;               // "[clone .cold]", "[abi:cxx11]"
    else if (c == ' ') space();
    else name_ += text_[at_++];
  }

  void take_operator() {
    const std::size_t length = operator_sign(text_.substr(at_));
    if (length == 0) return void(name_ += text_[at_++]);  // "operators"
    name_ += text_.substr(at_, length);
    at_ += length;
  }

  void parameters() {
    at_ = after_brackets(text_, at_);
    if (name_.empty()) return;  // "decltype (x + y) add(int)"
    std::string_view rest = text_.substr(at_);
    for (const std::string_view qualifier : {" const", " volatile", " &&", " &"})
      if (rest.starts_with(qualifier)) rest.remove_prefix(qualifier.size());
    if (!rest.starts_with(kScope)) return void(done_ = true);
    at_ = text_.size() - rest.size();
  }

  // What stood before it is a return type, or "virtual thunk to". "operator new" and "operator bool" go on.
  void space() {
    ++at_;
    const std::size_t scope = name_.rfind(kScope);
    const std::string_view last = std::string_view(name_).substr(scope == std::string::npos ? 0 : scope + kScope.size());
    if (last.starts_with("operator ") || last == kOperator) name_ += ' ';
    else if (at_ < text_.size() && text_[at_] == '<') return;  // "operator<< <char>"
    else if (at_ < text_.size() && text_[at_] == '[') done_ = true;
    else name_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string name_;
  bool done_ = false;
};

// What is written before "::{lambda" inside the brackets of template arguments.
std::string_view owner_of_lambda(std::string_view text, std::size_t lambda) {
  std::size_t begin = lambda;
  for (int depth = 0; begin > 0; --begin) {
    const char c = text[begin - 1];
    if (c == '>' || c == ')' || c == '}') ++depth;
    else if (depth == 0 && (c == '<' || c == '(' || c == '{' || c == ',')) break;
    else if (c == '<' || c == '(' || c == '{') --depth;
  }
  return text.substr(begin, lambda - begin);
}

// "std::_Function_handler<void (), run(int)::{lambda()#1}>::_M_invoke(…)" → "run"; empty: no lambda of another library.
std::string lambda_inside(std::string_view text) {
  for (std::size_t at = text.find(kLambda); at != std::string_view::npos; at = text.find(kLambda, at + 1)) {
    const std::string name = NameReader(owner_of_lambda(text, at)).read();
    if (!name.empty() && !is_template_library(name)) return name;
  }
  return {};
}

void drop_suffix(std::string& name) {
  for (const std::string_view suffix : kSuffixes)
    if (const std::size_t at = name.find(suffix); at != std::string::npos && at > 0) name.resize(at);
}

}  // namespace

std::string plain_function_name(std::string_view demangled) {
  const std::string text = without_anonymous(demangled);
  std::string name = NameReader(text).read();
  drop_suffix(name);
  if (is_template_library(name))
    if (std::string owner = lambda_inside(text); !owner.empty()) return owner;
  return name.empty() ? std::string(demangled) : name;
}

bool is_template_library(std::string_view name) {
  return std::any_of(std::begin(kTemplateLibraries), std::end(kTemplateLibraries),
                     [&](std::string_view library) { return name.starts_with(library); });
}

}  // namespace nl

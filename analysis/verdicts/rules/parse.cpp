#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "analysis/verdicts/rules/expression.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

constexpr std::size_t kLongest = 4000;  // characters: a chain of operators is as deep as it is long
constexpr int kDeepest = 60;            // parentheses and signs inside each other; a real rule has a handful

constexpr std::pair<std::string_view, double> kSuffixes[] = {
    {"%", 0.01}, {"ns", 1},   {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6},   {"s", 1e9},         {"B", 1},
    {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"k", 1e3},  {"KiB", 1024}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};

const char* type_word(Type type) {
  switch (type) {
    case Type::kNumber: return "a number";
    case Type::kTruth: return "true or false";
    case Type::kText: return "a text";
  }
  return "";
}

[[noreturn]] void fail(std::string what, std::size_t at) { throw Fault{std::move(what), at, {}, {}}; }

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

}  // namespace

struct Token {
  enum class Kind { kEnd, kNumber, kText, kName, kSign };
  Kind kind = Kind::kEnd;
  std::string text;  // of a text without its quotes
  double number = 0;
  std::size_t at = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    Token token;
    token.at = at_;
    if (at_ >= text_.size()) return token;
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number(token);
    if (is_letter(c)) return name(token);
    if (c == '"' || c == '\'') return quoted(token, c);
    return sign(token);
  }

 private:
  Token number(Token token) {
    token.kind = Token::Kind::kNumber;
    const char* begin = text_.data() + at_;
    const auto [stopped, failed] = std::from_chars(begin, text_.data() + text_.size(), token.number);
    if (failed != std::errc{}) fail("this number is out of range", at_);
    at_ += static_cast<std::size_t>(stopped - begin);
    std::size_t end = at_;
    while (end < text_.size() &&
           (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '%' || static_cast<unsigned char>(text_[end]) >= 0x80))
      ++end;
    const std::string_view suffix = text_.substr(at_, end - at_);
    if (suffix.empty()) return token;
    for (const auto& [word, scale] : kSuffixes) {
      if (word != suffix) continue;
      token.number *= scale;
      at_ = end;
      return token;
    }
    fail(fmt::format("'{}' is not a unit; units are %, ns, us, ms, s, B, kB, MB, GB, KiB, MiB, GiB and k", suffix), at_);
  }

  // run.span is one name
  Token name(Token token) {
    token.kind = Token::Kind::kName;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) token.text += text_[at_++];
    return token;
  }

  Token quoted(Token token, char quote) {
    token.kind = Token::Kind::kText;
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("this text has no closing quote", at_);
    token.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return token;
  }

  Token sign(Token token) {
    token.kind = Token::Kind::kSign;
    for (const std::string_view two : {"<=", ">=", "==", "!="}) {
      if (text_.substr(at_, 2) != two) continue;
      token.text = two;
      at_ += 2;
      return token;
    }
    const char c = text_[at_];
    if (c == '=') fail("write == to compare", at_);
    if (std::string_view("+-*/()<>,").find(c) == std::string_view::npos)
      fail(c > ' ' && c < 127 ? fmt::format("'{}' has no meaning here", c) : "this character has no meaning here", at_);
    token.text = c;
    ++at_;
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, RuleScope scope) : lexer_(text), scope_(scope) { take(); }

  Expression parse() {
    if (token_.kind == Token::Kind::kEnd) fail("there is no expression", 0);
    out_.root_ = disjunction();
    if (token_.kind != Token::Kind::kEnd)
      fail(fmt::format("'{}' is not expected here", token_.text.empty() ? "a number" : token_.text), token_.at);
    return std::move(out_);
  }

 private:
  struct Deeper {
    Deeper(int& depth, std::size_t at) : depth(depth) {
      if (++depth > kDeepest) fail("this is nested too deeply", at);
    }
    ~Deeper() { --depth; }
    int& depth;
  };

  Token take() { return std::exchange(token_, lexer_.next()); }
  bool at_sign(std::string_view sign) const { return token_.kind == Token::Kind::kSign && token_.text == sign; }
  bool at_word(std::string_view word) const { return token_.kind == Token::Kind::kName && token_.text == word; }
  Type type_of(int index) const { return out_.nodes_[static_cast<std::size_t>(index)].type; }

  void expect(std::string_view sign) {
    if (!at_sign(sign)) fail(fmt::format("a '{}' is missing here", sign), token_.at);
    take();
  }

  int add(Node node) {
    out_.nodes_.push_back(std::move(node));
    return static_cast<int>(out_.nodes_.size()) - 1;
  }
  int add(Op op, Type type, int left, int right = -1) {
    Node node;
    node.op = op;
    node.type = type;
    node.left = left;
    node.right = right;
    return add(std::move(node));
  }

  void want(int index, Type type, std::string_view what, std::size_t at) const {
    if (type_of(index) != type) fail(fmt::format("{} needs {}, and this is {}", what, type_word(type), type_word(type_of(index))), at);
  }

  // Operators of one rank, as they are written.
  using Rank = std::initializer_list<std::pair<std::string_view, Op>>;
  std::optional<Op> operator_of(Rank rank) const {
    if (token_.kind != Token::Kind::kSign && token_.kind != Token::Kind::kName) return std::nullopt;
    for (const auto& [sign, op] : rank)
      if (sign == token_.text) return op;
    return std::nullopt;
  }

  // Operands of one type with such operators between them, from left to right.
  int chain(Rank rank, Type type, int (Parser::*operand)()) {
    std::size_t at = token_.at;
    int left = (this->*operand)();
    while (const auto op = operator_of(rank)) {
      const std::string sign = "'" + token_.text + "'";
      want(left, type, sign, at);
      take();
      at = token_.at;
      const int right = (this->*operand)();
      want(right, type, sign, at);
      left = add(*op, type, left, right);
    }
    return left;
  }

  int disjunction() { return chain({{"or", Op::kOr}}, Type::kTruth, &Parser::conjunction); }
  int conjunction() { return chain({{"and", Op::kAnd}}, Type::kTruth, &Parser::negation); }
  int sum() { return chain({{"+", Op::kAdd}, {"-", Op::kSubtract}}, Type::kNumber, &Parser::product); }
  int product() { return chain({{"*", Op::kMultiply}, {"/", Op::kDivide}}, Type::kNumber, &Parser::signed_value); }

  int negation() {
    if (!at_word("not")) return comparison();
    const Deeper deeper(depth_, token_.at);
    take();
    const std::size_t at = token_.at;
    const int inner = negation();
    want(inner, Type::kTruth, "'not'", at);
    return add(Op::kNot, Type::kTruth, inner);
  }

  std::optional<Op> comparing() const {
    return operator_of(
        {{"==", Op::kEqual}, {"!=", Op::kUnequal}, {"<", Op::kLess}, {"<=", Op::kLessEqual}, {">", Op::kMore}, {">=", Op::kMoreEqual}});
  }

  int comparison() {
    const int left = sum();
    const auto op = comparing();
    if (!op) return left;
    const Token sign = take();
    const int right = sum();
    if (type_of(left) != type_of(right))
      fail(fmt::format("'{}' compares {} with {}", sign.text, type_word(type_of(left)), type_word(type_of(right))), sign.at);
    if (type_of(left) != Type::kNumber && *op != Op::kEqual && *op != Op::kUnequal)
      fail(fmt::format("'{}' needs numbers; for {} there are == and !=", sign.text, type_word(type_of(left))), sign.at);
    if (comparing()) fail("comparisons cannot be chained; join them with 'and'", token_.at);
    return add(*op, Type::kTruth, left, right);
  }

  int signed_value() {
    if (!at_sign("-")) return primary();
    const Deeper deeper(depth_, token_.at);
    take();
    const std::size_t at = token_.at;
    const int inner = signed_value();
    want(inner, Type::kNumber, "'-'", at);
    return add(Op::kMinus, Type::kNumber, inner);
  }

  int primary() {
    const Deeper deeper(depth_, token_.at);
    if (at_sign("(")) {
      take();
      const int inner = disjunction();
      expect(")");
      return inner;
    }
    const Token token = take();
    Node node;
    switch (token.kind) {
      case Token::Kind::kEnd: fail("the expression ends too early", token.at);
      case Token::Kind::kSign: fail(fmt::format("'{}' is not expected here", token.text), token.at);
      case Token::Kind::kNumber: node.number = token.number; return add(std::move(node));
      case Token::Kind::kText:
        node.op = Op::kText;
        node.type = Type::kText;
        node.text = token.text;
        return add(std::move(node));
      case Token::Kind::kName: break;
    }
    return at_sign("(") ? call(token) : field(token);
  }

  int field(const Token& token) {
    Node node;
    if (token.text == "true" || token.text == "false") {
      node.op = Op::kTruth;
      node.type = Type::kTruth;
      node.truth = token.text == "true";
      return add(std::move(node));
    }
    if (token.text == "and" || token.text == "or" || token.text == "not")
      fail(fmt::format("'{}' is not expected here", token.text), token.at);
    node.of_run = token.text.starts_with("run.");
    node.op = Op::kField;
    node.field = node.of_run ? find_field(RuleScope::kRun, std::string_view(token.text).substr(4)) : find_field(scope_, token.text);
    if (!node.field) unknown_field(token);
    node.type = node.field->type;
    return add(std::move(node));
  }

  [[noreturn]] void unknown_field(const Token& token) const {
    Fault fault{fmt::format("unknown field '{}' of a {}", token.text, key_of(scope_)), token.at, token.text, {}};
    for (const Field& each : fields_of(scope_)) fault.candidates.emplace_back(each.name);
    if (scope_ != RuleScope::kRun)
      for (const Field& each : fields_of(RuleScope::kRun)) fault.candidates.push_back("run." + std::string(each.name));
    throw fault;
  }

  int call(const Token& name) {
    take();
    int result = -1;
    if (name.text == "min" || name.text == "max") result = extreme(name);
    else if (name.text == "abs") result = add(Op::kAbs, Type::kNumber, argument(Type::kNumber, name));
    else if (name.text == "known") result = add(Op::kKnown, Type::kTruth, disjunction());
    else if (name.text == "matches" || name.text == "contains") result = search(name);
    else if (name.text == "metric") result = metric(name);
    else
      throw Fault{fmt::format("there is no function '{}'", name.text),
                  name.at,
                  name.text,
                  {"min", "max", "abs", "known", "matches", "contains", "metric"}};
    expect(")");
    return result;
  }

  int argument(Type type, const Token& name) {
    const std::size_t at = token_.at;
    const int index = disjunction();
    want(index, type, name.text, at);
    return index;
  }

  int extreme(const Token& name) {
    int left = argument(Type::kNumber, name);
    if (!at_sign(",")) fail(fmt::format("{} needs at least two numbers", name.text), token_.at);
    while (at_sign(",")) {
      take();
      left = add(name.text == "min" ? Op::kMin : Op::kMax, Type::kNumber, left, argument(Type::kNumber, name));
    }
    return left;
  }

  int search(const Token& name) {
    const int left = argument(Type::kText, name);
    expect(",");
    if (token_.kind != Token::Kind::kText) fail(fmt::format("{} needs a text in quotes", name.text), token_.at);
    const Token wanted = take();
    Node node;
    node.op = name.text == "matches" ? Op::kMatches : Op::kContains;
    node.type = Type::kTruth;
    node.left = left;
    node.text = wanted.text;
    if (node.op == Op::kMatches) node.pattern = pattern(wanted);
    return add(std::move(node));
  }

  // Without backtracking, where the library can: a pattern must not hang or overflow the stack on a long name.
  static std::regex pattern(const Token& token) {
    if (token.text.size() > 1000) fail("this pattern is too long", token.at);
    auto flags = std::regex::ECMAScript | std::regex::icase | std::regex::nosubs;
#ifdef __GLIBCXX__
    flags |= std::regex_constants::__polynomial;
#endif
    try {
      return std::regex(token.text, flags);
    } catch (const std::regex_error& error) {
      fail(fmt::format("'{}' is not a regular expression: {}", token.text, error.what()), token.at);
    }
  }

  int metric(const Token& name) {
    if (scope_ != RuleScope::kKernel) fail("metric() is for rules of scope kernel", name.at);
    if (token_.kind != Token::Kind::kText) fail("metric needs the name of an ncu metric in quotes", token_.at);
    Node node;
    node.op = Op::kMetric;
    node.text = take().text;
    return add(std::move(node));
  }

  Lexer lexer_;
  RuleScope scope_;
  Token token_;
  Expression out_;
  int depth_ = 0;
};

Parsed parse_expression(std::string_view text, RuleScope scope) {
  try {
    if (text.size() > kLongest) fail("this expression is too long", kLongest);
    return {Parser(text, scope).parse(), {}};
  } catch (Fault& fault) {
    return {std::nullopt, std::move(fault)};
  }
}

}  // namespace nl::analysis::rules

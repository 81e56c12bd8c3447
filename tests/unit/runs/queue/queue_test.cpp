#include "runs/queue/queue.h"

#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using nl::runs::command_on_one_line;
using nl::runs::CommandQueue;
using nl::runs::QueueEntry;
using nl::test::Folder;

namespace {

std::vector<int> numbers_of(const std::vector<QueueEntry>& entries) {
  std::vector<int> numbers;
  for (const QueueEntry& entry : entries) numbers.push_back(entry.number);
  return numbers;
}

}  // namespace

TEST_CASE("queue: entries are taken in the order in which they were added") {
  Folder folder;
  const CommandQueue queue(folder.path);
  for (const char* command : {"a", "b", "c"}) queue.add(command, "/tmp");
  const auto first = queue.take();
  REQUIRE(first);
  CHECK(first->command == "a");
  CHECK(first->directory == "/tmp");
  CHECK(first->attempts == 1);
  CHECK(numbers_of(queue.running()) == std::vector<int>{1});
  CHECK(numbers_of(queue.waiting()) == std::vector<int>{2, 3});
  queue.finish(*first);
  CHECK(queue.running().empty());
  CHECK(queue.take()->command == "b");
  CHECK(queue.take()->command == "c");
  CHECK_FALSE(queue.take());
}

TEST_CASE("queue: a command of many lines is one entry, to the byte") {
  Folder folder;
  const CommandQueue queue(folder.path);
  const std::string command = "python3 - <<'END'\nprint(\"a\\tb\")\n\nEND\n# \"quoted\" 'too' \\ ü\n";
  queue.add(command, "/tmp");
  CHECK(queue.waiting().size() == 1);
  CHECK(queue.take()->command == command);
}

TEST_CASE("queue: what is put back comes before what was added after it, and remembers its attempts") {
  Folder folder;
  const CommandQueue queue(folder.path);
  queue.add("a", "/tmp");
  queue.add("b", "/tmp");
  queue.put_back(*queue.take());
  const auto again = queue.take();
  REQUIRE(again);
  CHECK(again->command == "a");
  CHECK(again->attempts == 2);
  CHECK(queue.log_of(*again).filename() == "000001-2.log");
}

TEST_CASE("queue: what ran when the runner was killed goes back") {
  Folder folder;
  const CommandQueue queue(folder.path);
  queue.add("a", "/tmp");
  queue.add("b", "/tmp");
  queue.take();
  CHECK(numbers_of(CommandQueue(folder.path).recover()) == std::vector<int>{1});
  CHECK(numbers_of(queue.waiting()) == std::vector<int>{1, 2});
  CHECK(queue.running().empty());
}

TEST_CASE("queue: four processes that add at once get a number each") {
  Folder folder;
  {
    const CommandQueue made(folder.path);
  }
  constexpr int kProcesses = 4, kEach = 25;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t pid = fork();
    if (pid == 0) {
      const CommandQueue queue(folder.path);
      for (int i = 0; i < kEach; ++i) queue.add(std::to_string(process) + " " + std::to_string(i), "/tmp");
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) waitpid(pid, nullptr, 0);
  std::set<std::string> commands;
  const auto waiting = CommandQueue(folder.path).waiting();
  for (const QueueEntry& entry : waiting) commands.insert(entry.command);
  CHECK(commands.size() == kProcesses * kEach);
  CHECK(waiting.front().number == 1);
  CHECK(waiting.back().number == kProcesses * kEach);
}

TEST_CASE("queue: a lost count gives no number twice, and numbers of ended entries do not come again") {
  Folder folder;
  const CommandQueue queue(folder.path);
  queue.add("a", "/tmp");
  queue.finish(*queue.take());
  CHECK(queue.add("b", "/tmp").number == 2);
  std::filesystem::remove(folder / "last-number");
  CHECK(queue.add("c", "/tmp").number == 3);
}

TEST_CASE("queue: a file that is still being written is no entry; a damaged one is named") {
  Folder folder;
  const CommandQueue queue(folder.path);
  folder.file("queued/000001.json.4711.tmp", "{");
  folder.file("queued/notes.txt", "mine");
  CHECK(queue.waiting().empty());
  folder.file("queued/000002.json", "{\"command\": 4}");
  try {
    queue.waiting();
    FAIL("a damaged entry was read");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kInput);
    CHECK(error.where == (folder / "queued/000002.json").string() + ": /command");
  }
}

TEST_CASE("queue: a damaged entry does not stop the others: it is put aside, and the log names it") {
  Folder folder;
  const CommandQueue queue(folder.path);
  folder.file("queued/000001.json", "{\"command\": 4}");
  queue.add("b", "/tmp");
  const auto taken = queue.take();
  REQUIRE(taken);
  CHECK(taken->command == "b");
  CHECK(queue.is_empty());
  CHECK(nl::test::read_text(folder / "damaged/000001.json") == "{\"command\": 4}");
  CHECK(nl::test::has(nl::test::read_text(queue.log_file()), "DAMAGED 000001 " + (folder / "damaged/000001.json").string()));
  queue.finish(*taken);
  CHECK_FALSE(queue.take());
}

TEST_CASE("queue: an entry is written as it always was, and none of its fields may be null") {
  Folder folder;
  const CommandQueue queue(folder.path);
  const QueueEntry added = queue.add("python \"a b.py\"\necho done", "/tmp");
  const std::string text = nl::test::read_text(folder / "queued/000001.json");
  CHECK(text == "{\n  \"command\": \"python \\\"a b.py\\\"\\necho done\",\n  \"directory\": \"/tmp\",\n  \"queued_at\": \"" +
                    added.queued_at + "\",\n  \"attempts\": 0\n}\n");
  CHECK(queue.waiting().at(0).command == added.command);
  folder.file("queued/000001.json", R"({"command": null, "directory": "/tmp", "queued_at": "", "attempts": 0})");
  CHECK_THROWS_AS(queue.waiting(), nl::Error);
}

TEST_CASE("queue: a command stands on one line of the log") {
  CHECK(command_on_one_line("python a.py") == "python a.py");
  CHECK(command_on_one_line("\n  a\nb\n\n") == "a (and 1 more line)");
  CHECK(command_on_one_line("a\nb\nc") == "a (and 2 more lines)");
  CHECK(command_on_one_line(" \n") == "");
}

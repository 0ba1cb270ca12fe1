#include "core/pack/probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "core/base/child_process.hpp"
#include "core/base/text.hpp"

namespace onedim {
namespace {

// Time for the program itself to start, on top of the first file's deadline.
constexpr std::chrono::seconds kStartAllowance{5};

struct Event {
  std::string_view kind;  // begin, pack, end
  size_t file = 0;        // counted from the child's first
  std::string_view text;
};

std::string_view take_word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<Event> parse_event(std::string_view line) {
  Event event;
  event.kind = take_word(line);
  size_t index = 0;
  const std::string_view digits = take_word(line);
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  event.file = index;
  event.text = line;
  return event;
}

// One child's run over `files`.
class ProbeRun {
 public:
  ProbeRun(const ProbeOptions& options, std::span<PackFile* const> files)
      : options_(options), files_(files) {}

  // How many files, from the first on, have been judged.
  size_t run() {
    Result<ChildProcess> child = ChildProcess::start(command(), ChildProcess::Input::kNone);
    if (!child.ok()) return give_up(message_of(child.status()));
    auto allowance = options_.deadline + kStartAllowance;
    for (std::string line; judged_ < files_.size(); allowance = options_.deadline) {
      const ChildProcess::Read read = child->read_line(allowance, line);
      if (read != ChildProcess::Read::kLine) return stopped(*child, read);
      if (!accept(line)) return give_up(fmt::format("it says {}", quoted_excerpt(line)));
    }
    return judged_;
  }

 private:
  std::vector<std::string> command() const {
    std::vector<std::string> command{options_.program.string(), "probe-packs"};
    for (const PackFile* file : files_) command.push_back(file->path.string());
    return command;
  }

  bool accept(std::string_view line) {
    std::optional<Event> event = parse_event(line);
    if (!event || event->file != judged_) return false;
    PackReport& report = files_[judged_]->report;
    if (event->kind == "begin") {
      begun_ = true;
    } else if (event->kind == "pack") {
      report.name = take_word(event->text);
      report.version = event->text;
    } else if (event->kind == "end") {
      const auto word = parse_verdict_word(take_word(event->text));
      if (!word) return false;
      report.verdict = {*word, std::string(event->text)};
      begun_ = false;
      ++judged_;
    }
    return true;
  }

  size_t stopped(ChildProcess& child, ChildProcess::Read read) {
    const std::string ending = child.end();
    const bool stalled = read == ChildProcess::Read::kTimeout;
    if (!begun_ && judged_ == 0)
      return give_up(stalled ? "it does not answer" : "the process " + ending);
    if (stalled) {
      files_[judged_]->report.verdict = {
          VerdictWord::kTimeout,
          fmt::format("still loading after {} ms, given up", options_.deadline.count())};
      return judged_ + 1;
    }
    if (judged_ > 0) return judged_;
    files_[0]->report.verdict = {VerdictWord::kCrashedAtLoad,
                                 fmt::format("the process that loaded it {}", ending)};
    return 1;
  }

  // The program, not a pack, is at fault: nothing can be said about any file.
  size_t give_up(std::string_view what) {
    for (PackFile* file : files_.subspan(judged_)) {
      file->report.verdict = {VerdictWord::kUnavailable,
                              fmt::format("cannot be probed: {}: {}; probe = false in onedim.toml "
                                          "loads packs without",
                                          options_.program.string(), what)};
    }
    return files_.size();
  }

  const ProbeOptions& options_;
  std::span<PackFile* const> files_;
  size_t judged_ = 0;
  bool begun_ = false;
};

void say(int channel, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(channel, rest.data(), rest.size());
    if (written <= 0) ::_exit(3);  // the parent is gone
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

// Moves the report channel away from stdout, where packs may print, and closes the standard streams
// to them.
int take_report_channel() {
  const int channel = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  }
  return channel;
}

Verdict probe_one(int channel, size_t index, const std::string& path) {
  PackFile file = examine_pack(path);
  if (file.ok()) open_pack(file);
  if (!file.ok()) return file.report.verdict;
  say(channel, fmt::format("pack {} {} {}", index, file.report.name, file.report.version));
  stage_pack(file);
  return file.report.verdict;
}

}  // namespace

void probe_packs(const ProbeOptions& options, std::span<PackFile* const> files) {
  while (!files.empty()) files = files.subspan(ProbeRun(options, files).run());
}

int probe_main(std::span<const std::string> files) {
  enter_child_process();
  const int channel = take_report_channel();
  if (channel < 0) return 3;
  for (size_t i = 0; i < files.size(); ++i) {
    say(channel, fmt::format("begin {}", i));
    const Verdict verdict = probe_one(channel, i, files[i]);
    say(channel, fmt::format("end {} {} {}", i, verdict_text(verdict.word), verdict.reason));
  }
  return 0;
}

}  // namespace onedim

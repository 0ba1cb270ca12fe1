#pragma once
// Block: the threads of one block as fibers. Between two barriers they run one after another, now
// from the first on, now from the last, so that a barrier that is missing shows; one that some
// threads reach while others end stops the program, as it would hang a device.

#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

namespace emulation {

class Block {
 public:
  // `enter(thread)` is called whenever a thread goes on.
  void run(unsigned threads, const std::function<void()>& body,
           const std::function<void(unsigned)>& enter) {
    while (fibers_.size() < threads) fibers_.push_back(std::make_unique<Fiber>());
    body_ = &body;
    votes_[0] = votes_[1] = votes_[2] = 0;
    for (unsigned i = 0; i < threads; ++i) {
      fibers_[i]->is_done = false;
      fibers_[i]->votes = 0;
    }
    for (unsigned left = threads; left > 0;) {
      unsigned ended = 0;
      const bool is_backward = (++rounds_ * 0x9E3779B9u >> 31) != 0;
      for (unsigned step = 0; step < threads; ++step) {
        const unsigned i = is_backward ? threads - 1 - step : step;
        if (fibers_[i]->is_done) continue;
        enter(i);
        resume(*fibers_[i]);
        ended += fibers_[i]->is_done ? 1 : 0;
      }
      if (ended != 0 && ended != left) stop("some threads of a block end, others wait for them");
      left -= ended;
    }
  }

  // Back to the block, until it goes on with this thread. setjmp's own names for that: it alone
  // switches stacks without a call to the system.
  void wait() {
    if (_setjmp(current_->place) == 0) _longjmp(scheduler_, 1);
  }

  // A vote's place is cleared two votes ahead, when no thread can be there yet.
  int wait_for_any(int value) {
    const unsigned vote = current_->votes++;
    votes_[vote % 3] |= value;
    wait();
    votes_[(vote + 2) % 3] = 0;
    return votes_[vote % 3];
  }

 private:
  static constexpr size_t kStackBytes = size_t{64} << 10;
  // A thread's stack, which runs one body after another.
  struct Fiber {
    jmp_buf place;
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool is_done = false;
    unsigned votes = 0;
  };

  static void stop(const char* why) {
    std::fprintf(stderr, "emulated kernel: %s\n", why);
    std::abort();
  }

  void resume(Fiber& fiber) {
    current_ = &fiber;
    if (_setjmp(scheduler_) != 0) return;
    if (current_->stack != nullptr) _longjmp(current_->place, 1);
    start(*current_);
  }

  static void start(Fiber& fiber) {
    fiber.stack = std::make_unique<char[]>(kStackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    makecontext(&fiber.context, run_bodies, 0);
    setcontext(&fiber.context);
  }
  static void run_bodies();

  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
  jmp_buf scheduler_;
  const std::function<void()>* body_ = nullptr;
  int votes_[3] = {};
  uint32_t rounds_ = 0;
};

inline Block& block() {
  static Block instance;
  return instance;
}

inline void Block::run_bodies() {
  while (true) {
    (*block().body_)();
    block().current_->is_done = true;
    block().wait();
  }
}

}  // namespace emulation

#pragma once
// Supervisor: packs are foreign code, so a command that loads them does so in a child of its own,
// and this program only waits for it. A crash there, or a pack that ends the process, becomes one
// line that names the pack and what it did. Signals that are meant for the command reach the child,
// and end both alike.
//   The child comes from fork, before any pack is loaded or thread started, so the command's work
//   up to there is not done twice.

namespace onedim {

// Returns in the child; its parent waits for it and then ends with its exit code, or 1 where a pack
// took the child along. To be called once.
void run_on_in_child();

// Tells the parent, if there is one, that the command came to its end by itself, with this code.
void command_has_ended(int code);

}  // namespace onedim

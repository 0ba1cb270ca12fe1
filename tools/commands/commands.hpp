#pragma once
// One function per sub-command: it declares the sub-command's flags on `app` and, in its callback,
// hands its work to the session (`session.choose`). A sub-command lives in a file of its name in
// this folder; its help ends with an example that runs as written.

#include <CLI/App.hpp>

#include "tools/session.hpp"

namespace onedim {

void add_bench(CLI::App& app, Session& session);
void add_calibrate(CLI::App& app, Session& session);
void add_call(CLI::App& app, Session& session);
void add_check_call(CLI::App& app, Session& session);  // hidden: tries a call in a child process
void add_graph(CLI::App& app, Session& session);
void add_layout(CLI::App& app, Session& session);
void add_new_pack(CLI::App& app, Session& session);
void add_ops(CLI::App& app, Session& session);
void add_packs(CLI::App& app, Session& session);
void add_plan(CLI::App& app, Session& session);
void add_price(CLI::App& app, Session& session);
void add_probe_packs(CLI::App& app, Session& session);  // hidden: the child's side of probing
void add_redistribute(CLI::App& app, Session& session);
void add_rules(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_select(CLI::App& app, Session& session);
void add_solve(CLI::App& app, Session& session);
void add_validate(CLI::App& app, Session& session);
void add_validate_worker(CLI::App& app, Session& session);  // hidden: judges ops in a child process

}  // namespace onedim

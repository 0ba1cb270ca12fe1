#pragma once
// The families of this pack.

#include <onedim/pack.hpp>

namespace indexing {

using namespace onedim::api;

void declare_embedding(Registrar& r);      // rows of a weight, and their gradient
void declare_gathers(Registrar& r);        // gather, index_select, take
void declare_scatters(Registrar& r);       // scatter, scatter_add, scatter_reduce
void declare_index_lists(Registrar& r);    // index, index_put
void declare_index_updates(Registrar& r);  // index_fill, index_add, index_copy, index_reduce
void declare_linear(Registrar& r);         // put, masked_scatter
void declare_search(Registrar& r);         // bucketize, searchsorted

}  // namespace indexing

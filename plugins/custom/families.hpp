#pragma once
// The families of this pack. Each op is a worked example of something that not every op needs.

#include <onedim/pack.hpp>

namespace custom {

using namespace onedim::api;

void declare_attention(
    Registrar& r);  // absent inputs and outputs, an (out, lse) group, positions, grouped heads
void declare_attributes(
    Registrar& r);  // every attribute type, numbers for tensors, in-place and out= forms
void declare_factories(Registrar& r);   // sizes as attributes, random numbers, an op without output
void declare_positions(Registrar& r);   // tags, global counts, even_only, multiple_of
void declare_selections(Registrar& r);  // views, tensor lists, lists with absent elements
void declare_statistics(Registrar& r);  // several outputs, joint partials, workspace

}  // namespace custom

// Ops of neural networks: softmax, norms, losses, convolutions, pooling.

#include "families.hpp"

ONEDIM_PACK("nn", "1.0.0", [](onedim::api::Registrar& r) {
  nn::declare_softmax(r);
  nn::declare_layer_norm(r);
  nn::declare_group_norm(r);
  nn::declare_batch_norm(r);
  nn::declare_nll_loss(r);
  nn::declare_convolution(r);
  nn::declare_avg_pool(r);
  nn::declare_max_pool(r);
  nn::declare_upsample(r);
});

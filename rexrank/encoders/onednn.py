"""Linear layers whose weights lie as oneDNN reads them, which spares a processor a part of every multiplication."""

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# Rows of the products that the order of the weights is chosen for; others are as correct.
_ROWS = 512


def pack(module: "torch.nn.Module", device: str) -> bool:
    """Put the weights of all linear layers into oneDNN's order, where it runs on this device.

    BERT then takes about an eighth less time where MKL, which torch multiplies with otherwise, knows no better, as on
    processors of AMD. What comes out differs by rounding alone. The layers keep no weights in torch's own order, so
    nothing can be saved or moved to another device afterwards.

    Args:
        module: In single precision, in evaluation mode, on the device; is changed.
        device: Torch device.

    Returns:
        Whether it was done; else the module is as it was.
    """
    import torch

    layers = [layer for layer in module.modules() if type(layer) is torch.nn.Linear]
    if not layers or not _works(device, layers[0]):
        return False
    for layer in layers:
        function = _packed(layer)
        layer.forward, layer.weight, layer.bias = function, None, None  # type: ignore[assignment, method-assign]
    return True


def _packed(layer: "torch.nn.Linear") -> Any:
    import torch

    weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach().contiguous(), _ROWS)
    bias = None if layer.bias is None else layer.bias.detach()
    return partial(_run, torch.ops.mkldnn._linear_pointwise, weight, bias)


def _run(operator: Any, weight: "torch.Tensor", bias: "torch.Tensor | None", values: "torch.Tensor") -> "torch.Tensor":
    made: torch.Tensor = operator(values, weight, bias, "none", [], "")
    return made


def _works(device: str, layer: "torch.nn.Linear") -> bool:
    """Whether this torch has the operators, which are none of its public ones, and they do what they are known for."""
    import torch

    if device.partition(":")[0] != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    if layer.weight.dtype != torch.float32:
        return False
    values = torch.linspace(-1, 1, 3 * layer.in_features).reshape(1, 3, -1)
    try:
        with torch.inference_mode():
            return torch.allclose(_packed(layer)(values), layer(values), rtol=1e-4, atol=1e-4)
    except (AttributeError, RuntimeError, TypeError):
        return False

"""Layers and parameters in lists and dicts."""

import collections

from argosy.errors import InvalidArgumentError
from argosy.nn.layer import Layer

__all__ = ["Sequential", "LayerList", "LayerDict", "ParameterList"]


class Sequential(Layer):
    """Layers one after another, named 0, 1, … or as given by (name, layer).

    >>> model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    >>> model(paddle.ones([2, 3])).shape, len(model)
    ([2, 1], 3)
    """

    def __init__(self, *layers):
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], (list, collections.OrderedDict)):
            layers = layers[0].items() if isinstance(layers[0], dict) else layers[0]
        for i, layer in enumerate(layers):
            self.add_sublayer(*(layer if isinstance(layer, (tuple, list)) else (str(i), layer)))

    def forward(self, input):
        for layer in self._sub_layers.values():
            input = layer(input)
        return input

    def __len__(self):
        return len(self._sub_layers)

    def __iter__(self):
        return iter(self._sub_layers.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Sequential(*list(self._sub_layers.items())[index])
        return self._sub_layers[index] if isinstance(index, str) else list(self._sub_layers.values())[index]

    def __setitem__(self, index, layer):
        name = index if isinstance(index, str) else list(self._sub_layers)[index]
        self.add_sublayer(name, layer)

    def __delitem__(self, index):
        del self._sub_layers[index if isinstance(index, str) else list(self._sub_layers)[index]]


class LayerList(Layer):
    """A list of layers; what to do with them is left to forward() of the layer that holds it.

    >>> layers = nn.LayerList([nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers), len(layers.parameters())
    (3, 6)
    """

    def __init__(self, sublayers=None):
        super().__init__()
        self.extend(sublayers or [])

    def _set(self, layers):
        self._sub_layers.clear()
        for i, layer in enumerate(layers):
            self.add_sublayer(str(i), layer)

    def __len__(self):
        return len(self._sub_layers)

    def __iter__(self):
        return iter(self._sub_layers.values())

    def __getitem__(self, index):
        layers = list(self._sub_layers.values())
        return LayerList(layers[index]) if isinstance(index, slice) else layers[index]

    def __setitem__(self, index, layer):
        layers = list(self._sub_layers.values())
        layers[index] = layer
        self._set(layers)

    def __delitem__(self, index):
        layers = list(self._sub_layers.values())
        del layers[index]
        self._set(layers)

    def append(self, sublayer):
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def insert(self, index, sublayer):
        layers = list(self._sub_layers.values())
        layers.insert(index, sublayer)
        self._set(layers)

    def extend(self, sublayers):
        for layer in sublayers:
            self.append(layer)
        return self


class LayerDict(Layer):
    """Layers by name.

    >>> layers = nn.LayerDict({"hidden": nn.Linear(2, 4), "out": nn.Linear(4, 1)})
    >>> list(layers.keys()), layers["out"].weight.shape
    (['hidden', 'out'], [4, 1])
    """

    def __init__(self, sublayers=None):
        super().__init__()
        self.update(sublayers or {})

    def __getitem__(self, key):
        return self._sub_layers[key]

    def __setitem__(self, key, sublayer):
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key):
        del self._sub_layers[key]

    def __len__(self):
        return len(self._sub_layers)

    def __iter__(self):
        return iter(self._sub_layers)

    def __contains__(self, key):
        return key in self._sub_layers

    def keys(self):
        return self._sub_layers.keys()

    def values(self):
        return self._sub_layers.values()

    def items(self):
        return self._sub_layers.items()

    def pop(self, key):
        return self._sub_layers.pop(key)

    def clear(self):
        self._sub_layers.clear()

    def update(self, sublayers):
        for key, layer in sublayers.items() if hasattr(sublayers, "items") else sublayers:
            self.add_sublayer(key, layer)


class ParameterList(Layer):
    """Parameters in a list, which belong to the layer that holds it.

    >>> weights = nn.ParameterList([paddle.create_parameter([2], "float32") for _ in range(3)])
    >>> len(weights), len(weights.parameters())
    (3, 3)
    """

    def __init__(self, parameters=None):
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, index):
        if not isinstance(index, int):
            raise InvalidArgumentError(f"ParameterList is indexed by numbers; found {type(index).__name__}")
        return list(self._parameters.values())[index]

    def __setitem__(self, index, parameter):
        self._parameters[list(self._parameters)[index]] = parameter

    def append(self, parameter):
        self.add_parameter(str(len(self)), parameter)
        return self

"""HSigmoidLoss: the weights of a tree of classes."""

from argosy.dynamic import functional as F
from argosy.errors import InvalidArgumentError
from argosy.nn.layer import Layer

__all__ = ["HSigmoidLoss"]


class HSigmoidLoss(Layer):
    """paddle.nn.functional.hsigmoid_loss with weights of its own.

    A tree of one's own, is_custom, has a row for each of num_classes inner nodes, and its paths come with the labels.

    >>> nn.HSigmoidLoss(feature_size=3, num_classes=4)(paddle.ones([2, 3]), paddle.to_tensor([1, 2])).shape
    [2, 1]
    """

    def __init__(self, feature_size, num_classes, weight_attr=None, bias_attr=None, is_custom=False, is_sparse=False, name=None):
        super().__init__()
        if num_classes < 2 and not is_custom:
            raise InvalidArgumentError(f"HSigmoidLoss: num_classes is 2 or more; found {num_classes}")
        rows = num_classes if is_custom else num_classes - 1
        self._num_classes, self._is_sparse = num_classes, is_sparse
        self.weight = self.create_parameter([rows, feature_size], weight_attr)
        self.bias = self.create_parameter([rows, 1], bias_attr, is_bias=True)

    def forward(self, input, label, path_table=None, path_code=None):
        return F.hsigmoid_loss(input, label, self._num_classes, self.weight, self.bias, path_table, path_code, self._is_sparse)

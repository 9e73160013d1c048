"""Residual networks. Layers have Paddle's names, so that its state dicts fit."""

from argosy import nn
from argosy.errors import InvalidArgumentError, UnavailableError

__all__ = ["ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"]


class BasicBlock(nn.Layer):
    """Two convolutions of 3 by 3."""

    expansion = 1

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64):
        super().__init__()
        self.conv1 = nn.Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(planes)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = nn.BatchNorm2D(planes)
        self.downsample = downsample

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(nn.Layer):
    """Fewer channels for the convolution of 3 by 3."""

    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64):
        super().__init__()
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(width)
        self.conv2 = nn.Conv2D(width, width, 3, padding=1, stride=stride, groups=groups, bias_attr=False)
        self.bn2 = nn.BatchNorm2D(width)
        self.conv3 = nn.Conv2D(width, planes * self.expansion, 1, bias_attr=False)
        self.bn3 = nn.BatchNorm2D(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = downsample

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


_BLOCKS = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3], 152: [3, 8, 36, 3]}


class ResNet(nn.Layer):
    """A residual network of blocks, `depth` layers deep; num_classes of 0 leaves the last layer out, with_pool=False the pooling before it.

    >>> from paddle.vision.models.resnet import BasicBlock
    >>> paddle.vision.models.ResNet(BasicBlock, 18, num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    def __init__(self, block, depth=50, width=64, num_classes=1000, with_pool=True, groups=1):
        super().__init__()
        if depth not in _BLOCKS:
            raise InvalidArgumentError(f"ResNet: depth is one of {', '.join(map(str, _BLOCKS))}; found {depth}")
        self.groups, self.base_width, self.num_classes, self.with_pool, self.inplanes = groups, width, num_classes, with_pool, 64
        self.conv1 = nn.Conv2D(3, 64, kernel_size=7, stride=2, padding=3, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        for i, count in enumerate(_BLOCKS[depth]):
            setattr(self, f"layer{i + 1}", self._make_layer(block, 64 * 2**i, count, 1 if i == 0 else 2))
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block, planes, blocks, stride):
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, planes * block.expansion, 1, stride=stride, bias_attr=False), nn.BatchNorm2D(planes * block.expansion)
            )
        layers = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width)]
        self.inplanes = planes * block.expansion
        layers += [block(self.inplanes, planes, groups=self.groups, base_width=self.base_width) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        x = self.avgpool(x) if self.with_pool else x
        return self.fc(x.flatten(1)) if self.num_classes > 0 else x


def _resnet(block, depth, pretrained, **kwargs):
    if pretrained:
        raise UnavailableError("pretrained: nothing is downloaded here; give the model's state with set_state_dict(paddle.load(file))")
    return ResNet(block, depth, **kwargs)


def resnet18(pretrained=False, **kwargs):
    """A residual network of 18 layers; further arguments are those of ResNet. There are no trained weights: pretrained is refused.

    >>> paddle.vision.models.resnet18(num_classes=10).fc.weight.shape
    [512, 10]
    """
    return _resnet(BasicBlock, 18, pretrained, **kwargs)


def resnet34(pretrained=False, **kwargs):
    """A residual network of 34 layers; further arguments are those of ResNet. There are no trained weights: pretrained is refused.

    >>> paddle.vision.models.resnet34(num_classes=10).fc.weight.shape
    [512, 10]
    """
    return _resnet(BasicBlock, 34, pretrained, **kwargs)


def resnet50(pretrained=False, **kwargs):
    """A residual network of 50 layers; further arguments are those of ResNet. There are no trained weights: pretrained is refused.

    >>> paddle.vision.models.resnet50(num_classes=10).fc.weight.shape
    [2048, 10]
    """
    return _resnet(BottleneckBlock, 50, pretrained, **kwargs)


def resnet101(pretrained=False, **kwargs):
    """A residual network of 101 layers; further arguments are those of ResNet. There are no trained weights: pretrained is refused.

    >>> paddle.vision.models.resnet101(num_classes=10).fc.weight.shape
    [2048, 10]
    """
    return _resnet(BottleneckBlock, 101, pretrained, **kwargs)


def resnet152(pretrained=False, **kwargs):
    """A residual network of 152 layers; further arguments are those of ResNet. There are no trained weights: pretrained is refused.

    >>> paddle.vision.models.resnet152(num_classes=10).fc.weight.shape
    [2048, 10]
    """
    return _resnet(BottleneckBlock, 152, pretrained, **kwargs)

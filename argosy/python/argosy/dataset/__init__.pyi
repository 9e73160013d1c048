from . import cifar as cifar
from . import common as common
from . import mnist as mnist
from . import uci_housing as uci_housing

from . import cifar as cifar
from . import common as common
from . import imdb as imdb
from . import imikolov as imikolov
from . import mnist as mnist
from . import uci_housing as uci_housing

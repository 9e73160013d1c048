from . import datasets as datasets
from .datasets import Imdb as Imdb
from .datasets import Imikolov as Imikolov
from .datasets import UCIHousing as UCIHousing
from .vocabulary import Vocabulary as Vocabulary

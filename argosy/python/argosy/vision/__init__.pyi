from . import datasets as datasets
from . import models as models
from . import transforms as transforms

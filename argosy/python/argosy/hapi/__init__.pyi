from . import model as model
from . import progress as progress
from . import summaries as summaries
from .model import Model as Model
from .summaries import summary as summary

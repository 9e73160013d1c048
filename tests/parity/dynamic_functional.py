"""Functions of the dynamic graph with the gradients of all their inputs. Runs here and in PaddlePaddle 2.6.2; dynamic_cases.py collects CASES."""

import numpy as np

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

CASES = {}
_RNG = np.random.RandomState(5)


def _uniform(low, high, *shape):
    return _RNG.uniform(low, high, shape).astype("float32")


# Every float array is a leaf whose gradient is compared.
ARRAYS = {
    "a": _uniform(-2, 2, 3, 4),
    "b": _uniform(0.5, 2, 3, 4),
    "v": _uniform(0.1, 2, 3, 1),
    "w": _uniform(0.5, 1.5, 4),
    "l": _uniform(0, 5, 3, 4),
    "y": np.array([1, 3, 0]),
    "hot": np.array([[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1]], "float32"),
    "x": _uniform(-1, 1, 2, 4, 6, 7),
    "frames": _uniform(-1, 1, 6, 8, 2, 3),
    "theta": _uniform(-1, 1, 2, 2, 3),
    "theta3": _uniform(-1, 1, 2, 3, 4),
    "grid": _uniform(-1.3, 1.3, 2, 3, 5, 2),
    "solid": _uniform(-1, 1, 2, 3, 4, 4, 6),
    "grid3": _uniform(-1.3, 1.3, 2, 2, 3, 4, 3),
    "columns": _uniform(-1, 1, 2, 12, 20),
    "tree": _uniform(-1, 1, 5, 4),
    "lean": _uniform(-1, 1, 5, 1),
    "far": 40 * _uniform(-1, 1, 3, 4),
    "table": np.array([[0, 1, -1], [0, 2, 4], [3, -1, -1]]),
    "code": np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0]]),
    "square": _uniform(-1, 1, 3, 3),
    "i": np.array([[4, 6], [9, 3]]),
    "j": np.array([[6, 4], [6, 9]]),
    "on": np.array([[True, False], [True, True]]),
    "hole": np.array([1, np.nan, np.inf, -np.inf], "float32"),
    "ids": np.array([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]]),
    "parents": np.array([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]]),
}

EXPRESSIONS = """
F.gaussian_nll_loss(a,b,b); F.gaussian_nll_loss(a,b,v); F.gaussian_nll_loss(a,b,v.squeeze(-1),reduction='none')
F.gaussian_nll_loss(a,b,b,full=True,epsilon=1.0,reduction='sum'); F.poisson_nll_loss(a,l); F.poisson_nll_loss(b,l,log_input=False)
F.poisson_nll_loss(a,l,full=True,reduction='sum'); F.poisson_nll_loss(b,l,log_input=False,full=True,epsilon=0.1,reduction='none')
F.multi_margin_loss(a,y); F.multi_margin_loss(a,y,p=2,margin=0.5,reduction='sum'); F.multi_margin_loss(a,y,weight=w)
F.multi_margin_loss(a,y,p=2,weight=w); F.multi_margin_loss(a,y,reduction='none'); F.multi_label_soft_margin_loss(a,hot)
F.multi_label_soft_margin_loss(a,hot,w); F.multi_label_soft_margin_loss(a,hot,reduction='none')
F.multi_label_soft_margin_loss(a,hot,reduction='sum'); F.triplet_margin_with_distance_loss(a,b,l)
F.triplet_margin_with_distance_loss(a,b,l,margin=3.0,swap=True,reduction='none')
F.triplet_margin_with_distance_loss(a,b,l,lambda p,q:(p-q).abs().sum(-1),2.0,reduction='sum'); F.npair_loss(a,b,y)
F.npair_loss(a,b,paddle.to_tensor([1,1,0]),l2_reg=0.3); F.hsigmoid_loss(a,y,6,tree); F.hsigmoid_loss(a,y.unsqueeze(1),6,tree,lean)
F.hsigmoid_loss(a,y,5,tree,lean); F.hsigmoid_loss(far,y,6,tree,lean); F.hsigmoid_loss(a,y,6,tree,lean,table,code)
F.hsigmoid_loss(a,y,6,tree,None,table,code); F.affine_grid(theta,[2,3,4,5]); F.affine_grid(theta,[2,3,4,5],align_corners=False)
F.affine_grid(theta3,[2,3,4,5,3]); F.affine_grid(theta,paddle.to_tensor([2,3,4,5],dtype='int32')); F.grid_sample(x,grid)
F.grid_sample(x,grid,align_corners=False); F.grid_sample(x,grid,'nearest'); F.grid_sample(x,grid,padding_mode='border')
F.grid_sample(x,grid,padding_mode='reflection'); F.grid_sample(x,grid,padding_mode='reflection',align_corners=False)
F.grid_sample(x,grid,'nearest','border',False); F.grid_sample(solid,grid3); F.grid_sample(solid,grid3,'nearest','reflection',False)
F.fold(columns,[5,6],2); F.fold(columns,[5,6],[2,2],1,0,1); F.fold(columns,[3,4],2,1,[1,1,1,1]); F.fold(F.unfold(x,3,2,1,1),[6,7],3,2,1)
F.fold(F.unfold(x,2,dilations=2),[6,7],2,dilations=2); F.unfold(x,[2,3],[1,2],[0,1,2,3]); F.unfold(x,2,1,[1,2],[2,1])
F.max_unpool2d(*F.max_pool2d(x[:,:,:,:6],2,return_mask=True),2); F.max_unpool2d(*F.max_pool2d(x,2,return_mask=True),2,output_size=[6,7])
F.max_unpool2d(*F.max_pool2d(x,2,return_mask=True),2,output_size=[2,4,6,7]); F.max_unpool2d(*F.max_pool2d(x[:,:,:4,:6],[3,2],[3,2],[1,0],True),[3,2],[3,2],[1,0])
F.max_unpool1d(*F.max_pool1d(x[:,:,0],2,return_mask=True),2); F.max_unpool1d(*F.max_pool1d(x[:,:,:,0],2,2,return_mask=True),2,2,0)
F.max_unpool3d(*F.max_pool3d(solid,2,return_mask=True),2); F.max_unpool3d(*F.max_pool3d(solid,2,return_mask=True),2,2,0,output_size=[4,4,7])
F.temporal_shift(frames,3); F.temporal_shift(frames,2,0.4); F.temporal_shift(frames.transpose([0,2,3,1]),3,0.2,data_format='NHWC')
F.gather_tree(ids,parents); F.gather_tree(ids.astype('int32'),parents.astype('int32')); F.rrelu(a,training=False); F.rrelu(a,0.1,0.9,False)
F.rrelu(a,0.25,0.25); F.pixel_unshuffle(x[:,:,:,:6],2); F.channel_shuffle(x,2); F.elu_(a*2,0.7); F.hardtanh_(a*2,-0.5,1.0); F.leaky_relu_(a*2,0.2)
F.relu_(a*2); F.softmax_(a*2,0); F.softmax_(a*2); F.tanh_(a*2); F.thresholded_relu_(a*2,0.5); paddle.polygamma(b,1); paddle.polygamma(b,0); paddle.multigammaln(b+3,2)
paddle.renorm(x,2.0,1,2.0); paddle.i0e(a); paddle.i1(a); paddle.i1e(a); F.softmax_(a*2,dtype='float64')
"""

# What a call has changed, z, and whether it returned just that.
IN_PLACE = """
a*2; z.cast_('float64') | a*2; z.cast_('int64') | a*2; z.cumsum_() | a*2; z.cumsum_(1) | a*2; z.cumprod_(1) | a*2; paddle.where_(a>0,z,b)
a*2; (a>0).where_(z,b) | hole*2; z.nan_to_num_(3.0) | hole*2; paddle.nan_to_num_(z,posinf=2.0,neginf=-5.0) | square*2; z.addmm_(a,b.t(),beta=0.5,alpha=2.0)
i+0; z.bitwise_and_(j) | i+0; z.bitwise_or_(j) | i+0; z.bitwise_xor_(j) | i+0; z.bitwise_not_() | a*2; z.equal_(b) | a*2; z.not_equal_(b)
a*2; z.less_than_(b) | a*2; z.less_equal_(b) | a*2; z.greater_than_(b) | a*2; z.greater_equal_(b) | on.clone(); z.logical_and_(i>j)
on.clone(); z.logical_or_(i>j) | on.clone(); z.logical_xor_(i>j) | on.clone(); z.logical_not_() | a*2; paddle.erf_(z) | a.detach()*2; z.floor_mod_(b.detach()) | a.detach()*2; z.mod_(b.detach())
i+0; z.gcd_(j) | i+0; z.lcm_(j) | a*2; z.hypot_(b) | b*2; z.i0_() | a*2; z.ldexp_(y[:1].astype('float32')) | a*0.1+0.5; z.logit_() | a*0.1+0.5; z.logit_(1e-3)
b*2+3; z.multigammaln_(3) | b*2; z.polygamma_(2) | a*2; z.renorm_(2.0,0,1.5) | a*2; z.renorm_(1.0,-1,1.5) | a*2; z.t_() | x*2; z.transpose_([1,0,3,2])
square*2; z.fill_diagonal_tensor_(w[:3].detach()) | a*2; z.tanh_() | a.detach(); z.add_(b) | b*2; z.fill_diagonal_(7.0) | b*2; z.fill_diagonal_(7.0,1) | b*2; z.zero_() | b*2; z.fill_(3.0)
"""


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def differentiated(compute, leaves):
    """What compute() gives, and the gradients by the leaves of its float results' sum, each element weighted in its own way."""
    outputs = _listed(compute())
    floats = [one for one in outputs if paddle.is_floating_point(one) and not one.stop_gradient]
    total = sum((one.astype("float32") * paddle.to_tensor(np.cos(np.arange(one.size)).astype("float32").reshape(one.shape))).sum() for one in floats)
    if floats:
        total.backward()
    return [one.numpy() for one in outputs] + [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]


def leaves():
    return {name: paddle.to_tensor(array, stop_gradient=array.dtype.kind != "f") for name, array in ARRAYS.items()}


def _of(text):
    given = leaves()
    names = dict(given, paddle=paddle, F=F, nn=nn, np=np)
    return differentiated(lambda: eval(text, names), [one for one in given.values() if not one.stop_gradient])


for _text in EXPRESSIONS.strip().replace("\n", ";").split(";"):
    CASES["with gradients: " + _text.strip()] = lambda text=_text.strip(): _of(text)


def _changed(make, call):
    given = leaves()
    names = dict(given, paddle=paddle)
    z = names["z"] = eval(make, names)
    returned = eval(call, names)
    return [returned is z, differentiated(lambda: z, [one for one in given.values() if not one.stop_gradient])]


for _row in IN_PLACE.strip().replace("\n", "|").split("|"):
    CASES["with gradients: " + _row.strip()] = lambda row=_row: _changed(*(part.strip() for part in row.split(";")))


DRAWS = """
F.rrelu(paddle.full([4000],-1.0),0.2,0.6); paddle.ones([4000]).normal_(1.0,2.0); paddle.ones([4000]).geometric_(0.3); paddle.normal_(paddle.ones([4000]))
paddle.ones([4000]).uniform_(-2.0,3.0); paddle.ones([4000]).exponential_(2.0); F.dropout(paddle.ones([4000]),0.3); F.gumbel_softmax(paddle.zeros([2000,2]))
nn.Linear(60,60,weight_attr=nn.initializer.Orthogonal()).weight; nn.Conv2D(4,30,3,weight_attr=nn.initializer.Orthogonal(2.0)).weight
nn.Linear(60,60).weight; nn.LSTMCell(30,30).weight_hh; nn.MultiHeadAttention(60,2).q_proj.weight; nn.SpectralNorm([2000,2]).weight_u
"""
for _text in DRAWS.strip().replace("\n", ";").split(";"):
    CASES["drawn: " + _text.strip()] = lambda text=_text.strip(): eval(text, {"paddle": paddle, "F": F, "nn": nn}).numpy()

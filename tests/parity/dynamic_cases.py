"""Cases of the dynamic graph: each is run here and in PaddlePaddle 2.6.2, and what it returns is compared. Runs under either.

python dynamic_cases.py OUT     writes {case: what it gave} to OUT
"""

import pickle
import sys
import traceback

import numpy as np

import dynamic_functional
import dynamic_layers
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

CASES = {}
RNG = np.random.RandomState(7)
A = RNG.uniform(-2, 2, (3, 4)).astype("float32")
B = RNG.uniform(0.5, 2, (3, 4)).astype("float32")
IMAGE = RNG.uniform(-1, 1, (2, 4, 8, 9)).astype("float32")
IDS = np.array([[1, 0], [2, 2]], "int64")

EXPRESSIONS = """
paddle.vsplit(x,2); paddle.vander(a[0],3); paddle.vander(a[0],increasing=True); paddle.trapezoid(a); paddle.trapezoid(a,dx=2.0,axis=0); paddle.trapezoid(a,x=b)
paddle.cumulative_trapezoid(a,axis=0); paddle.cumulative_trapezoid(a,x=b); paddle.combinations(a[0]); paddle.combinations(a[0],3,True); paddle.shard_index(i.reshape([-1,1]),20,2,0)
paddle.shard_index(i.reshape([-1,1]),3,2,1,-7); paddle.select_scatter(a,b[0],0,1); paddle.select_scatter(a,b[:,0],-1,-2); paddle.diagonal_scatter(a,b[0,:3]); paddle.diagonal_scatter(a,b[0,:3],1)
paddle.nanmedian(a); paddle.nanmedian(a,axis=1,keepdim=True); paddle.nanmedian(a,axis=0); paddle.nanquantile(a,0.3,axis=1); paddle.nanquantile(a,[0.1,0.7])
paddle.nanquantile(paddle.where(a>0,a,a*float('nan')),0.4,axis=0,keepdim=True); paddle.nanmedian(paddle.where(a>1,a,a*float('nan')),axis=1); paddle.cross(a[:,:3],b[:,:3])
a+b; a-b; a*b; a/b; 2-a; 2/b; a**2; 2**a; a//b; a%b; -a; a@b.t(); a>b; a==a; i+1; i/2; i*1.5; i//2; paddle.add(a,b); paddle.maximum(a,b)
paddle.mod(a,b); paddle.pow(b,0.5); paddle.matmul(a,b,transpose_y=True); paddle.dot(a,b); paddle.sum(a); paddle.sum(a,axis=1)
paddle.sum(a,axis=[0,1],keepdim=True); paddle.sum(i); paddle.mean(a,axis=0); paddle.max(a,axis=1); paddle.min(a); paddle.prod(a,axis=1)
paddle.std(a); paddle.var(a,axis=1); paddle.var(a,unbiased=False); paddle.median(a,axis=1); paddle.logsumexp(a,axis=1)
paddle.all(a>0,axis=1); paddle.any(a>0); paddle.cumsum(a); paddle.cumsum(a,axis=1); paddle.argmax(a,axis=1); paddle.argmin(a)
paddle.argsort(a,axis=1); paddle.sort(a,axis=0,descending=True); paddle.topk(a,2); paddle.topk(a,2,axis=0,largest=False)
paddle.kthvalue(a,2); paddle.unique(i); paddle.nonzero(a>0); paddle.unique(i,return_index=True,return_inverse=True,return_counts=True)
paddle.where(a>0,a,b); paddle.clip(a,-1,1); paddle.clip(a,max=0.5); paddle.concat([a,b],axis=1); paddle.stack([a,b],axis=1)
paddle.split(a,2,axis=1); paddle.split(a,[1,-1],axis=1); paddle.chunk(a,3); paddle.unbind(a); paddle.reshape(a,[2,-1])
paddle.reshape(a,[0,2,2]); paddle.transpose(a,[1,0]); paddle.squeeze(a.unsqueeze(0)); paddle.unsqueeze(a,[0,2]); paddle.flatten(x,1)
paddle.flatten(x,1,2); paddle.tile(a,[2,1]); paddle.expand(a,[2,3,4]); paddle.expand(a,[2,-1,4]); paddle.broadcast_to(a,[2,3,4])
paddle.flip(a,[1]); paddle.roll(a,1); paddle.roll(a,1,axis=1); paddle.tril(a); paddle.triu(a,1); paddle.diag(a[0])
paddle.diag(a[0],padding_value=3.0); paddle.gather(a,i[0],axis=1); paddle.gather(a,i[1]); paddle.index_select(a,i[0],axis=1)
paddle.gather_nd(a,i); paddle.index_sample(a[:2],i); paddle.take_along_axis(a[:2],i,axis=1); paddle.scatter(a,i[0],b[:2])
paddle.scatter(a,i[1],b[:2],overwrite=False); paddle.scatter_nd_add(a,i,b[0,:2]); paddle.put_along_axis(a[:2],i,9.0,axis=1)
paddle.masked_select(a,a>0); F.one_hot(i,4); paddle.norm(a); paddle.norm(a,p=1,axis=1); paddle.dist(a,b); paddle.numel(a); paddle.shape(a)
paddle.cast(a,'int64'); a.astype('float64'); paddle.full([2],3); paddle.full([2,2],1.5); paddle.zeros([2]); paddle.ones([2],'int64')
paddle.arange(5); paddle.arange(1,2,0.25); paddle.linspace(0,1,5); paddle.eye(2,3); paddle.full_like(a,2); paddle.zeros_like(i)
paddle.meshgrid(a[0],b[0,:2]); paddle.to_tensor(3); paddle.to_tensor(1.5); paddle.to_tensor([1,2.5]); paddle.to_tensor(np.float64([1.5]))
paddle.to_tensor([True]); paddle.logical_and(a>0,b>1); paddle.logical_not(a>0); paddle.equal_all(a,a); paddle.allclose(a,b)
paddle.isnan(a); paddle.scale(a,2.0,1.0); paddle.scale(a,2.0,1.0,bias_after_scale=False); paddle.increment(paddle.ones([1]))
paddle.add_n([a,b]); paddle.kron(a[:1,:2],b[:1,:2]); paddle.trace(a); paddle.cumprod(a,dim=1); paddle.diff(a); paddle.histogram(a,4,-2,2)
paddle.bincount(i[0]); paddle.searchsorted(paddle.sort(a[0]),b[0]); paddle.slice(a,[1],[1],[3]); paddle.strided_slice(a,[1],[0],[4],[2])
a[0]; a[:,1:3]; a[...,0]; a[i[0]]; a[a>0]; a[None].shape; a[-1,::2]; a.shape; a.ndim; a.size; a.item(3); a.T; a.mean().item(); a.tolist()
len(a); a.numel(); a.dim(); F.relu(a); F.relu6(a); F.leaky_relu(a); F.elu(a); F.celu(a); F.selu(a); F.gelu(a); F.gelu(a,True)
F.sigmoid(a); F.log_sigmoid(a); F.tanh(a); F.softplus(a); F.softsign(a); F.swish(a); F.silu(a); F.mish(a); F.hardswish(a)
F.hardsigmoid(a); F.hardtanh(a); F.hardshrink(a); F.softshrink(a); F.tanhshrink(a); F.thresholded_relu(a); F.softmax(a)
F.softmax(a,axis=0); F.log_softmax(a); F.glu(a); F.maxout(x,2); F.linear(a,b.t()); F.normalize(a); F.cosine_similarity(a,b)
F.dropout(a,0.5,training=False); F.dropout(a,0.5,training=False,mode='downscale_in_infer'); F.label_smooth(b); F.sequence_mask(i[0],4)
F.cross_entropy(a,y); F.cross_entropy(a,y.unsqueeze(1)); F.cross_entropy(a,y,reduction='none')
F.cross_entropy(a,y.unsqueeze(1),reduction='none'); F.cross_entropy(a,y,weight=b[0]); F.cross_entropy(a,y,reduction='sum')
F.cross_entropy(a,F.softmax(b),soft_label=True); F.cross_entropy(a,y,ignore_index=1); F.cross_entropy(F.softmax(a),y,use_softmax=False)
F.cross_entropy(a,y,label_smoothing=0.1); F.softmax_with_cross_entropy(a,y.unsqueeze(1)); F.mse_loss(a,b); F.mse_loss(a,b,'none')
F.l1_loss(a,b,'sum'); F.smooth_l1_loss(a,b); F.smooth_l1_loss(a,b,delta=0.5); F.nll_loss(F.log_softmax(a),y)
F.kl_div(F.log_softmax(a),F.softmax(b)); F.kl_div(F.log_softmax(a),F.softmax(b),'batchmean')
F.binary_cross_entropy(F.sigmoid(a),F.sigmoid(b)); F.binary_cross_entropy_with_logits(a,F.sigmoid(b)); F.square_error_cost(a,b)
F.log_loss(F.sigmoid(a[:,:1]),F.sigmoid(b[:,:1])); F.margin_ranking_loss(a,b,paddle.sign(a)); F.hinge_embedding_loss(a,paddle.sign(a))
F.cosine_embedding_loss(a,b,paddle.to_tensor([1,-1,1])); F.triplet_margin_loss(a,b,a*2); F.sigmoid_focal_loss(a,F.sigmoid(b))
F.soft_margin_loss(a,paddle.sign(b)); F.conv2d(x,w); F.conv2d(x,w,c,stride=2,padding=1); F.conv2d(x,w,padding='SAME',stride=2)
F.conv2d(x,w,padding=[1,2]); F.conv2d(x,w,padding=[0,1,2,3]); F.conv2d(x,w[:,:2],groups=2); F.conv2d(x,w,dilation=2)
F.conv2d(x.transpose([0,2,3,1]),w,data_format='NHWC'); F.conv2d_transpose(x,w.transpose([1,0,2,3]),stride=2,padding=1)
F.conv2d_transpose(x,w.transpose([1,0,2,3]),stride=2,output_padding=1)
F.conv2d_transpose(x,w.transpose([1,0,2,3]),stride=2,output_size=[18,20]); F.conv1d(x[:,:,0],w[:,:,0]); F.max_pool2d(x,2)
F.max_pool2d(x,3,2,1); F.max_pool2d(x,3,2,ceil_mode=True); F.avg_pool2d(x,2); F.avg_pool2d(x,3,2,1); F.avg_pool2d(x,3,2,1,exclusive=False)
F.avg_pool1d(x[:,:,0],2); F.max_pool2d(x,2,return_mask=True); F.adaptive_avg_pool2d(x,1); F.adaptive_avg_pool2d(x,[3,None])
F.adaptive_max_pool2d(x,2); F.pad(x,[1,2,3,0]); F.pad(a,[1,0,0,2]); F.pad(x,[1,1,1,1],mode='reflect')
F.pad(x,[1,1,1,1],mode='replicate',value=0.0); F.zeropad2d(x,[1,2,0,1]); F.interpolate(x,scale_factor=2)
F.interpolate(x,[4,5],mode='bilinear'); F.interpolate(x,[4,5],mode='bilinear',align_corners=True); F.pixel_shuffle(x,2); F.unfold(x,3)
F.layer_norm(a,4); F.layer_norm(x,[8,9]); F.embedding(i,b); F.embedding(i,b,padding_idx=1); nn.GroupNorm(2,4)(x); F.instance_norm(x)
F.local_response_norm(x,3); F.batch_norm(x,paddle.zeros([4]),paddle.ones([4])); paddle.einsum('ij,kj->ik',a,b)
paddle.multiplex([a,b],paddle.to_tensor([[0],[1],[0]],dtype='int32')); paddle.unstack(a); paddle.moveaxis(x,1,2); paddle.rot90(a)
paddle.repeat_interleave(a,2,1); paddle.tensordot(a,b,2); paddle.outer(a[0],b[0]); paddle.quantile(a,0.3,axis=1); paddle.stanh(a)
paddle.logit(F.sigmoid(a)); paddle.lerp(a,b,0.3); paddle.nan_to_num(a); paddle.cummax(a,axis=1); paddle.linalg.inv(a[:,:3])
paddle.linalg.det(a[:,:3]); paddle.linalg.norm(a,p=2,axis=1); paddle.metric.accuracy(a,y.unsqueeze(1))
paddle.metric.accuracy(a,y.unsqueeze(1),k=2); paddle.rsqrt(b); paddle.erf(a); paddle.lgamma(b); paddle.trunc(a); paddle.round(a)
paddle.reciprocal(b)
"""


def values():
    t = paddle.to_tensor
    return {
        "a": t(A),
        "b": t(B),
        "x": t(IMAGE),
        "i": t(IDS),
        "y": t(np.array([1, 3, 0])),
        "w": t(RNG_WEIGHT),
        "c": t(RNG_WEIGHT[:, 0, 0, 0]),
        "paddle": paddle,
        "F": F,
        "nn": nn,
        "np": np,
    }


RNG_WEIGHT = RNG.uniform(-1, 1, (6, 4, 3, 3)).astype("float32")


def plain(value):
    if isinstance(value, paddle.Tensor):
        return value.numpy()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def case(function):
    CASES[function.__name__] = function
    return function


def small_net():
    first = RNG2()
    net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))
    for parameter in net.parameters():
        parameter.set_value(first.uniform(-1, 1, parameter.shape).astype("float32"))
    return net


def RNG2():
    return np.random.RandomState(3)


def trained(make, steps=5):
    net = small_net()
    optimizer = make(net.parameters())
    for _ in range(steps):
        loss = F.mse_loss(net(paddle.to_tensor(A)), paddle.to_tensor(B[:, :2]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    state = {key.split("_", 2)[2]: plain(value) for key, value in optimizer.state_dict().items() if key != "LR_Scheduler"}
    return [plain(parameter) for parameter in net.parameters()] + [sorted({(key.rsplit("_", 1)[0], value.shape) for key, value in state.items()})]


OPTIMIZERS = {
    "SGD": dict(),
    "SGD decay": dict(weight_decay=0.1),
    "SGD l1": dict(weight_decay=paddle.regularizer.L1Decay(0.1)),
    "Momentum": dict(momentum=0.9),
    "Momentum nesterov": dict(momentum=0.9, use_nesterov=True),
    "Adagrad": dict(),
    "Adagrad first": dict(initial_accumulator_value=0.5),
    "Adadelta": dict(),
    "Adam": dict(),
    "Adam decay": dict(weight_decay=0.1),
    "AdamW": dict(weight_decay=0.1),
    "AdamW some": dict(weight_decay=0.1, apply_decay_param_fun=lambda n: ".w_" in n),
    "Adamax": dict(),
    "RMSProp": dict(),
    "RMSProp centered": dict(centered=True, momentum=0.5),
    "Lamb": dict(),
    "Lamb some": dict(lamb_weight_decay=0.1, exclude_from_weight_decay_fn=lambda p: ".b_" in p.name),
    "SGD value": dict(grad_clip=nn.ClipGradByValue(0.05)),
    "SGD norm": dict(grad_clip=nn.ClipGradByNorm(0.1)),
    "SGD global": dict(grad_clip=nn.ClipGradByGlobalNorm(0.1)),
    "Adam decay global": dict(weight_decay=0.1, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
}
for _name, _arguments in OPTIMIZERS.items():
    CASES["optimizer " + _name] = lambda kind=_name.split()[0], arguments=_arguments: trained(
        lambda parameters: getattr(paddle.optimizer, kind)(learning_rate=0.1, parameters=parameters, **arguments)
    )


@case
def optimizer_groups():
    return trained(lambda p: paddle.optimizer.Momentum(0.1, 0.9, [{"params": p[:2], "learning_rate": 0.1}, {"params": p[2:], "weight_decay": 0.3}]))


@case
def rates_of_parameters():
    def net():
        weight = paddle.ParamAttr(learning_rate=0.1, regularizer=paddle.regularizer.L2Decay(0.5), initializer=nn.initializer.Constant(0.3))
        made = nn.Linear(4, 2, weight_attr=weight, bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.1)))
        optimizer = paddle.optimizer.SGD(0.1, made.parameters(), weight_decay=0.1)
        made(paddle.to_tensor(A)).sum().backward()
        optimizer.step()
        return [plain(p) for p in made.parameters()]

    return net()


@case
def batch_norm_trains_and_evaluates():
    layer, x = nn.BatchNorm2D(4), paddle.to_tensor(IMAGE)
    x.stop_gradient = False
    out = layer(x)
    (out * paddle.to_tensor(IMAGE)).sum().backward()
    found = [plain(out), plain(layer._mean), plain(layer._variance), plain(x.grad), plain(layer.weight.grad)]
    layer.eval()
    return found + [plain(layer(x)), sorted(layer.state_dict())]


@case
def gradients():
    a, b = paddle.to_tensor(A, stop_gradient=False), paddle.to_tensor(B, stop_gradient=False)
    (a * b).sum().backward()
    (a * b).backward()
    c = (a * a).sum()
    found = paddle.grad(c, [a], create_graph=True)[0]
    second = paddle.grad(found.sum(), [a])[0]
    a.clear_gradient()
    return [plain(b.grad), plain(found), plain(second), plain(a.grad), a.is_leaf, c.stop_gradient, (a.detach() * 2).stop_gradient]


def described(layer):
    return [[(name, part.shape, part.stop_gradient) for name, part in layer.state_dict().items()], [name for name, _ in layer.named_sublayers()]]


LAYERS = """
nn.Linear(2,3); nn.Conv2D(3,4,3); nn.Conv2D(3,4,3,stride=2,padding=1,groups=1); nn.BatchNorm1D(3); nn.BatchNorm2D(3); nn.LayerNorm(4)
nn.Embedding(4,3); nn.Dropout(0.3); nn.ReLU(); nn.LeakyReLU(); nn.Softmax(); nn.MaxPool2D(2,2); nn.AvgPool2D(2); nn.AdaptiveAvgPool2D(1)
nn.Flatten(); nn.GroupNorm(2,4); nn.Sigmoid(); nn.Tanh(); nn.Conv1D(2,3,1); nn.Conv2DTranspose(2,3,2); nn.GELU(); nn.CrossEntropyLoss()
nn.MSELoss(); nn.PReLU(); nn.Pad2D(1); nn.Identity(); nn.Sequential(nn.Linear(2,2),nn.ReLU()); paddle.vision.models.LeNet()
paddle.vision.models.resnet18(num_classes=10)
"""
for _text in LAYERS.strip().replace("\n", ";").split(";"):
    CASES["layer " + _text.strip()] = lambda text=_text.strip(): described(eval(text, values()))

TRANSFORMS = """
T.Resize(6); T.Resize((5,7)); T.CenterCrop(4); T.Pad(2); T.Pad((1,2),3,'reflect'); T.Grayscale(3); T.Transpose(); T.ToTensor()
T.Compose([T.Resize((4,4)),T.ToTensor(),T.Normalize([0.5]*3,[0.2]*3)]); T.Normalize([127.5]*3,[127.5]*3,'HWC')
T.RandomHorizontalFlip(1.0); T.RandomVerticalFlip(1.0); T.RandomCrop(8)
"""
for _text in TRANSFORMS.strip().replace("\n", ";").split(";"):

    def _transformed(text=_text.strip()):
        """Of PIL images: the judge's arrays need OpenCV."""
        from PIL import Image

        import paddle.vision.transforms as T

        image = (np.random.RandomState(0).rand(8, 9, 3) * 255).astype("uint8")
        return np.asarray(plain(eval(text, {"T": T})(Image.fromarray(image[:, :8] if "RandomCrop" in text else image))))

    CASES["transform " + _text.strip()] = _transformed


def recurrent(kind, **options):
    """Outputs, states and gradients of sequences, whole and of different lengths; weights by the names that both have."""
    layer, first = getattr(nn, kind)(3, 4, **options), RNG2()
    for name, part in sorted(layer.state_dict().items()):
        if "cell" not in name:
            part.set_value(first.uniform(-1, 1, part.shape).astype("float32"))
    x = paddle.to_tensor(first.uniform(-1, 1, (2, 5, 3)).astype("float32"), stop_gradient=False)
    found = []
    for lengths in (None, paddle.to_tensor([3, 5])):
        outputs, states = layer(x, None, lengths)
        (outputs * outputs).sum().backward()
        found += [plain(outputs), plain(states), plain(x.grad)]
    return found


for _kind, _options in (
    ("LSTM", {}),
    ("LSTM", dict(num_layers=2, direction="bidirect")),
    ("GRU", {}),
    ("GRU", dict(num_layers=2)),
    ("SimpleRNN", {}),
    ("SimpleRNN", dict(activation="relu", direction="bidirect")),
):
    CASES["recurrent %s %r" % (_kind, _options)] = lambda kind=_kind, options=_options: recurrent(kind, **options)


SCHEDULERS = """
lr.LinearLR(0.1,5); lr.LinearLR(0.2,4,0.5,0.1); lr.CosineAnnealingWarmRestarts(0.1,3); lr.CosineAnnealingWarmRestarts(0.1,2,2,0.01)
lr.CyclicLR(0.1,0.5,3); lr.CyclicLR(0.1,0.5,3,2,'triangular2'); lr.CyclicLR(0.1,0.5,3,mode='exp_range',exp_gamma=0.9)
lr.OneCycleLR(1.0,14); lr.OneCycleLR(1.0,14,anneal_strategy='linear',three_phase=True); lr.NoamDecay(64,4); lr.ExponentialDecay(0.5,0.9)
lr.NaturalExpDecay(0.5,0.1); lr.InverseTimeDecay(0.5,0.1); lr.PolynomialDecay(0.5,5); lr.PolynomialDecay(0.5,5,cycle=True)
lr.PiecewiseDecay([3,6],[0.1,0.2,0.3]); lr.CosineAnnealingDecay(0.5,6); lr.StepDecay(0.5,3); lr.MultiStepDecay(0.5,[2,5])
lr.LambdaDecay(0.5,lambda e: 0.9**e); lr.MultiplicativeDecay(0.5,lambda e: 0.95); lr.LinearWarmup(0.5,4,0.0,0.5)
lr.LinearWarmup(lr.StepDecay(0.5,3),4,0.0,0.5)
"""


def rates(text):
    scheduler, found = eval(text, {"lr": paddle.optimizer.lr}), []
    for _ in range(13):
        found.append(float(scheduler()))
        scheduler.step()
    return found


for _text in SCHEDULERS.strip().replace("\n", ";").split(";"):
    CASES["rate " + _text.strip()] = lambda text=_text.strip(): rates(text)


@case
def samplers():
    from paddle.io import BatchSampler, DistributedBatchSampler

    data = list(range(13))
    found = [list(BatchSampler(data, batch_size=4, drop_last=drop)) for drop in (False, True)]
    for rank in range(3):
        sampler = DistributedBatchSampler(data, 2, 3, rank, shuffle=True)
        for epoch in (0, 5):
            sampler.set_epoch(epoch)
            found.append(list(sampler))
        found += [list(sampler), len(sampler), list(DistributedBatchSampler(data, 2, 3, rank, drop_last=True))]
    return found


@case
def loaders():
    class Pairs(paddle.io.Dataset):
        def __getitem__(self, i):
            return A[i % 3], i, {"k": 0.5 * i}

        def __len__(self):
            return 5

    return [[plain(batch[0]), plain(batch[1]), plain(batch[2]["k"])] for batch in paddle.io.DataLoader(Pairs(), batch_size=2)]


@case
def metrics():
    found = []
    accuracy = paddle.metric.Accuracy(topk=(1, 2))
    found += [accuracy.update(accuracy.compute(paddle.to_tensor(A), paddle.to_tensor([[1], [3], [0]]))), accuracy.accumulate(), accuracy.name()]
    for metric in (paddle.metric.Precision(), paddle.metric.Recall()):
        metric.update(np.array([0.1, 0.6, 0.7, 0.2]), np.array([0, 1, 0, 1]))
        found += [metric.accumulate(), metric.name()]
    auc = paddle.metric.Auc()
    auc.update(np.stack([1 - B[0] / 3, B[0] / 3], 1), np.array([[0], [1], [0], [1]]))
    return found + [auc.accumulate()]


def main():
    found = {}
    table = dict(CASES, **dynamic_functional.CASES, **dynamic_layers.CASES)
    for text in EXPRESSIONS.strip().replace("\n", ";").split(";"):
        table[text.strip()] = lambda text=text.strip(): plain(eval(text, values()))
    for name, function in table.items():
        try:
            found[name] = function()
        except Exception:
            found[name] = "raised " + traceback.format_exc()[-600:]
    with open(sys.argv[1], "wb") as file:
        pickle.dump(found, file, protocol=2)


if __name__ == "__main__":
    main()

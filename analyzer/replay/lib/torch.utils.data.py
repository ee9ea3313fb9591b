import _support
import _torch
import torch


# What a dataset holds whose length is not known: enough for every replay.
_UNKNOWN_LENGTH = 10000


def _length(dataset):
    n = len(dataset)
    return _UNKNOWN_LENGTH if _support.is_unknown(n) else n


# The order of the data is wanted even where numbers are not.
def _permutation(n, generator):
    if _support.is_unknown(n):
        n = _UNKNOWN_LENGTH
    meta = _torch.set_meta(False)
    order = torch.randperm(n, generator=generator).tolist()
    _torch.set_meta(meta)
    return order


class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    def __iter__(self):
        raise NotImplementedError

    def __add__(self, other):
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        for dataset in self.datasets:
            yield from dataset

    def __len__(self):
        return sum([len(dataset) for dataset in self.datasets])


class StackDataset(Dataset):
    def __init__(self, *args, **kwargs):
        self.datasets = args if args else kwargs

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple([dataset[index] for dataset in self.datasets])

    def __len__(self):
        return len(self.datasets[0] if isinstance(self.datasets, tuple) else next(iter(self.datasets.values())))


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        assert all(tensors[0].size(0) == t.size(0) for t in tensors), "Size mismatch between tensors"
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class Subset(Dataset):
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    def __init__(self, datasets):
        self.datasets = list(datasets)

    @property
    def cumulative_sizes(self):
        sizes = []
        for dataset in self.datasets:
            sizes.append(len(dataset) + (sizes[-1] if sizes else 0))
        return sizes

    def __len__(self):
        return sum(len(d) for d in self.datasets)

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        for d in self.datasets:
            if idx < len(d):
                return d[idx]
            idx -= len(d)
        raise IndexError


def random_split(dataset, lengths, generator=None):
    if sum(lengths) <= 1 and any(isinstance(n, float) for n in lengths):
        sizes = [int(len(dataset) * f) for f in lengths]
        for i in range(len(dataset) - sum(sizes)):
            sizes[i % len(sizes)] += 1
        lengths = sizes
    indices = _permutation(sum(lengths), generator)
    result = []
    offset = 0
    for n in lengths:
        result.append(Subset(dataset, indices[offset:offset + n]))
        offset += n
    return result


class Sampler:
    def __init__(self, data_source=None):
        pass


class SequentialSampler(Sampler):
    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(_length(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self):
        return _length(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n = _length(self.data_source)
        generator = self.generator
        seed = _torch.draw_int63() if generator is None else None
        if self.replacement:
            if generator is None:
                generator = torch.Generator().manual_seed(seed)
            order = torch.randint(n, (self.num_samples,), dtype=torch.int64, generator=generator).tolist()
        elif generator is None:
            order = _torch.permutation(n, seed)
        else:
            order = _permutation(n, generator)
        yield from order[:self.num_samples]

    def __len__(self):
        return self.num_samples


class WeightedRandomSampler(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.weights = torch.as_tensor(weights, dtype=torch.double)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from iter(torch.multinomial(self.weights, self.num_samples, self.replacement,
                                          generator=self.generator).tolist())

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in _permutation(len(self.indices), self.generator):
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class BatchSampler(Sampler):
    def __init__(self, sampler, batch_size, drop_last):
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        items = iter(self.sampler)
        batch = _support.take(items, self.batch_size)
        while batch and len(batch) == self.batch_size:
            yield batch
            batch = _support.take(items, self.batch_size)
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else (n + self.batch_size - 1) // self.batch_size


def default_collate(batch):
    elem = batch[0]
    if _support.is_unknown(elem):
        return _support.unknown("batch")
    if isinstance(elem, torch.Tensor):
        return torch.stack(batch, 0)
    if isinstance(elem, bool):
        return torch.tensor(batch)
    if isinstance(elem, float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(elem, int):
        return torch.tensor(batch)
    if isinstance(elem, (str, bytes)):
        return batch
    if isinstance(elem, dict):
        return {key: default_collate([d[key] for d in batch]) for key in elem}
    if isinstance(elem, tuple) and hasattr(elem, "_fields"):
        return type(elem)(*(default_collate(samples) for samples in zip(*batch)))
    if isinstance(elem, (tuple, list)):
        return [default_collate(samples) for samples in zip(*batch)]
    return torch.as_tensor(batch)


class DataLoader:
    def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, **kwargs):
        self.dataset = dataset
        self.batch_size = batch_size
        self.num_workers = num_workers
        self.drop_last = drop_last
        self.generator = generator
        self._iterable = isinstance(dataset, IterableDataset)
        self._unknown = any(_support.is_unknown(v) for v in (dataset, sampler, batch_sampler))
        if self._unknown:
            self.sampler, self.batch_sampler, self.collate_fn = sampler, batch_sampler, collate_fn
            return
        if _support.is_unknown(batch_size):
            batch_size = self.batch_size = 4
        if sampler is None and not self._iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and not self._iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn if collate_fn is not None else default_collate if batch_size else (lambda x: x)

    def __iter__(self):
        if self._unknown:
            return iter(_support.unknown("batches"))
        return _Iterator(self)

    def __len__(self):
        if self._unknown:
            return _support.unknown("len(loader)")
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        return len(self.dataset)


class _Iterator:
    def __init__(self, loader):
        self.loader = loader
        self.plain = type(loader.dataset) is TensorDataset and loader.collate_fn is default_collate
        if loader.generator is None:
            _torch.draw_int63()
        else:
            torch.randint(1 << 40, (), generator=loader.generator)
        if loader._iterable:
            self.items = iter(loader.dataset)
        elif loader.batch_sampler is not None:
            self.items = iter(loader.batch_sampler)
        else:
            self.items = iter(loader.sampler)

    def __iter__(self):
        return self

    def __next__(self):
        loader = self.loader
        if loader._iterable:
            if loader.batch_size is None:
                return next(self.items)
            batch = []
            for item in self.items:
                batch.append(item)
                if len(batch) == loader.batch_size:
                    break
            if not batch or loader.drop_last and len(batch) < loader.batch_size:
                raise StopIteration
            return loader.collate_fn(batch)
        index = next(self.items)
        if loader.batch_sampler is None:
            return loader.collate_fn(loader.dataset[index])
        dataset = loader.dataset
        if self.plain and index:
            rows = _torch.rows(dataset.tensors, index)
            if rows is not None:
                return rows
        return loader.collate_fn([dataset[i] for i in index])

    def __len__(self):
        return len(self.loader)


def get_worker_info():
    return None

"""The sets that Inkling knows by name, digits and others of their form: what they show, whose and where they are.

A table to read, and the only place where the address of another machine is written. Nothing here asks for anything:
core.digits.fetching does, and only when somebody named a set.

Sizes and SHA-256 are those that TensorFlow Datasets has on record for each address (its folder url_checksums:
fashion_mnist.txt, kmnist.txt, emnist.txt, qmnist.txt); those of Fashion-MNIST's second mirror are the same files by the
MD5 sums in its authors' README. All mirrors of a file have to hold the same bytes.
"""

from dataclasses import dataclass

from core.digits.dataset import DatasetError

BUILT_IN = "mnist"
DIGITS = tuple("0123456789")


class UnknownSetError(DatasetError):
    """No set has that name; the message lists those there are."""


@dataclass(frozen=True)
class PublishedFile:
    """A file as its authors published it: `size` in bytes, `sha256` in hexadecimal, `urls` in the order to try them."""

    name: str
    size: int
    sha256: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class PublishedSet:
    """A set by the `name` that commands take and the `title` that people read; `classes` say what 0 to 9 stand for.

    `credit` is whom to name when using it. `files` are what is to be fetched, none for the built-in set. `transposed`:
    its pictures lie with rows and columns exchanged, and are set upright on the way in.
    """

    name: str
    title: str
    classes: tuple[str, ...]
    licence: str
    credit: str
    source: str
    train_digits: int
    test_digits: int
    files: tuple[PublishedFile, ...] = ()
    transposed: bool = False

    @property
    def is_built_in(self) -> bool:
        """Whether it comes with Inkling."""
        return not self.files

    @property
    def size(self) -> int:
        """Bytes to fetch."""
        return sum(file.size for file in self.files)

    @property
    def shows_digits(self) -> bool:
        """Whether a 3 is a three here, and not a kind of dress."""
        return self.classes == DIGITS


def find_set(name: str) -> PublishedSet:
    """The set called `name`; raises UnknownSetError."""
    if name not in SETS:
        raise UnknownSetError(f"there is no set {name!r:.60}; choose {', '.join(SETS)}")
    return SETS[name]


def title_of(name: str) -> str:
    """What people call the set of this `name`; one that Inkling does not know is called as it is named."""
    return SETS[name].title if name in SETS else name


def find_titled(title: str) -> PublishedSet | None:
    """The set that people know by this `title`, which is what a network's file says it learned from."""
    return next((known for known in SETS.values() if known.title == title), None)


def classes_of(title: str) -> tuple[str, ...]:
    """What 0 to 9 stand for in the set of this `title`; digits, where no set is known by it."""
    published = find_titled(title)
    return DIGITS if published is None else published.classes


def shows_digits(title: str) -> bool:
    """Whether a 3 is a three in the set of this `title`; so it is taken to be where no set is known by it."""
    return classes_of(title) == DIGITS


def _files(mirrors: tuple[str, ...], listed: dict[str, tuple[int, str]]) -> tuple[PublishedFile, ...]:
    """The `listed` files, name to size and SHA-256, each of which lies at all `mirrors`."""
    return tuple(
        PublishedFile(name, size, sha256, tuple(mirror + name for mirror in mirrors))
        for name, (size, sha256) in listed.items()
    )


_MNIST = PublishedSet(
    BUILT_IN,
    "MNIST",
    DIGITS,
    "CC BY-SA 3.0",
    "Yann LeCun and Corinna Cortes",
    "http://yann.lecun.com/exdb/mnist/",
    60_000,
    10_000,
)

_FASHION_MNIST = PublishedSet(
    "fashion-mnist",
    "Fashion-MNIST",
    ("T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"),
    "MIT",
    "Zalando Research, arXiv:1708.07747",
    "https://github.com/zalandoresearch/fashion-mnist",
    60_000,
    10_000,
    _files(
        (
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        ),
        {
            "train-images-idx3-ubyte.gz": (
                26_421_880,
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            ),
            "train-labels-idx1-ubyte.gz": (29_515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
            "t10k-images-idx3-ubyte.gz": (
                4_422_102,
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            ),
            "t10k-labels-idx1-ubyte.gz": (5_148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
        },
    ),
)

_KMNIST = PublishedSet(
    "kmnist",
    "KMNIST",
    ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"),
    "CC BY-SA 4.0",
    "KMNIST Dataset (created by CODH), adapted from Kuzushiji Dataset (created by NIJL and others), "
    "doi:10.20676/00000341",
    "https://github.com/rois-codh/kmnist",
    60_000,
    10_000,
    _files(
        ("https://codh.rois.ac.jp/kmnist/dataset/kmnist/", "http://codh.rois.ac.jp/kmnist/dataset/kmnist/"),
        {
            "train-images-idx3-ubyte.gz": (
                18_165_135,
                "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
            ),
            "train-labels-idx1-ubyte.gz": (29_497, "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17"),
            "t10k-images-idx3-ubyte.gz": (
                3_041_136,
                "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
            ),
            "t10k-labels-idx1-ubyte.gz": (5_120, "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c"),
        },
    ),
)

_EMNIST_DIGITS = PublishedSet(
    "emnist-digits",
    "EMNIST Digits",
    DIGITS,
    "none stated",
    "Gregory Cohen and others, arXiv:1702.05373, from NIST Special Database 19",
    "https://www.nist.gov/itl/products-and-services/emnist-dataset",
    240_000,
    40_000,
    # The digits lie in one archive with all letters: there is no smaller way to them.
    _files(
        ("https://biometrics.nist.gov/cs_links/EMNIST/", "https://www.itl.nist.gov/iaui/vip/cs_links/EMNIST/"),
        {"gzip.zip": (561_753_746, "fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e")},
    ),
    transposed=True,
)

_QMNIST = PublishedSet(
    "qmnist",
    "QMNIST",
    DIGITS,
    "BSD, three clauses",
    "Chhavi Yadav and Léon Bottou, arXiv:1905.10498, from NIST Special Database 19",
    "https://github.com/facebookresearch/qmnist",
    60_000,
    60_000,
    _files(
        (
            "https://raw.githubusercontent.com/facebookresearch/qmnist/master/",
            "https://github.com/facebookresearch/qmnist/raw/master/",
        ),
        {
            "qmnist-train-images-idx3-ubyte.gz": (
                9_704_059,
                "9e26a7bf1683614e065d7b76460ccd52807165b3f22561fb782bd9f38c52b51d",
            ),
            "qmnist-train-labels-idx2-int.gz": (
                463_024,
                "2c05dc77f6b916b38e455e97ab129a42a444f3dbef09b278a366f82904e0dd9f",
            ),
            "qmnist-test-images-idx3-ubyte.gz": (
                9_742_279,
                "43fc22bf7498b8fc98de98369d72f752d0deabc280a43a7bcc364ab19e57b375",
            ),
            "qmnist-test-labels-idx2-int.gz": (
                526_800,
                "9fbcbe594c3766fdf4f0b15c5165dc0d1e57ac604e01422608bb72c906030d06",
            ),
        },
    ),
)

SETS = {known.name: known for known in (_MNIST, _FASHION_MNIST, _KMNIST, _EMNIST_DIGITS, _QMNIST)}

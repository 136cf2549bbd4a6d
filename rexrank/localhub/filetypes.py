"""Which files are stored through LFS."""

BINARY_TYPES = (
    *("7z", "arrow", "bin", "ckpt", "dcm", "gz", "jpeg", "jpg", "mp4", "npy", "npz", "onnx", "parquet", "pdf"),
    *("pickle", "pkl", "png", "pt", "pth", "safetensors", "tar", "tgz", "zip"),
)
LARGEST_REGULAR_FILE = 10_000_000

GIT_ATTRIBUTES = "".join(f"*.{ending} filter=lfs diff=lfs merge=lfs -text\n" for ending in BINARY_TYPES)


def is_large(path: str, size: int) -> bool:
    """Whether a file goes to LFS: binary types and everything over 10 MB, but never an empty file."""
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return size > 0 and (size > LARGEST_REGULAR_FILE or (bool(dot) and ending.lower() in BINARY_TYPES))

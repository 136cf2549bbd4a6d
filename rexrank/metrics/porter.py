"""placeholder"""


def stem(word: str) -> str:
    return word

"""Published sizes of training and test sets, and where sets come from that cannot be fetched."""

#: Of the binary sets of the IDA repository, whose splits are random ones of these sizes.
IDA_SIZES = {
    "banana": (400, 4900),
    "breast_cancer": (200, 77),
    "diabetes": (468, 300),
    "flare_solar": (666, 400),
    "german": (700, 300),
    "heart": (170, 100),
    "image": (1300, 1010),
    "ringnorm": (400, 7000),
    "splice": (1000, 2175),
    "thyroid": (140, 75),
    "titanic": (150, 2051),
    "twonorm": (400, 7000),
    "waveform": (400, 4600),
}
_IDA = "the IDA benchmark repository of G. Raetsch"
#: Sets of the paper that are not on OpenML, or only in another version.
ELSEWHERE = {
    "breast_cancer": _IDA,
    "cifar10_gist": "GIST features of the images of CIFAR-10",
    "flare_solar": _IDA,
    "image": _IDA,
    "labelme": "features of the images of LabelMe",
    "pascal07": "features of the images of PASCAL VOC 2007",
    "scene15_gist": "GIST features of the images of 15 scenes",
    "splice": _IDA,
    "sun": "features of the images of SUN",
    "thyroid": _IDA,
    "vowel": "UCI's Deterding vowel data, without the speaker and the sex",
}

"""Published sizes of training and test sets."""

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

"""Fitted weak learners as arrays, for storage and prediction."""

from cgens.packs.array_pack import ArrayPack, BlockPack, FeaturePack
from cgens.packs.pack import Decider, Pack, pack_from_arrays, pack_to_arrays, register_pack
from cgens.packs.pack_set import PackSet

__all__ = [
    "ArrayPack",
    "BlockPack",
    "Decider",
    "FeaturePack",
    "Pack",
    "PackSet",
    "pack_from_arrays",
    "pack_to_arrays",
    "register_pack",
]

"""Fitted weak learners as arrays: what a model keeps, predicts with and can be rebuilt from."""

from cgens.packs.array_pack import ArrayPack
from cgens.packs.block_pack import BlockPack
from cgens.packs.pack import Decider, Pack, pack_from_arrays, pack_to_arrays, register_pack
from cgens.packs.pack_set import PackSet

__all__ = [
    "ArrayPack",
    "BlockPack",
    "Decider",
    "Pack",
    "PackSet",
    "pack_from_arrays",
    "pack_to_arrays",
    "register_pack",
]

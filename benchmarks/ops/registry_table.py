# SPDX-License-Identifier: Apache-2.0
"""The calls that registry.py makes: for every operator the attributes and shapes with which it is met."""
from registry_arrays import Arrays
from registry_elements import Elements
from registry_layers import Layers
from registry_others import Others


class Table(Elements, Arrays, Layers, Others):
    """A family of operators is a method."""

    def rows(self):
        for family in (self.unary, self.binary, self.broadcasting, self.scalars, self.reductions, self.numpy_reductions, self.creation, self.shapes,
                       self.numpy_shapes, self.joining, self.indexing, self.numpy_indexing, self.ordering, self.matrices, self.decompositions, self.activations,
                       self.losses, self.layers, self.convolutions, self.pooling, self.recurrent, self.spatial, self.detection, self.regions_of_maps,
                       self.images, self.random, self.densities, self.optimizers, self.quantized, self.sparse, self.others):
            yield from family()

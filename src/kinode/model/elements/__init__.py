"""Force elements.  Springs, forces and moments are always known; the others when a kind is looked for."""

# isort: off
from kinode.model.elements.spring import Spring
from kinode.model.elements.applied_loads import Force, Moment

__all__ = ["Force", "Moment", "Spring"]

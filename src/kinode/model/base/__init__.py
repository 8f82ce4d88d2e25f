"""What components are made of: fields, frames, bodies, parameters, events, the base of elements."""

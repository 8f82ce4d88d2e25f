"""The component circuit: equations of motion from component equations and nodal laws."""

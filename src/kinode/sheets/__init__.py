"""What is printed, without mechanics: terms of formulas, tables, sheets; as text, LaTeX and MathML."""

"""Text to terms and back.

Read in this order:
    sexpr: KIF text to nested expressions, and every fault that a text can have.
    parser: expressions to :class:`~gdl.rules.Rules` and terms.
    format: the canonical layout of a text.
"""

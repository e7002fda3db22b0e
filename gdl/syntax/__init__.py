"""Text to terms and back.

Read in this order:
    sexpr: KIF text to nested expressions, and every fault that a text can have.
    infix: the same expressions from infix GDL, by pyparsing; ``notation`` tells the two apart.
    parser: expressions to :class:`~gdl.rules.Rules` and terms.
    own_notation: parts of rules as their author writes them, for messages; ``typography``: stray characters.
    format: the canonical layout of a text; ``convert`` also turns one notation into the other.
"""

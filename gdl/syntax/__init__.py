"""Text to terms and back.

Read in this order:
    sexpr: KIF text to nested expressions, past every fault that a text can have, and stray characters.
    grammar: the same expressions from notations with operators, by pyparsing, which is imported when a text
    needs it (``term_token`` reads terms in one piece).
    notation: the table of notations, infix GDL and Prolog, and which one a text is in.
    parser: expressions to :class:`~gdl.rules.Rules` and terms.
    writer: rules in notations with operators; parts of rules as their author writes them, for messages.
    format: the canonical layout of a text, in its own notation or another one.
"""

"""Text to terms and back.

Read in this order:
    sexpr: KIF text to nested expressions, and every fault that a text can have; ``kif`` reads past these.
    grammar: the same expressions from notations with operators, by pyparsing; ``infix`` and ``prolog`` are
        two of them, ``term_token`` reads what all have in common.
    notation: the table of notations; ``look`` sees which one a text is in.
    parser: expressions to :class:`~gdl.rules.Rules` and terms.
    writer: rules in notations with operators.
    own_notation: parts of rules as their author writes them, for messages; ``typography``: stray characters.
    format: the canonical layout of a text; ``convert`` also turns one notation into another.
"""

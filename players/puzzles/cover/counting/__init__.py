"""Solutions of exact covers counted without being visited one by one.

Read ``memo`` first; ``order`` says in which order the items come, ``memo_kernels`` is the compiled loop.
"""

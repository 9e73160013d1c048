"""What functions of the dynamic graph, which are defined and described there, add to a program when they are called with its Variables.

argosy.dispatch finds them by name. They are made of fluid's layers and of other functions for both graphs.
"""

// The macros of status.h by the names that our own sources use. Not installed: a user's project may have such names itself.
#pragma once

#define RETURN_IF_ERROR(expression) ARGOSY_RETURN_IF_ERROR(expression)
#define ASSIGN_OR_RETURN(declaration, expression) ARGOSY_ASSIGN_OR_RETURN(declaration, expression)

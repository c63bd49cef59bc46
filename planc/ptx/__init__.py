"""PTX: lexer, parser, instruction table, control flow."""

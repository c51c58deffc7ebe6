"""What other readers of these files give, made from results of this one: a module each, imported only when it is used."""

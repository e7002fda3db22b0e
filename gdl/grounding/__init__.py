"""The grounder: a program becomes rules without variables, the variables bound one by one."""

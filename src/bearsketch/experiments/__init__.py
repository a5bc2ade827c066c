"""The paper's simulations and theorems as experiments: runs write tables, figures read them."""

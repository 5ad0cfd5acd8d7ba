print("attache-bench")

print("attache")

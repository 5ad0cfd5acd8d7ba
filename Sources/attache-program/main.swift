import attache

AttacheMain.run()

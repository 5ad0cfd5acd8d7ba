import AttacheKit

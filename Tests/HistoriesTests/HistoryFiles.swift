import Foundation

enum HistoryFiles {
  static func all(in directory: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: directory).sorted().map {
      directory + "/" + $0
    }
  }
}

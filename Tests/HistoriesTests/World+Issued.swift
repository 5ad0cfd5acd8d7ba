import JSON
import SmartStore
import Snapshots
import System
import TestSupport

extension World {
  /// Compares the records that each user's newest generation issued with its store.
  func judgeIssued() throws {
    for name in ["ada", "ben"] {
      guard let user = org.user(named: name + "@example.com"),
        let generation = try data.generations(of: user.id).last, judgedIssued[user.id] != generation
      else { continue }
      judgedIssued[user.id] = generation
      let place = data.generation(generation, of: user.id)
      let carrying = "\(place)/\(CarryingStore.cleanDirectory)/ios"
      let stores = try HistoryFiles.all(in: Files.exists(carrying) ? carrying : place + "/ios")
      let reader = try IssuedRecordReader(path: data.issued(generation, of: user.id))
      var left = try reader.allIDs()
      for path in stores where path.hasSuffix(".sqlite") {
        let store = try Store(opening: path, readOnly: true)
        for soup in Soup.all {
          try store.forEachElement(in: soup.name) { element in
            let object = try element.value().object ?? [:]
            guard let id = object["Id"]?.string else { return }
            left.remove(id)
            let issued = try reader.records(id: id).first { $0.soup.hasSuffix("/" + soup.name) }
            let fields = try issued.flatMap { try JSONValue(parsing: $0.fields).object }
            let isSame =
              fields.map {
                $0.names.allSatisfy { fields?[$0] == object[$0] } && $0[soup.marker] != nil
              } ?? false
            guard isSame, issued?.lastModified == element.lastModified,
              issued?.modified == object["LastModifiedDate"]?.string
            else {
              throw Violation(
                "generation \(generation) of \(name) issued \(issued?.fields.count ?? 0) bytes of \(id) "
                  + "in \(soup.name), which differ from its store")
            }
          }
        }
        try store.close()
      }
      guard left.isEmpty else {
        throw Violation(
          "generation \(generation) of \(name) issued \(left.sorted()), which it lacks")
      }
    }
  }
}

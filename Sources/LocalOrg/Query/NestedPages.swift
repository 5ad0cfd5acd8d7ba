/// Splits the children of a record into pages while they are written.
struct NestedPages {
  /// The children of one record that did not fit, including those of the first page.
  struct Rest {
    let cursorID: String
    /// The subquery: its index in the statement, after those of the enclosing subqueries.
    let path: String
    let sequences: [Int64]
  }

  let cursors: Cursors
  /// The number of children written per page.
  let size: Int
  /// The prefix of URLs.
  let root: String
  private(set) var rests: [Rest] = []
  private var path = ""

  init(cursors: Cursors, size: Int, root: String) {
    self.cursors = cursors
    self.size = size
    self.root = root
  }

  /// Returns the same for the records of a subquery.
  func entering(_ place: Int) -> NestedPages {
    var inner = self
    inner.rests = []
    inner.path = step(place)
    return inner
  }

  /// Adds the remaining children of a subquery and returns the URL of their next page.
  mutating func add(_ sequences: [Int64], _ place: Int) -> String {
    let id = cursors.newID()
    rests.append(Rest(cursorID: id, path: step(place), sequences: sequences))
    return "\(root)\(id)-\(size)"
  }

  /// Takes over the remaining children of the records of a subquery.
  mutating func take(from inner: NestedPages?) { rests += inner?.rests ?? [] }

  private func step(_ place: Int) -> String { path.isEmpty ? String(place) : "\(path).\(place)" }
}

/// Cuts the children of a record into pages while they are written.
struct NestedPages {
  /// The children of one record that did not fit; the first page is among them.
  struct Rest {
    let cursorID: String
    /// Which subquery: its place among its statement's, after those of the ones around it.
    let path: String
    let sequences: [Int64]
  }

  let cursors: Cursors
  /// As many are written at once.
  let size: Int
  /// What an address begins with.
  let root: String
  private(set) var rests: [Rest] = []
  private var path = ""

  init(cursors: Cursors, size: Int, root: String) {
    self.cursors = cursors
    self.size = size
    self.root = root
  }

  /// The same for the records of a subquery.
  func entering(_ place: Int) -> NestedPages {
    var inner = self
    inner.rests = []
    inner.path = step(place)
    return inner
  }

  /// Notes what a subquery left, and answers where its next page will be.
  mutating func add(_ sequences: [Int64], _ place: Int) -> String {
    let id = cursors.newID()
    rests.append(Rest(cursorID: id, path: step(place), sequences: sequences))
    return "\(root)\(id)-\(size)"
  }

  /// Takes over what the records of a subquery left.
  mutating func take(from inner: NestedPages?) { rests += inner?.rests ?? [] }

  private func step(_ place: Int) -> String { path.isEmpty ? String(place) : "\(path).\(place)" }
}

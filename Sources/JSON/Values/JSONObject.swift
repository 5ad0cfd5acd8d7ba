/// The members of a JSON object, in the order in which they were written.
///
/// Two objects are equal if they have the same members in any order.
package struct JSONObject: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
  package typealias Element = (name: String, value: JSONValue)

  /// A name with its value.
  struct Member: Sendable, Hashable {
    var name: String
    var value: JSONValue
  }

  private static let smallest = 16
  private var members: [Member] = []
  /// The index of each name; used only for objects too large for a linear search.
  private var places: [String: Int] = [:]

  package init() {}

  /// Adds members one by one.
  ///
  /// For equal names, the last value is kept.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(members: elements.map { Member(name: $0, value: $1) })
  }

  /// Adds members one by one.
  ///
  /// For equal names, the last value is kept.
  package init(_ elements: some Sequence<(name: String, value: JSONValue)>) {
    self.init(members: elements.map { Member(name: $0.name, value: $0.value) })
  }

  /// Adds members at once, which hashes each name only once.
  ///
  /// For equal names, the last value is kept.
  init(members: [Member]) {
    self.members = members
    places.reserveCapacity(members.count > Self.smallest ? members.count : 0)
    indexIfLarge()
    let isDistinct =
      places.isEmpty
      ? members.indices.allSatisfy { place in
        !members[..<place].contains { $0.name == members[place].name }
      } : places.count == members.count
    if isDistinct { return }
    (self.members, places) = ([], [:])
    for member in members { self[member.name] = member.value }
  }

  package var count: Int { members.count }

  package var isEmpty: Bool { members.isEmpty }

  /// The names, in order.
  package var names: [String] { members.map(\.name) }

  /// The value of a member.
  ///
  /// Setting it keeps its position; setting nil removes the member.
  package subscript(_ name: String) -> JSONValue? {
    get { place(of: name).map { members[$0].value } }
    set {
      switch (place(of: name), newValue) {
      case (let place?, let value?): members[place].value = value
      case (let place?, nil):
        members.remove(at: place)
        places = [:]
        indexIfLarge()
      case (nil, let value?):
        members.append(Member(name: name, value: value))
        if !places.isEmpty { places[name] = members.count - 1 } else { indexIfLarge() }
      case (nil, nil): break
      }
    }
  }

  private func place(of name: String) -> Int? {
    places.isEmpty ? members.firstIndex { $0.name == name } : places[name]
  }

  private mutating func indexIfLarge() {
    guard members.count > Self.smallest else { return }
    for (place, member) in members.enumerated() { places[member.name] = place }
  }

  /// Returns the members in the order in which they were written.
  package struct Iterator: IteratorProtocol {
    fileprivate var members: IndexingIterator<[Member]>

    package mutating func next() -> Element? { members.next().map { ($0.name, $0.value) } }
  }

  package func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }

  /// Calls `body` for each member with its index, in order or sorted by name.
  func forEach(sorted: Bool, _ body: (_ place: Int, _ name: String, _ value: JSONValue) -> Void) {
    let members = sorted ? self.members.sorted { $0.name < $1.name } : self.members
    for (place, member) in members.enumerated() { body(place, member.name, member.value) }
  }

  /// Whether both have the same members, in any order.
  package static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.members == right.members
      || left.count == right.count
        && left.members.allSatisfy { right[$0.name] == $0.value }
  }

  /// Hashes the members regardless of their order.
  package func hash(into hasher: inout Hasher) {
    var sum = 0
    for member in members { sum ^= member.hashValue }
    hasher.combine(sum)
  }
}

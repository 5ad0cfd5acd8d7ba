/// The members of a JSON object, in the order in which they were written.
///
/// Two objects are equal when they have the same members, whatever their order.
package struct JSONObject: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
  /// One member.
  package typealias Element = (name: String, value: JSONValue)

  fileprivate struct Member: Sendable, Hashable {
    var name: String
    var value: JSONValue
  }

  private static let smallest = 16
  private var members: [Member] = []
  /// Where each name stands; only kept for objects too large to look through.
  private var places: [String: Int] = [:]

  /// An object without members.
  package init() {}

  /// Takes members one after the other; of equal names the last value stays.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    for (name, value) in elements { self[name] = value }
  }

  /// Takes members one after the other; of equal names the last value stays.
  package init(_ elements: some Sequence<(name: String, value: JSONValue)>) {
    for element in elements { self[element.name] = element.value }
  }

  /// How many members there are.
  package var count: Int { members.count }

  /// True when there is no member.
  package var isEmpty: Bool { members.isEmpty }

  /// The names in order.
  package var names: [String] { members.map(\.name) }

  /// The value of a member; setting keeps its place, setting nil removes it.
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

  /// A walk over the members in order.
  package struct Iterator: IteratorProtocol {
    fileprivate var members: IndexingIterator<[Member]>

    /// The next member.
    package mutating func next() -> Element? { members.next().map { ($0.name, $0.value) } }
  }

  /// Walks over the members in order.
  package func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }

  /// Hands over each member with its place, in order or sorted by name.
  func forEach(sorted: Bool, _ body: (_ place: Int, _ name: String, _ value: JSONValue) -> Void) {
    let members = sorted ? self.members.sorted { $0.name < $1.name } : self.members
    for (place, member) in members.enumerated() { body(place, member.name, member.value) }
  }

  /// True when both have the same members, in any order.
  package static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.members == right.members
      || left.count == right.count
        && left.members.allSatisfy { right[$0.name] == $0.value }
  }

  /// Hashes the members so that their order does not matter.
  package func hash(into hasher: inout Hasher) {
    var sum = 0
    for member in members { sum ^= member.hashValue }
    hasher.combine(sum)
  }
}

/// A value that copies share until one of them is changed.
///
/// A plan is handed on many times, and each of its changes has dozens of members: each copy of one would count a
/// reference for every text in it.
@propertyWrapper
package struct Shared<Value> {
  @usableFromInline
  final class Box {
    @usableFromInline var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
  }

  @usableFromInline var box: Box

  /// Keeps a value.
  @inlinable
  package init(wrappedValue: Value) { box = Box(wrappedValue) }

  /// The value.
  @inlinable
  package var wrappedValue: Value {
    _read { yield box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}

// What is in a box is changed by its only owner.
extension Shared: @unchecked Sendable where Value: Sendable {}

/// A value that its copies share until one of them is changed.
///
/// A plan is passed on many times, and each of its changes has dozens of members. Without sharing,
/// each copy would retain every string in it.
@propertyWrapper
package struct Shared<Value> {
  @usableFromInline
  final class Box {
    @usableFromInline var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
  }

  @usableFromInline var box: Box

  @inlinable
  package init(wrappedValue: Value) { box = Box(wrappedValue) }

  @inlinable
  package var wrappedValue: Value {
    _read { yield box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}

// The content of a box is only changed by its single owner.
extension Shared: @unchecked Sendable where Value: Sendable {}

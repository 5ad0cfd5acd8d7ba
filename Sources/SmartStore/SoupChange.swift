/// A change of elements in a soup.
public struct SoupChange: Sendable, Hashable {
  /// The name of the soup.
  public let soup: String
  /// Whether another process, or another connection of this one, changed the file.
  ///
  /// The soup may then be affected.
  public let isFromElsewhere: Bool

  /// Creates a change of one soup.
  public init(soup: String, isFromElsewhere: Bool) {
    self.soup = soup
    self.isFromElsewhere = isFromElsewhere
  }
}

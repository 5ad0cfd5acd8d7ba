/// That elements of a soup were changed.
public struct SoupChange: Sendable, Hashable {
  /// The soup.
  public let soup: String
  /// Whether another process, or another connection of this one, changed the file: the soup may be
  /// among what it touched.
  public let isFromElsewhere: Bool

  /// A change.
  public init(soup: String, isFromElsewhere: Bool) {
    self.soup = soup
    self.isFromElsewhere = isFromElsewhere
  }
}

/// What happens to a record that has changed on both sides.
public enum MergeMode: String, Sendable, Hashable, CaseIterable {
  /// The change overwrites the other side's.
  case overwrite = "OVERWRITE"
  /// A record that changed on the target side is left unchanged.
  case leaveIfChanged = "LEAVE_IF_CHANGED"
}
